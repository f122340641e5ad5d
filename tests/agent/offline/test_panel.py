import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from longproof.agent.offline import OfflineDecomposer, offline_panel
from longproof.agent.types import Answered, Case, Question
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document

TEXT = st.text(
    alphabet="王冕范进道：「」“”，。说不父亲三十两次后来 ABCnot largeThe12.5-%\n🙂ß婁", max_size=120
)


def ask(source: str, response: str, panel) -> list[Answered]:
    document, given_ = Document.of(source), Document.of(response)
    case = Case(id="case", response=response)
    spans = [given_.span(start, end) for start, end in sentences(response)]
    claims = asyncio.run(OfflineDecomposer().decompose(case, spans)).claims[:8]
    if not claims:
        return []
    half = len(source) // 2
    shown = (document.span(0, half), document.span(half, len(source)))
    question = Question(
        id="q", claim_ids=tuple(c.id for c in claims), shown=shown, round="source", prompt="judge"
    )
    return [asyncio.run(judge.judge(question, claims, case)) for judge in panel]


def test_at_least_three_judges_with_names_of_their_own():
    names = [judge.name for judge in offline_panel()]
    assert len(names) == len(set(names)) >= 3


@settings(max_examples=60)
@given(TEXT, TEXT)
def test_quotes_lie_in_the_source_and_errors_in_the_response(source: str, response: str):
    for answer in ask(source, response, offline_panel()):
        assert answer.calls == []
        for judgement in answer.judgements:
            assert judgement.label is not None
            assert all(source[q.start : q.end] == q.text for q in judgement.quotes)
            assert all(response[e.span.start : e.span.end] == e.span.text for e in judgement.errors)


@settings(max_examples=20)
@given(TEXT, TEXT)
def test_a_judge_says_the_same_whoever_was_asked_before(source: str, response: str):
    panel = offline_panel()
    forwards = ask(source, response, panel)
    assert forwards == ask(source, response, panel[::-1])[::-1]
    assert forwards == ask(source, response, offline_panel())


def test_a_claim_that_stands_word_for_word_has_the_voice_of_all():
    source = "王冕七岁上死了父亲，他母亲做些针指，供给他到村学堂里去读书。后来家里艰难，便叫他去放牛。"
    answers = ask(source, "他母亲做些针指，供给他到村学堂里去读书。", offline_panel())
    labels = {j.label for answer in answers for j in answer.judgements}
    assert labels <= {"explicitly_supported", "implicitly_supported"}
