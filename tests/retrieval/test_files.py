"""What we write is the user's alone: files 600, folders 700, whatever the umask."""

import asyncio
import fcntl
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from seam import PROMPT

from longproof import Verifier
from longproof.agent.models.answers import Message, Raw
from longproof.agent.models.ledger import Ledger
from longproof.graphs.settings import Settings
from longproof.retrieval.files import (
    home,
    private_file,
    private_folder,
    read_toml,
    read_whole,
    write_lines,
    write_whole,
)
from longproof.retrieval.types import BadInput
from longproof.review import open_checkpoints


@pytest.fixture(autouse=True)
def _open_handed() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_their_new_folders_are_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    write_whole(tmp_path / "a" / "b" / "whole", b"text")
    write_lines(tmp_path / "a" / "c" / "lines", ["text\n"])
    assert {(path.is_dir(), rights(path)) for path in tmp_path.rglob("*")} == {(True, 0o700), (False, 0o600)}
    assert rights(tmp_path) == 0o755


def test_what_is_no_regular_file_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"te")
    write_lines(pipe, ["xt"])
    assert (os.read(reading, 9), list(tmp_path.iterdir()), pipe.is_fifo()) == (b"text", [pipe], True)
    os.close(reading)
    for path, why in ((Path("/dev/full"), "No space left"), (tmp_path, "Is a directory")):
        with pytest.raises(BadInput, match=f"can't write {path}: {why}.*LONGPROOF_HOME"):
            write_whole(path, b"text")


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "a device or a pipe, not a file"),
        (os.mkdir, "Is a directory"),
        (make_socket, "a socket, not a file"),
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
        (lambda path: path.symlink_to("/dev/zero"), "a device or a pipe, not a file"),
        (lambda path: None, "No such file"),
    ],
)
def test_what_is_no_regular_file_is_refused_at_once(
    tmp_path: Path, make: Callable[[Path], None], why: str
) -> None:
    make(tmp_path / "x")
    with pytest.raises(OSError, match=why):
        read_whole(tmp_path / "x")


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="can't write"):
        write_whole(tmp_path / "pipe", b"text")


def test_a_whole_run_leaves_nothing_that_others_read(tmp_path: Path) -> None:
    Verifier(home=str(tmp_path / "home")).verify("The old man went to sea. " * 50, "The old man went to sea.")
    found = [tmp_path / "home", *(tmp_path / "home").rglob("*")]
    assert any(path.suffix == ".sqlite" for path in found)
    assert not [path for path in found if rights(path) & 0o077]


def test_the_ledger_and_what_sqlite_puts_beside_it_are_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.sqlite"

    async def fill() -> set[int]:
        ledger = await Ledger.open(path)
        paid = AsyncMock(return_value=Raw(text="paid"))
        message = Message(PROMPT, {}, endpoint="e", model="m", key="k")
        await ledger.answer(message, paid, asyncio.Semaphore(1))
        seen = {rights(file) for file in path.parent.iterdir()}
        await ledger.close()
        return seen

    assert asyncio.run(fill()) == {0o600}
    path.chmod(0o644)
    assert asyncio.run(fill()) == {0o600}
    path.chmod(0o664)
    asyncio.run(fill())
    assert rights(path) == 0o660, "whoever lets a group write shares it on purpose"


def test_damaged_checkpoints_are_named(tmp_path: Path) -> None:
    for damage in (b"no database" * 1000, b"SQLite format 3\x00" + b"\xff" * 5000):
        (tmp_path / "checkpoints.sqlite").write_bytes(damage)
        with pytest.raises(BadInput, match=r"checkpoints\.sqlite.*move it away"):
            asyncio.run(open_checkpoints(Settings(home=str(tmp_path))).__aenter__())
        assert (tmp_path / "checkpoints.sqlite").read_bytes() == damage


def test_a_home_or_a_toml_file_that_can_be_none_is_bad_input() -> None:
    for chosen in ("~nosuchuser/x", "~nosuchuser", "/a\x00b", "/dev/null/below"):
        with pytest.raises(BadInput, match="LONGPROOF_HOME"):
            private_folder(home(chosen))
    for name in ("x" * 300, "x\0y", "."):
        with pytest.raises(BadInput, match="can't read"):
            read_toml(Path(name))


LOCK = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB)"


def test_locks_on_a_file_survive_its_being_made_private_again(tmp_path: Path) -> None:
    """SQLite keeps other processes from an open database by such locks; closing any handle of the file ends them."""
    path = tmp_path / "ledger.sqlite"
    private_file(path)
    with path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        private_file(path)
        other = subprocess.run([sys.executable, "-c", LOCK, str(path)], capture_output=True)
    assert b"BlockingIOError" in other.stderr
