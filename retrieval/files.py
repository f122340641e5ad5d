"""The user's data folder, reading and atomic writes, the tables of TOML files. Does not know: what is in the files.

Knows: a file is there whole or not at all, and nobody else reads it; opening a pipe may wait forever.
"""

import errno
import os
import stat
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from longproof.retrieval.text.redact import one_line
from longproof.retrieval.types import BadInput

PART = ".part-"  # the beginning of a file's name while it is not whole yet


def home(folder: str | None = None) -> Path:
    """The data folder: `folder`, else `LONGPROOF_HOME`, else the platform's. Raises BadInput for no `~user`."""
    chosen = folder or os.environ.get("LONGPROOF_HOME")
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError as error:
            raise BadInput(f"there is no folder {chosen!r}: set LONGPROOF_HOME to another") from error
    from platformdirs import user_data_path

    return user_data_path("longproof")


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone. Raises BadInput."""
    try:
        for missing in [path for path in (folder, *folder.parents) if not path.is_dir()][::-1]:
            missing.mkdir(mode=0o700, exist_ok=True)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"can't make the folder {str(folder)!r} ({error}): name another, or set LONGPROOF_HOME"
        ) from error


def private_file(path: Path) -> None:
    """Make an empty file for this user alone where there is none, and take it from others where there is.

    Where the group may write to it, it stays the group's. A file that is there is not opened: to close it again
    would end all locks that this process holds on it, and an open SQLite database would be damaged. Raises OSError.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if not path.is_file() or not os.access(path, os.R_OK | os.W_OK):
            why = "not a file that can be read and written"
            raise PermissionError(errno.EACCES, why, str(path)) from None
    rights = path.stat().st_mode
    if rights & 0o077:
        with suppress(PermissionError):
            path.chmod(0o660 if rights & 0o020 else 0o600)


def open_file(path: Path) -> BinaryIO:
    """Open a regular file to read it. Raises OSError, at once for what is none, such as a pipe or a socket."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "a socket, not a file", str(path)) from error
        raise
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "a device or a pipe, not a file", str(path))


def read_whole(path: Path) -> bytes:
    """All that is in a regular file. Raises OSError as `open_file` does."""
    with open_file(path) as file:
        return file.read()


def write_whole(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file atomically: a reader sees the old content, or all of the new one. Raises BadInput.

    A device, or a pipe that somebody reads, is written to as it is: a file renamed over it would take its place.
    """
    parts = [data] if isinstance(data, bytes) else data
    try:
        private_folder(path.parent)
        if path.exists() and not path.is_file():
            handle = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
            with os.fdopen(handle, "wb") as file:
                os.set_blocking(handle, True)
                file.writelines(parts)
            return
        part = path.parent / f"{PART}{uuid4().hex}"
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadInput(
            f"can't write {path}: {error.strerror}; make the folder writable or set LONGPROOF_HOME"
        ) from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """The same for lines that need not all be in memory. They bring their line ends."""
    write_whole(path, (line.encode("utf-8", "backslashreplace") for line in lines))


def clear_parts(folder: Path) -> None:
    """Take away what killed writers left in a folder that nobody else writes to now."""
    for part in folder.glob(f"{PART}*"):
        part.unlink(missing_ok=True)


def read_toml(path: Path) -> dict[str, Any]:
    """All that stands in a TOML file. Raises BadInput."""
    try:
        return tomllib.loads(read_whole(path).decode("utf-8").replace("\r\n", "\n"))
    except OSError as error:
        raise BadInput(f"can't read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"can't read {path}: {one_line(str(error)[:200])}") from error
