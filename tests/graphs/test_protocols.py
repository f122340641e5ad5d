"""How far our own protocol looks, and who may not judge."""

from pathlib import Path

import pytest
from scripted import ScriptedJudge

from longproof import Verifier
from longproof.agent.offline import OfflineJudge
from longproof.graphs.evidence.places import SCANNED, looks_within
from longproof.graphs.policy import LOOKS
from longproof.retrieval.types import BadInput

SOURCE = "The lamp was lit at nine. Ada sold the boat to Tom. The bridge fell in March. Nobody was hurt."
RESPONSE = "Ada sold the boat to Tom. The bridge fell in March."


def test_the_offline_check_given_as_an_object_is_the_same_check(tmp_path: Path) -> None:
    report = Verifier([OfflineJudge()], home=str(tmp_path)).verify(SOURCE, "A dragon ate the moon.")
    assert (report.triage, report.verdict) == (True, "undecided")
    with pytest.raises(BadInput, match="needs judges that read"):
        Verifier([OfflineJudge()], protocol="probe", home=str(tmp_path)).verify(SOURCE, RESPONSE)
    for judges in ([OfflineJudge(), ScriptedJudge("j", "contradicting")], [OfflineJudge(), OfflineJudge()]):
        with pytest.raises(BadInput, match="no vote beside others"):
            Verifier(judges, home=str(tmp_path)).verify(SOURCE, RESPONSE)


def test_a_source_is_read_through_unasked_up_to_a_million_characters_and_beyond_where_asked() -> None:
    assert looks_within(None, SCANNED)[-1] == "scan"
    assert looks_within(None, SCANNED + 1)[-1] == looks_within("search", 1)[-1] == "search"
    assert looks_within("scan", SCANNED + 1) == LOOKS
    assert looks_within("place", 1)[-1] == "window"
