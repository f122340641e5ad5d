"""A run's folder on the disk: one writer at a time, whole lines, whole files.

Knows: how a killed process can leave a file, and how to go on from there. Does not know: what is written.
The lock is SQLite's: it works on every system, and the death of its holder frees it.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from longproof.graphs.register import make_folder
from longproof.retrieval.types import BadInput

LOCK = "lock"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """The folder for this process alone, made where it is missing. Raises BadInput where that can't be."""
    make_folder(folder)
    with closing(sqlite3.connect(folder / LOCK, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise BadInput(
                f"another run is writing to {folder}; wait for it, or choose another folder"
            ) from error
        yield


def append(path: Path, line: str) -> None:
    """Append one whole line, and have it on the disk before going on."""
    with path.open("ab") as file:
        file.write(line.encode("utf-8") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def write(path: Path, text: str) -> None:
    """Write a whole file, or leave the old one as it was."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8", newline="\n")
    os.replace(new, path)


def mend(path: Path) -> None:
    """Cut off a last line that was not written whole: a killed run leaves at most one."""
    data = path.read_bytes() if path.exists() else b""
    if data and not data.endswith(b"\n"):
        write(path, data[: data.rfind(b"\n") + 1].decode("utf-8"))
