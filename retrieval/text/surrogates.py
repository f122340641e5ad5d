"""Lone surrogates: half characters, which JSON can escape (`\\ud800`) but no text file can hold.

Knows: how they are replaced, one character for one, so that offsets stay.
Does not know: where a text came from.
"""

import re
from typing import Any, overload

_LONE = re.compile("[\ud800-\udfff]")


@overload
def without_surrogates(value: str, mark: str = "\ufffd") -> str: ...
@overload
def without_surrogates(value: Any, mark: str = "\ufffd") -> Any: ...
def without_surrogates(value: Any, mark: str = "\ufffd") -> Any:
    """The text, or all texts in a JSON value, keys too, with `mark` for each lone surrogate."""
    if isinstance(value, str):
        return _LONE.sub(mark, value)
    if isinstance(value, list):
        return [without_surrogates(item, mark) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key, mark): without_surrogates(item, mark) for key, item in value.items()}
    return value
