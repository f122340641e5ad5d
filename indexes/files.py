"""The user's data folder, and atomic writes: a file is there whole or not at all.

Does not know: what is in the files.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

from longproof.retrieval.types import BadInput

PART = ".part-"
"""How the name of a file begins that is not whole yet."""


def home(folder: str | None = None) -> Path:
    """The data folder: `folder`, else `LONGPROOF_HOME`, else the platform's place for user data."""
    chosen = folder or os.environ.get("LONGPROOF_HOME")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("longproof")


def make_folder(folder: Path) -> None:
    """Make a folder for results where there is none. Raises BadInput where a file is in its place."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        at = next((path for path in (folder, *folder.parents) if path.is_file()), folder)
        raise BadInput(f"{at} is a file: name a folder") from error
    except OSError as error:
        raise BadInput(f"can't make {folder}: {error.strerror}; name another folder") from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically: a reader sees the old content, or all of the new one.

    Raises BadInput where the folder can't be written to.
    """
    _write(path, [data])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """The same for lines that need not all be in memory. They bring their line ends."""
    _write(path, (line.encode("utf-8", "backslashreplace") for line in lines))


def clear_parts(folder: Path) -> None:
    """Take away what killed writers left in a folder that nobody else writes to now."""
    for part in folder.glob(f"{PART}*"):
        part.unlink(missing_ok=True)


def _write(path: Path, parts: Iterable[bytes]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        name = path.parent / f"{PART}{uuid4().hex}"
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            name.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadInput(
            f"can't write {path}: {error.strerror}; make the folder writable or set LONGPROOF_HOME"
        ) from error
