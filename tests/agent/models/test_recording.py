"""A recording holds every answer as it came, and is read back whole."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from seam import PROMPT

from longproof.agent.models.answers import Message, Raw
from longproof.agent.models.recording import Recorder, Replay

ANY_TEXT = st.text(st.characters(codec=None), max_size=30)
"""Halves of characters, too: JSON can name them, and a server that cuts an answer may send one."""


@example(text="\ud83d", refusal=None)
@given(text=ANY_TEXT, refusal=st.none() | ANY_TEXT)
def test_what_is_recorded_is_what_is_replayed(
    tmp_path_factory: pytest.TempPathFactory, text: str, refusal: str | None
) -> None:
    path: Path = tmp_path_factory.mktemp("recording") / "r.gz"
    answer, lost = (Message(PROMPT, 0.0, 10, purpose="judge", key=letter * 64) for letter in "ab")
    recorder = Recorder()
    recorder.note(answer, "模型", Raw(text=text, refusal=refusal, prompt_tokens=0))
    recorder.note(lost, "m", failure="timeout")
    recorder.write(path, {"example": "三国"})
    replay = Replay.open(path)
    assert replay.header.run == {"example": "三国"}
    assert list(replay.answers()) == [("a" * 64, "模型", Raw(text=text, refusal=refusal, prompt_tokens=0))]
    assert replay.lines["b" * 64].lost == ("timeout",)
