"""Rows of a data set on the Hugging Face hub, through the `datasets` library (extra `hub`).

No remote code is ever run: `datasets` 4 and later refuse loading scripts. Does not know: what a row means.
"""

from collections.abc import Iterator
from typing import Any

from longproof.retrieval.types import BadInput

HUB = "hub:"


def hub_rows(location: str) -> Iterator[dict[str, Any]]:
    """The rows of `hub:OWNER/NAME[@SPLIT]`; the split is `test` unless named.

    Raises BadInput where the library is not installed or the data set cannot be had.
    """
    name, _, split = location.removeprefix(HUB).partition("@")
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise BadInput("hub data sets need the `datasets` library: pip install 'longproof[hub]'") from error
    try:
        for row in load_dataset(name, split=split or "test"):
            yield dict(row)
    except (OSError, ValueError) as error:
        line = (str(error).splitlines() or [""])[0]
        raise BadInput(f"cannot load {name} from the hub: {line}") from error
