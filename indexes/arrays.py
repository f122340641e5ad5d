"""Folders of arrays with a manifest: written whole or not at all, opened memory-mapped and checked.

Knows: `manifest.json`, one `.npy` file an array (`.faiss` for vectors), the hash of each. Of two that write the same
index the first wins. Nothing is pickled; objects are refused, not loaded.
Does not know: what the arrays mean.
"""

import os
import shutil
import struct
import tempfile
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from longproof.indexes.place import write_whole
from longproof.retrieval.okapi import Arrays
from longproof.retrieval.types import BadInput, Frozen

_FLAT = struct.Struct("<4siqqq?iQ")  # how FAISS begins a file of plain vectors, compared by inner product


class Form(NamedTuple):
    """What an array must be. `vectors`: rows of float32 kept as a FAISS index (IndexFlatIP)."""

    dtype: str
    dimensions: int
    vectors: bool = False


class Manifest(Frozen):
    """What an index says of itself. `key` names it; `files` gives the SHA-256 of each array's file."""

    format: str
    version: int
    key: str
    files: dict[str, str] = Field(default_factory=dict)


M = TypeVar("M", bound=Manifest)


def write_arrays(target: Path, manifest: Manifest, arrays: Arrays, forms: Mapping[str, Form]) -> None:
    """Write an index beside its place and move it there whole; where one is there by then, that one stays.

    Raises BadInput where the folder can't be written to.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=target.parent, prefix=".part-"))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        files = {name: saved(_path(part, name, forms[name]), array) for name, array in arrays.items()}
        whole = manifest.model_copy(update={"files": files})
        write_whole(part / "manifest.json", whole.model_dump_json(indent=1).encode())
        os.replace(part, target)
    except OSError as error:
        if not target.exists():
            raise _unwritable(target, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def open_arrays(folder: Path, expected: M, forms: Mapping[str, Form]) -> tuple[M, Arrays]:
    """The manifest and the arrays in `folder`, if they are of `expected`'s type, format, version and key.

    Raises BadInput, saying why and how to rebuild, for anything else.
    """
    manifest = _manifest(folder, expected)
    if manifest.files.keys() != forms.keys():
        raise unusable(folder, "its manifest does not name the files of such an index")
    return manifest, {name: _array(folder, manifest, name, form) for name, form in forms.items()}


def unusable(folder: Path, why: str) -> BadInput:
    """That the index in this folder can't be used, why, and how to rebuild it."""
    return BadInput(
        f"the index in {folder} can't be used: {why}; delete this folder and run again to rebuild it"
    )


def saved(path: Path, array: NDArray[Any]) -> str:
    """Write one array; returns the hash of its file."""
    if path.suffix == ".faiss":
        _write_vectors(path, array)
    else:
        with path.open("wb") as file:
            np.save(file, array, allow_pickle=False)
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        return file_digest(file, "sha256").hexdigest()


def _manifest(folder: Path, expected: M) -> M:
    try:
        data = (folder / "manifest.json").read_bytes()
        head = _Head.model_validate_json(data)
        if head.format != expected.format:
            raise unusable(folder, f"this is not of the format {expected.format}")
        if head.version != expected.version:
            raise unusable(
                folder, f"it has version {head.version}, and this Longproof reads {expected.version}"
            )
        manifest = type(expected).model_validate_json(data)
    except (OSError, ValidationError) as error:
        raise unusable(folder, "its manifest is gone or damaged") from error
    if manifest.key != expected.key:
        raise unusable(folder, "it is the index of something else")
    return manifest


class _Head(BaseModel):
    format: str
    version: int


def _array(folder: Path, manifest: Manifest, name: str, form: Form) -> NDArray[Any]:
    """The array in a file with the manifest's hash, memory-mapped."""
    path = _path(folder, name, form)
    try:
        with path.open("rb") as file:
            whole = file_digest(file, "sha256").hexdigest() == manifest.files[name]
        if not whole:
            raise unusable(folder, f"{path.name} is damaged")
        array: NDArray[Any] = (
            _read_vectors(path) if form.vectors else np.load(path, mmap_mode="r", allow_pickle=False)
        )
    except BadInput:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise unusable(folder, f"{path.name} is gone or damaged") from error
    if array.dtype != np.dtype(form.dtype) or array.ndim != form.dimensions:
        raise unusable(folder, f"{path.name} holds something else")
    return array


def _path(folder: Path, name: str, form: Form) -> Path:
    return folder / (name + (".faiss" if form.vectors else ".npy"))


def _write_vectors(path: Path, vectors: NDArray[np.float32]) -> None:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    faiss.write_index(index, str(path))


def _read_vectors(path: Path) -> NDArray[np.float32]:
    """The vectors of a FAISS file, memory-mapped where they lie in it. Its head says their number, and is checked."""
    with path.open("rb") as file:
        head = file.read(_FLAT.size)
    if len(head) < _FLAT.size:
        raise ValueError("too short")
    kind, width, count, _, _, trained, metric, size = _FLAT.unpack(head)
    if (kind, trained, metric, size) != (b"IxFI", True, 0, width * count) or min(width, count) < 0:
        raise ValueError("not plain vectors")
    if path.stat().st_size != _FLAT.size + 4 * size:
        raise ValueError("not the size that it says")
    if not size:
        return np.zeros((count, width), dtype=np.float32)
    return np.memmap(path, dtype="<f4", mode="r", offset=_FLAT.size, shape=(count, width))


def _unwritable(target: Path, error: OSError) -> BadInput:
    return BadInput(f"can't write {target}: {error.strerror}; make the folder writable or set LONGPROOF_HOME")
