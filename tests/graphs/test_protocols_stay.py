"""Every protocol does what it did: the same report, the same ledger, the same prompts.

The goldens under tests/golden/protocols are rewritten, on purpose alone, by
`LONGPROOF_WRITE_GOLDENS=1 pytest tests/graphs/test_protocols_stay.py`.
"""

import json
import os
from pathlib import Path

import pytest
import recorded

from longproof import Verifier

WRITES = bool(os.environ.get("LONGPROOF_WRITE_GOLDENS"))
NAMED = [(protocol, name) for protocol in recorded.PROTOCOLS for name in recorded.cases(protocol)]


@pytest.mark.parametrize(("protocol", "name"), NAMED, ids=lambda word: word)
def test_a_protocol_does_what_it_did(protocol: str, name: str, tmp_path: Path) -> None:
    found = recorded.recorded(protocol, recorded.cases(protocol)[name], tmp_path)
    golden = recorded.GOLDEN / protocol / f"{name}.json"
    if WRITES:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(recorded.written(found), "utf-8")
    assert json.loads(recorded.written(found)) == json.loads(golden.read_text("utf-8"))


def test_every_protocol_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="choose one of ") as refused:
        Verifier(protocol="none", home=str(tmp_path)).verify("A source.", "A response.")
    there = str(refused.value).split("choose one of ")[1].split(", ")
    assert sorted(there) == sorted(recorded.PROTOCOLS)
    folders = {folder.name for folder in recorded.GOLDEN.iterdir()}
    assert folders == set(recorded.PROTOCOLS)
