"""Reading a PDF or a Word document in a process of its own, which ends when it takes too long or too much memory.

Knows: a crafted file can keep a parser busy for hours, or fill the memory. Does not know: the formats.
"""

import json
import subprocess
import sys
from typing import BinaryIO

from longproof.retrieval.contents import Contents, refuse_longer
from longproof.retrieval.docx import read_docx
from longproof.retrieval.pdf import read_pdf
from longproof.retrieval.types import BadInput

SECONDS = 300
"""How long reading a file may take; a scanned novel of a thousand pages takes about one minute."""
MEMORY = 4 << 30
"""How much memory it may take, in bytes; not on Windows, which has no such limit."""

_READERS = {".pdf": read_pdf, ".docx": read_docx}
_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from longproof.retrieval.apart import answer; answer(sys.argv[2], sys.argv[3], sys.stdin.buffer)"
)


def read_apart(suffix: str, data: bytes, name: str) -> Contents:
    """The contents of a PDF or a Word document, by its suffix.

    Raises BadInput as its reader does, and where it takes more than SECONDS or MEMORY.
    """
    # -I: nothing of the folder or the environment that this runs in changes what the child imports.
    command = [sys.executable, "-I", "-c", _CHILD, json.dumps(sys.path), suffix, name]
    try:
        child = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise BadInput(f"{name}: reading it takes more than {SECONDS} s; give its text alone") from error
    if child.returncode:
        raise BadInput(f"{name}: reading it takes too much memory, or fails; give its text alone")
    status, text = child.stdout[:1], child.stdout[1:].decode("utf-8", "surrogatepass")
    if status != b"+":
        raise BadInput(text)
    return Contents.model_validate_json(text)


def answer(suffix: str, name: str, file: BinaryIO) -> None:
    """Read a file and print `+` and its contents, or `-` and why it can't be read: what the child process does."""
    _limit_memory()
    try:
        contents = _READERS[suffix](file.read(), name)
        refuse_longer(contents.text, name)
        told = "+" + contents.model_dump_json()
    except BadInput as error:
        told = f"-{error}"
    sys.stdout.buffer.write(told.encode("utf-8", "surrogatepass"))


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
