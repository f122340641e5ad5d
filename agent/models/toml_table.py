"""One table of a TOML file, such as `longproof.toml`, which may lie in a folder made by somebody else.

Knows: what can't be read is refused in one line: a device or a pipe, what is too large, what is nested without end.
Does not know: what the table says.
"""

import tomllib
from pathlib import Path
from typing import Any

from longproof.retrieval.text.redact import one_line
from longproof.retrieval.types import BadInput

TOML_BYTES, DOTS = 64_000, 1_000
"""How large such a file may be, in bytes (prices of a thousand models have about 50,000), and how many dots a line
may have: a name of very many parts takes minutes to read."""


def read_table(path: Path, name: str) -> Any:
    """What stands under this name, a table in a sound file; an empty one where nothing does. Raises BadInput."""
    try:
        return tomllib.loads(_read(path).decode("utf-8")).get(name, {})
    except BadInput:
        raise
    except RecursionError as error:
        raise BadInput(f"can't read {path}: it is nested too deeply") from error
    except (OSError, ValueError) as error:
        raise BadInput(f"can't read {path}: {one_line(str(error)[:200])}") from error


def _read(path: Path) -> bytes:
    """What is in a file. Opening a pipe would wait for a writer that never comes, and a device has no end."""
    if path.exists() and not path.is_file():
        raise BadInput(f"can't read {path}: a folder, a device or a pipe, not a file")
    with path.open("rb") as file:
        data = file.read(TOML_BYTES + 1)
    if len(data) > TOML_BYTES:
        raise BadInput(f"can't read {path}: it has more than {TOML_BYTES:,} bytes")
    if any(line.count(b".") > DOTS for line in data.splitlines()):
        raise BadInput(f"can't read {path}: a line has more than {DOTS:,} dots")
    return data
