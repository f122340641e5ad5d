"""An inference model as a judge: support in one passage is support, labels are read from the model itself."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seam import claims_of, lines_of

from longproof.agent.evidence.scan import Scanner
from longproof.agent.guards import Weighed
from longproof.agent.nli import PASSAGE_CHARACTERS, NliJudge, Scores, decide, passages, relations
from longproof.agent.types import Case, Question
from longproof.retrieval.types import BadInput, Document, Line

SOURCE = Document.of("Mara rowed to the island at dawn. " * 30 + "她没有打开那封信。" * 20)
PIECES = passages(SOURCE.span(5, len(SOURCE.text)))


@st.composite
def scores(draw: st.DrawFn) -> Scores:
    entailment = draw(st.floats(0, 1))
    contradiction = draw(st.floats(0, 1 - entailment))
    return Scores(entailment, max(0.0, 1 - entailment - contradiction), contradiction)


@given(st.lists(scores(), max_size=6), st.lists(scores(), max_size=6))
def test_more_text_never_takes_support_away(some: list[Scores], more: list[Scores]) -> None:
    piece = PIECES[0]
    before = decide([(piece, score) for score in some])
    after = decide([(piece, score) for score in some + more])
    if before.label == "implicitly_supported":
        assert after == before


def test_what_some_passage_says_wins() -> None:
    entails, contradicts, neither = Scores(0.9, 0.1, 0), Scores(0, 0.1, 0.9), Scores(0.2, 0.6, 0.2)
    a, b, c = PIECES[:3]
    assert decide([(a, contradicts), (b, entails)]) == Weighed("implicitly_supported", None, (b,))
    assert decide([(a, neither), (b, contradicts), (c, neither)]) == Weighed("contradicting", None, (b,))
    assert decide([(a, neither)]) == decide([]) == Weighed("not_found", None)


def test_the_order_of_labels_is_the_models_own_and_other_labels_are_refused() -> None:
    orders = {
        ("contradiction", "entailment", "neutral"): (1, 2, 0),
        ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"): (0, 1, 2),
        ("neutral", "contradict", "entail"): (2, 0, 1),
    }
    assert {labels: relations(labels, "m") for labels in orders} == orders
    others = (["LABEL_0", "LABEL_1", "LABEL_2"], ["entailment", "not_entailment"], [], ["entailment"] * 3)
    for labels in others:
        with pytest.raises(BadInput, match="entailment, neutral, contradiction"):
            relations(labels, "m")


def test_passages_are_whole_sentences_in_their_places() -> None:
    assert len(PIECES) > 2
    assert all(SOURCE.text[piece.start : piece.end] == piece.text for piece in PIECES)
    assert all(len(piece.text) <= PASSAGE_CHARACTERS for piece in PIECES)
    assert "".join("".join(piece.text for piece in PIECES).split()) == "".join(SOURCE.text[5:].split())


def make_model(folder: Path) -> None:
    """A BERT of one tiny random layer that tells three relations apart, in an order of its own."""
    transformers = pytest.importorskip("transformers", reason="needs the extra: pip install 'longproof[bge]'")
    words = "[PAD] [UNK] [CLS] [SEP] [MASK] mara rowed to the island at dawn ."
    (folder / "vocab.txt").write_text(words.replace(" ", "\n"), encoding="utf-8")
    transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=words.count(" ") + 1,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        id2label={0: "contradiction", 1: "entailment", 2: "neutral"},
        label2id={"contradiction": 0, "entailment": 1, "neutral": 2},
        initializer_range=0.5,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)


CLAIMS = claims_of("Mara rowed to the island.", "Mara rowed at dawn.")
QUESTION = Question(
    id="q", claim_ids=("c0", "c1"), shown=(SOURCE.span(0, 600),), look="window", prompt="judge"
)
CASE = Case(id="case", response="Mara rowed.", source_ids=(SOURCE.id,))


@pytest.mark.heavy
def test_a_cross_encoder_judges(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra: pip install 'longproof[bge]'")
    make_model(tmp_path)
    judge = NliJudge(f"nli:{tmp_path}", str(tmp_path))
    first = asyncio.run(judge.judge(QUESTION, CLAIMS, CASE))
    second = asyncio.run(judge.judge(QUESTION, CLAIMS, CASE))
    assert first == second
    assert [judgement.claim_id for judgement in first.judgements] == ["c0", "c1"]
    rows = judge._scores([(piece.text, CLAIMS[0].text) for piece in passages(QUESTION.shown[0])])
    assert all(abs(sum(row) - 1) < 1e-4 for row in rows)
    assert first.judgements[0].label == decide([(PIECES[0], row) for row in rows]).label
    for judgement in first.judgements:
        assert (judgement.label == "not_found") == (judgement.quotes == ())
        assert all(SOURCE.text[quote.start : quote.end] == quote.text for quote in judgement.quotes)
    empty = QUESTION.model_copy(update={"shown": ()})
    assert {j.label for j in asyncio.run(judge.judge(empty, CLAIMS, CASE)).judgements} == {"not_found"}
    assert isinstance(judge, Scanner)
    lines = [Line(n, piece) for n, piece in enumerate(PIECES)]
    noted = asyncio.run(judge.scan(CLAIMS, [lines[:2], lines[2:]], CASE))
    assert (noted.failures, noted.calls) == ({}, [])
    assert all(set(numbers) <= set(range(len(lines))) for numbers in noted.lines.values())
    assert asyncio.run(judge.scan(CLAIMS, [], CASE)).lines == {}


class Scripted(NliJudge):
    """Finds everything borne out, and keeps the texts that it was asked about."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def _scores(self, pairs: list[tuple[str, str]]) -> list[Scores]:
        self.texts += [text for text, _ in pairs]
        return [Scores(1.0, 0.0, 0.0)] * len(pairs)


def test_a_passage_that_is_scanned_holds_whole_lines_and_the_blanks_between_them() -> None:
    judge, half = Scripted(), "x" * (PASSAGE_CHARACTERS // 2)
    noted = asyncio.run(judge.scan(CLAIMS[:1], [lines_of(half, half, "y")], CASE))
    assert judge.texts == [half, f"{half} y"]
    assert (noted.lines, noted.failures) == ({"c0": (0,)}, {})


@pytest.mark.heavy
def test_a_folder_without_a_model_is_bad_input(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra: pip install 'longproof[bge]'")
    with pytest.raises(BadInput, match="can't load"):
        NliJudge("nli", str(tmp_path))
