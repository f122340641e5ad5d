"""The graph with scripted judges: which way a claim goes, and that none is lost on it."""

import asyncio
from pathlib import Path

import pytest
from fakes import ChatServer
from reader import well
from scripted import ScanningJudge, ScriptedArbiter, ScriptedJudge, WholeSentences

from longproof import Verifier
from longproof.agent.models.answers import Chat
from longproof.agent.models.model import Model
from longproof.agent.offline import OfflineJudge
from longproof.agent.types import Answered, Case, Claim, Decomposed
from longproof.graphs.evidence.places import CLAIMS
from longproof.graphs.run import Pool
from longproof.graphs.settings import Settings
from longproof.graphs.state import VerifyInput
from longproof.graphs.verify import MOST_SENTENCES, verify_graph
from longproof.retrieval.types import BadInput, Document

FACTS = [
    "The keeper of the northern lighthouse lit the great lamp at nine.",
    "Ada sold the green fishing boat to the miller Tom.",
    "The stone bridge over the mill stream fell in March.",
]
LONG = "\n".join(
    f"Chapter {n}. The {n}th day passed and rain fell on the {n} hills of the north." for n in range(900)
)
FAR = "The great lamp of the southern lighthouse was lit by nobody."
SOURCE = LONG[:30000] + "\n" + " ".join(FACTS) + "\n" + LONG[30000:] + "\n" + FAR
SPLIT = ["contradicting", "explicitly_supported", "not_found"]


def check(script, arbiter="explicitly_supported", *, response=FACTS[0], source=SOURCE, size=3, **settings):
    judges = [
        ScanningJudge(f"j{i}", script if not isinstance(script, list) else script[i]) for i in range(size)
    ]
    decides = ScriptedArbiter(arbiter)
    verifier = Verifier(judges, arbiter=decides, decomposer=WholeSentences(), **settings)
    return verifier.verify(source, response), judges, decides


def rounds(judge):
    return [question.look for question in judge.heard]


def test_a_contradiction_is_looked_at_more_widely_before_it_is_given():
    report, judges, _ = check("contradicting")
    assert report.claims[0].label == "contradicting"
    assert rounds(judges[0]) == ["place", "words"]
    report, judges, _ = check("contradicting", response=" ".join(FACTS))
    assert {claim.label for claim in report.claims} == {"contradicting"}
    assert set(rounds(judges[0])[1:]) == {"words"}, "each is held against its own words"


def test_not_found_is_only_said_after_the_whole_source_and_with_its_caveat():
    report, judges, _ = check("not_found")
    (claim,) = report.claims
    assert (claim.label, claim.decided_by) == ("fabricated", "vote")
    assert claim.caveat == "outside knowledge not consulted"
    assert rounds(judges[0]) == ["place", "words", "scan"]
    assert claim.looked.rounds == ("place", "words", "search", "scan")
    assert claim.looked.share == 1.0
    assert [ids for ids, _ in judges[0].scanned] == [["s1"]]


def test_a_split_widens_first_and_then_goes_to_the_arbiter_with_everybodys_reasons():
    report, judges, arbiter = check(SPLIT, "implicitly_supported")
    (claim,) = report.claims
    assert (claim.label, claim.decided_by) == ("implicitly_supported", "arbiter")
    assert rounds(judges[0]) == ["place", "words"]
    ((question, heard),) = arbiter.told
    assert question == judges[0].heard[-1], "the arbiter sees all that the panel saw"
    assert sorted(j.judge for j in heard) == ["j0", "j1", "j2"]
    assert len(claim.judgements) == 7
    assert judges[0].scanned == [], "all of it is read for what is absent alone"


class Silent(ScriptedArbiter):
    """Answers, but says nothing of any claim."""

    async def judge(self, question, claims, case):
        return Answered([], [])


def test_who_says_nothing_of_a_claim_has_failed_and_is_counted():
    judges = [ScriptedJudge("a", "explicitly_supported"), ScriptedJudge("b", "explicitly_supported")]
    for silent in range(4):
        seats = [*(Silent("timeout") for _ in range(silent)), *judges]
        report = Verifier(seats, decomposer=WholeSentences()).verify(SOURCE, FACTS[0])
        said = [judgement.failure for judgement in report.claims[0].judgements]
        assert said.count("unavailable") >= silent
        assert report.claims[0].label == ("explicitly_supported" if silent < 2 else None)
    split = [ScriptedJudge(word, word) for word in ("contradicting", "no_fact")]
    for seats in ([Silent("timeout")], split):
        checks = Verifier(seats, arbiter=Silent("timeout"), decomposer=WholeSentences())
        (claim,) = checks.verify(SOURCE, FACTS[0]).claims
        assert (claim.label, claim.failure) == (None, "unavailable")


def test_a_source_that_is_short_enough_is_shown_whole_and_once():
    for words in ("contradicting", "not_found", SPLIT):
        report, judges, _ = check(words, source=LONG[:15_000])
        assert rounds(judges[0]) == ["source"]
        assert report.claims[0].looked.share == 1.0
    assert "".join(span.text for span in judges[0].heard[0].shown).replace(" ", "") in "".join(LONG.split())


def test_claims_told_of_one_place_share_its_question_and_no_question_is_too_long():
    response = " ".join(f"The keeper of the northern lighthouse lit lamp number {n}." for n in range(100))
    report, judges, _ = check("explicitly_supported", response=response)
    assert len(report.claims) == 100
    sizes = [len(question.claim_ids) for question in judges[0].heard]
    assert max(sizes) <= CLAIMS
    assert sum(sizes) / len(sizes) > 8


class Halves:
    """Takes every sentence apart in the middle."""

    name = "halves"

    async def decompose(self, case, spans):
        claims = []
        for number, span in enumerate(spans):
            middle = span.text.index(" ", len(span.text) // 2)
            for index, (start, end) in enumerate([(0, middle), (middle + 1, len(span.text))]):
                origin = Document.of(case.response).span(span.start + start, span.start + end)
                part = Claim(
                    id=f"{number}.{index}", index=index, sentence=number, text=origin.text, origin=origin
                )
                claims.append(part)
        return Decomposed(claims, {}, [])


@pytest.mark.parametrize("ruling", ["contradicting", "explicitly_supported", "refused"])
@pytest.mark.parametrize("decompose", ["doubted", "all"])
def test_a_sentence_that_was_convicted_whole_and_cleared_in_parts_is_the_arbiters(ruling, decompose):
    whole = lambda question, claim: "contradicting" if claim.text in FACTS else "explicitly_supported"  # noqa: E731
    judges, arbiter = [ScriptedJudge(f"j{n}", whole) for n in range(3)], ScriptedArbiter(ruling)
    asks = Verifier(judges, arbiter=arbiter, decomposer=Halves(), decompose=decompose)
    report = asks.verify(" ".join([FAR, *FACTS]), " ".join(FACTS))
    asked = {id_ for question in judges[0].heard for id_ in question.claim_ids}
    if decompose == "all":
        assert (
            {claim.id for claim in report.claims} == asked == {f"s{n}.{m}" for n in (1, 2, 3) for m in (1, 2)}
        )
        assert (report.verdict, arbiter.told) == ("faithful", [])
        return
    assert [claim.id for claim in report.claims] == ["s1", "s2", "s3"]
    assert {claim.label for claim in report.claims} == {None if ruling == "refused" else ruling}
    for sentence, (_, votes) in zip(report.sentences, arbiter.told, strict=False):
        assert {vote.label for vote in votes} == {"contradicting"}
        assert {vote.label for vote in sentence.judgements} == {"explicitly_supported"}, (
            "parts' votes stay seen"
        )


def test_where_nobody_takes_sentences_apart_a_cascade_asks_the_others_about_the_whole():
    judges = [ScriptedJudge("a", "contradicting"), ScriptedJudge("b", "explicitly_supported")]
    Verifier(judges, arbiter=ScriptedArbiter("ambiguous"), cascade=True).verify(" ".join(FACTS), FACTS[0])
    assert [question.claim_ids for question in judges[1].heard] == [("s1",)]
    assert "cascade" not in Verifier(judges[:1], cascade=True).verify(" ".join(FACTS), FACTS[0]).stamp


@pytest.mark.parametrize(
    ("source", "response", "options", "message"),
    [
        (SOURCE, "  ", {}, "response has no text"),
        ("", FACTS[0], {}, "no source text"),
        (SOURCE, FACTS[0], {"task": "poem"}, "task: Input should be"),
        ("a\0b", FACTS[0], {}, "NUL"),
        ("Anna left.", None, {}, "a response is a text or a path, not None"),
        ("Anna left.", 5, {}, "a text or a path, not 5"),
        (b"Anna", "x y", {}, "a source is a text, .*, not b'Anna'"),
        (None, "x y", {}, "a source is a text, .*, not None"),
        ([b"x"], "x", {}, "a source is a text"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_one_line(source, response, options, message):
    with pytest.raises(BadInput, match=message) as refused:
        Verifier().verify(source, response, **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"judge": "offline"}, "setting judge: there is none of this name .did you mean judges"),
        ({"timeout": 3}, "did you mean timeout_s"),
        ({"xyzzy": 3}, "setting xyzzy: there is none of this name$"),
        ({"colour": "red"}, "colour"),
        ({"protocol": "x"}, "no protocol"),
        ({"judges": [object()]}, "can't be the judge"),
        ({"judges": "offline"}, "judges are a list, not 'offline'"),
        ({"arbiter": 5}, "5 can't be the arbiter"),
        ({"decomposer": object()}, "can't be the decomposer"),
        ({"judges": [OfflineJudge()], "protocol": "probe"}, "needs judges that read"),
        ({"judges": [OfflineJudge(), ScriptedJudge("j", "no_fact")]}, "no vote beside others"),
        ({"judges": [OfflineJudge(), OfflineJudge()]}, "no vote beside others"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_and_the_nearest_name_is_told(settings, says):
    with pytest.raises(BadInput, match=says):
        Verifier(**settings).verify(SOURCE, FACTS[0])


@pytest.mark.parametrize("protocol", ["longproof", "verigray"])
def test_responses_of_too_many_sentences_are_refused_before_anything_is_asked(protocol: str) -> None:
    rows = [f"| row {n} |" for n in range(MOST_SENTENCES + 1)]
    judge = ScriptedJudge("j", "explicitly_supported")
    checks = Verifier([judge], decomposer=WholeSentences(), protocol=protocol)
    with pytest.raises(BadInput, match=r"has 20,001 sentences, and at most 20,000"):
        checks.verify("Ada left.", "\n".join(rows))
    halves = [Case(id=f"{n}", response="\n".join(rows[n::2])) for n in (0, 1)]
    with pytest.raises(BadInput, match="at most 20,000"):
        asyncio.run(checks.check_group([Document.of("Ada left.")], halves))
    assert judge.heard == []


def test_an_opening_that_failed_is_tried_again(tmp_path: Path) -> None:
    opened: list[str] = []

    def make(chat: Chat) -> Model:
        opened.append(chat.model)
        if len(opened) == 1:
            raise RuntimeError("out of memory")
        raise BadInput("reached")

    verifier = Verifier(["openai:m@http://127.0.0.1:9/v1"], make=make, home=str(tmp_path))

    async def twice() -> None:
        with pytest.raises(RuntimeError, match="out of memory"):
            await verifier.averify(SOURCE, FACTS[0])
        with pytest.raises(BadInput, match="reached"):
            await verifier.averify(SOURCE, FACTS[0])

    asyncio.run(twice())


def test_no_key_goes_to_what_a_client_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LONGPROOF_API_KEY", "lp-secret")
    monkeypatch.delenv("LONGPROOF_API_KEY_HOSTS", raising=False)
    keys: list[set[str]] = []
    for by_owner in (True, False):
        with ChatServer(well) as server:
            named = Settings(judges=[f"openai:m@{server.address}"], home=str(tmp_path), cache=False)
            graph = verify_graph(Pool(by_owner=by_owner))
            asyncio.run(graph.ainvoke(VerifyInput(source=SOURCE, response=FACTS[0]), context=named))
        keys.append({asked.key for asked in server.asked})
    assert keys == [{"lp-secret"}, {"none"}]
