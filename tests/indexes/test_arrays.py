"""A file of arrays comes back whole or is refused, whichever byte of it is wrong."""

from pathlib import Path

import numpy as np

from longproof.indexes.arrays import read_arrays, write_arrays
from longproof.retrieval.types import BadInput


def test_whichever_byte_is_wrong_the_arrays_are_whole_or_refused(tmp_path: Path) -> None:
    path, vectors = tmp_path / "index.npz", np.arange(6, dtype=np.float32)
    write_arrays(path, "key", {"vectors": vectors})
    sound, refused = path.read_bytes(), 0
    for place in range(len(sound)):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
        try:
            arrays = read_arrays(path, "key")
        except BadInput:
            refused += 1
        else:
            assert all((read == vectors).all() for read in arrays.values())
    assert refused
