"""Folders of arrays with a manifest: written whole or not at all, opened memory-mapped and checked.

Knows: `manifest.json`, one `.npy` file an array, the hash of each. Of two processes that write the same index the
first wins. Nothing is pickled; objects are refused, not loaded.
Does not know: what the arrays mean.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from longproof.retrieval.bm25 import Arrays
from longproof.retrieval.files import private_file, private_folder, write_whole
from longproof.retrieval.types import BadInput, Frozen


class ArraySpec(NamedTuple):
    """What an array must be."""

    dtype: str
    dimensions: int


class IndexManifest(Frozen):
    """What an index says of itself. `key` names it; `files` gives the SHA-256 of each array's file."""

    format: str
    version: int
    key: str
    files: dict[str, str] = Field(default_factory=dict)


M = TypeVar("M", bound=IndexManifest)


def write_arrays(target: Path, manifest: IndexManifest, arrays: Arrays) -> None:
    """Write an index beside its place and move it there whole; where one is there by then, that one stays.

    Raises BadInput where the folder can't be written to.
    """
    try:
        private_folder(target.parent)
        part = Path(tempfile.mkdtemp(dir=target.parent, prefix=".part-"))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        files = {name: _saved(_path(part, name), array) for name, array in arrays.items()}
        whole = manifest.model_copy(update={"files": files})
        write_whole(part / "manifest.json", whole.model_dump_json(indent=1).encode())
        os.replace(part, target)
    except OSError as error:
        if not target.exists():
            raise _unwritable(target, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def open_arrays(folder: Path, expected: M, specs: Mapping[str, ArraySpec]) -> tuple[M, Arrays]:
    """The manifest and the arrays in `folder`, if they are of `expected`'s type, format, version and key.

    Raises BadInput, saying why and how to rebuild, for anything else.
    """
    manifest = _manifest(folder, expected)
    if manifest.files.keys() != specs.keys():
        raise unusable(folder, "its manifest does not name the files of such an index")
    return manifest, {name: _array(folder, manifest, name, spec) for name, spec in specs.items()}


def unusable(folder: Path, why: str) -> BadInput:
    """That the index in this folder can't be used, why, and how to rebuild it."""
    return BadInput(
        f"the index in {folder} can't be used: {why}; delete this folder and run again to rebuild it"
    )


def _saved(path: Path, array: NDArray[Any]) -> str:
    """Write one array; returns the hash of its file."""
    private_file(path)
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


def _array(folder: Path, manifest: IndexManifest, name: str, spec: ArraySpec) -> NDArray[Any]:
    """The array in a file with the manifest's hash, memory-mapped."""
    path = _path(folder, name)
    try:
        with path.open("rb") as file:
            whole = file_digest(file, "sha256").hexdigest() == manifest.files[name]
        if not whole:
            raise unusable(folder, f"{path.name} is damaged")
        array: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except BadInput:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise unusable(folder, f"{path.name} is gone or damaged") from error
    if array.dtype != np.dtype(spec.dtype) or array.ndim != spec.dimensions:
        raise unusable(folder, f"{path.name} holds something else")
    return array


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.npy"


def _unwritable(target: Path, error: OSError) -> BadInput:
    return BadInput(f"can't write {target}: {error.strerror}; make the folder writable or set LONGPROOF_HOME")
