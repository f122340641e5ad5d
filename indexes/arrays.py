"""Indexes as single `.npz` files: written whole or not at all, and opened only by the key that names them.

Knows: arrays by name, and the key of what they were made of. Nothing is pickled; objects are refused, not loaded.
Does not know: what the arrays mean.
"""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.bm25 import Arrays
from longproof.retrieval.contents import BROKEN
from longproof.retrieval.files import write_whole
from longproof.retrieval.types import BadInput


def write_arrays(path: Path, key: str, arrays: Arrays) -> None:
    """Write an index. Raises BadInput where the folder can't be written to."""
    packed = BytesIO()
    named: dict[str, Any] = {**arrays, "key": np.array(key)}
    np.savez(packed, **named)
    write_whole(path, packed.getvalue())


def read_arrays(path: Path, key: str) -> dict[str, NDArray[Any]]:
    """The arrays of an index. Raises BadInput, saying how to rebuild it, where it is damaged or of another key."""
    try:
        with np.load(path, allow_pickle=False) as packed:
            arrays = {name: packed[name] for name in packed.files}
        own = str(arrays.pop("key"))
    except BROKEN as error:
        raise unusable(path, "it is damaged") from error
    if own != key:
        raise unusable(path, "it is the index of something else")
    return arrays


def unusable(path: Path, why: str) -> BadInput:
    """That this index can't be used, why, and how to rebuild it."""
    return BadInput(f"the index {path} can't be used: {why}; delete this file and run again to rebuild it")
