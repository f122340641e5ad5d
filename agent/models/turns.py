"""Whose turn it is to ask: of the processes that share a ledger, one at a time asks for the same answer.

Knows: a lock on one byte of an empty file for each key, which the system lets go of when its process ends, however
it ends. Where there are no such locks (Windows, some network drives) everybody asks, and may pay twice.
Does not know: what is asked. Within a process the ledger itself sees to it.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path

from longproof.indexes.files import private_file

LONGEST_S = 600.0
"""Who holds a turn longer may have been stopped: the next one asks all the same."""
_LOOK_EVERY_S = 0.05


class Turns:
    """The turns of one process. `path` None: nobody shares the ledger."""

    def __init__(self, path: Path | None) -> None:
        """Raises OSError where the file can't be made."""
        self._file: int | None = None
        with suppress(ImportError):
            import fcntl

            self._locks = fcntl
            if path is not None:
                private_file(path)
                self._file = os.open(path, os.O_RDWR)

    @asynccontextmanager
    async def of(self, key: str, longest_s: float = LONGEST_S) -> AsyncIterator[None]:
        """Wait until no other process asks under this key, then have the turn; not longer than so long."""
        until = asyncio.get_running_loop().time() + longest_s
        while not self._taken(key) and asyncio.get_running_loop().time() < until:  # noqa: ASYNC110 other processes set no event
            await asyncio.sleep(_LOOK_EVERY_S)
        try:
            yield
        finally:
            self._let_go(key)

    def close(self) -> None:
        """Let go of all turns."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _taken(self, key: str) -> bool:
        if self._file is None:
            return True
        try:
            self._locks.lockf(self._file, self._locks.LOCK_EX | self._locks.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            return True  # no locks on this drive
        return True

    def _let_go(self, key: str) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._locks.lockf(self._file, self._locks.LOCK_UN, 1, _place(key))


def _place(key: str) -> int:
    """The byte that stands for a key. Nothing is written there."""
    return int(sha256(key.encode()).hexdigest()[:15], 16)
