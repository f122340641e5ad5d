"""What a protocol would cost, before anybody is asked: calls, and how often the source would be read.

Knows: the rows, the length of the prompts, and how far claims go: usually (rough shares, within a factor of about
two; its test says where), or as far as they can (no check of that size costs more, second askings apart).
Does not know: prices, answers' lengths, second askings. A report says what a run did cost.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from longproof.agent.decompose import BATCH_SENTENCES
from longproof.agent.forms import Places
from longproof.agent.models.answers import schema
from longproof.agent.models.limits import estimate_tokens
from longproof.agent.prompting import language_of
from longproof.agent.recipes import RECIPES
from longproof.agent.specs import Spec, parse_spec
from longproof.agent.types import Report, SourcePlace
from longproof.graphs.papers.probe import AROUND
from longproof.graphs.protocol import Protocol
from longproof.graphs.protocols import protocol
from longproof.graphs.settings import PERSON, settings_of
from longproof.prompts import Language, template
from longproof.retrieval.text.chunking import SNIPPET

SENTENCE = 80
"""Characters of a sentence, between Chinese (40) and English (110)."""
CLAIMS_A_SENTENCE, MOST_CLAIMS_A_SENTENCE = 2, 3
FILLED = 0.75
"""How full a segment of whole sentences is."""
PIECE = 150
SNIPPETS = 3
FENCE = 1.2
"""How much longer passages are with the fences round each."""
OPINION = 500
"""Characters of what one judge said of a claim."""

BEGINNING = 100_000


class Flow(NamedTuple):
    """How far claims go. `goes_on`: shares of the claims that are looked at in the first round, the second, and so
    on; `window`: blocks of one; `pieces`: of evidence that each model finds for a claim (PROBE); `worst`: all that is
    asked about is disputed, absent from the source and wrong, by servers that are told of forms in words."""

    goes_on: tuple[float, ...]
    window: Mapping[str, int]
    pieces: float
    worst: bool = False


USUAL = Flow((1.0, 0.3, 0.2, 0.2), {"greedy": 6, "viterbi": 3}, 1.5)
MOST = Flow((1.0,), {"greedy": 7, "viterbi": 6}, 3, worst=True)


class Sizes(NamedTuple):
    """What is checked, in characters, and by how many judges that are paid. `questions` are those of the first round.

    `sentence` is the length of one, `window` that of what a question shows in that round, where it is known;
    `arbiter`: whether one is paid; `pages`: whether some may be consulted.
    """

    source: int
    response: int
    claims: float
    questions: float
    judges: int
    sentence: float = SENTENCE
    window: float | None = None
    arbiter: bool = False
    pages: bool = False
    language: Language = "en"


class Calls(NamedTuple):
    """Calls of one purpose, and the characters of their prompts."""

    calls: int = 0
    characters: float = 0


class Cost(NamedTuple):
    """Calls, and passes: prompt characters of all calls over the characters of the source."""

    calls: int
    passes: float


class Paid(NamedTuple):
    """Calls, and the tokens of their prompts as we count them."""

    calls: int = 0
    tokens: int = 0


class Between(NamedTuple):
    """What a run has to pay at least, and what it may come to."""

    least: Paid
    most: Paid


def cost(row: Protocol, source_characters: int, response_characters: int, judges: int) -> Cost:
    """What checking a response of this length against a source of this length usually takes."""
    units = _units(row, response_characters)
    sizes = Sizes(source_characters, response_characters, units, units / row.claims_a_question, judges)
    taken = [_decomposing(row, sizes), *steps(row, sizes, USUAL).values()]
    characters = sum(step.characters for step in taken)
    return Cost(sum(step.calls for step in taken), characters / max(source_characters, 1))


def between(dry: Report, sources: Iterable[str]) -> dict[str, Between]:
    """What the run of which this report is the dry one would pay, by purpose.

    At least what the dry run was refused: each sentence one claim, decided in its first round. At most what claims
    cost that go as far as they can, three a sentence unless they are known; what the ledger has counts there too.
    """
    row, refused = protocol(dry.stamp["protocol"]), dry.stamp["refused"]
    least = {purpose: Paid(*paid) for purpose, paid in refused.items()}
    density = max(_density(text) for text in (dry.case.response, *sources, template("judge", "en")))
    most = {"decompose": least.get("decompose", Paid())}
    for purpose, step in steps(row, _sizes(dry, row, known="decompose" not in least), MOST).items():
        most[purpose] = Paid(step.calls, ceil(step.characters * density))
    return {purpose: Between(least.get(purpose, Paid()), paid) for purpose, paid in most.items()}


def total(steps: Mapping[str, Between]) -> Between:
    """All steps together."""
    least, most = zip(*steps.values(), strict=True)
    return Between(*(Paid(*map(sum, zip(*paid, strict=True))) for paid in (least, most)))


def paid_judges(judges: Sequence[str | Spec]) -> int:
    """How many judges of the panel are language models, which are paid."""
    named = [parse_spec(judge) if isinstance(judge, str) else judge for judge in judges]
    return sum(spec.samples for spec in named if spec.kind == "openai")


def steps(row: Protocol, sizes: Sizes, flow: Flow) -> dict[str, Calls]:
    """What comes after decomposition, by purpose; only those that may come."""
    asked = {"judge": _judging(row, sizes, flow)}
    if row.finds:
        looks = ceil(sizes.claims) * sizes.judges
        asked["find"] = Calls(looks, looks * (_template(row, (row.finds,), sizes, flow) + sizes.source))
    if flow.worst and sizes.arbiter and sizes.judges > 1 and row.splits:
        asked["arbitrate"] = _arbitrating(row, sizes, flow)
    if flow.worst and row.localises and sizes.judges:
        asked["localise"] = _localising(row, sizes, flow)
    return asked


def _decomposing(row: Protocol, sizes: Sizes) -> Calls:
    if row.unit != "claim":
        return Calls()
    batches = ceil(sizes.claims / CLAIMS_A_SENTENCE / BATCH_SENTENCES) or 1
    return Calls(batches, batches * len(template("decompose", sizes.language)) + sizes.response)


def _judging(row: Protocol, sizes: Sizes, flow: Flow) -> Calls:
    calls, characters = 0, 0.0
    parts = _template(row, RECIPES[row.prompt].parts, sizes, flow)
    if row.finds:
        found = flow.pieces * (sizes.judges if flow.worst else 2)
        calls = ceil(sizes.claims * found) * sizes.judges
        return Calls(calls, calls * (parts + PIECE + 2 * AROUND + (_own(row, sizes) if flow.worst else 0)))
    for number in range(_rounds(row, sizes) if flow.worst else len(row.rounds)):
        asked = ceil(sizes.questions * flow.goes_on[min(number, len(flow.goes_on) - 1)]) * sizes.judges
        calls += asked
        characters += asked * (parts + _evidence(row, number, sizes, flow) + _own(row, sizes))
    if _consults(row, sizes, flow):
        looked_up = ceil(sizes.claims) * sizes.judges
        each = parts + _widest(row, sizes, flow) + SNIPPETS * SNIPPET + _own(row, sizes)
        calls, characters = calls + looked_up, characters + looked_up * each
    return Calls(calls, characters)


def _arbitrating(row: Protocol, sizes: Sizes, flow: Flow) -> Calls:
    """One call a question of the last round; one more a claim that pages were consulted about."""
    pages = ceil(sizes.claims) if _consults(row, sizes, flow) else 0
    calls = ceil(sizes.questions) + pages
    each = _template(row, (*RECIPES[row.prompt].parts, "arbitrate"), sizes, flow) + _own(row, sizes)
    each += _widest(row, sizes, flow) + (SNIPPETS * SNIPPET if pages else 0)
    votes = (ceil(sizes.claims) + pages) * sizes.judges * OPINION
    return Calls(calls, calls * each + votes)


def _localising(row: Protocol, sizes: Sizes, flow: Flow) -> Calls:
    consulted = _consults(row, sizes, flow)
    calls = ceil(sizes.claims if consulted else sizes.questions)
    each = len(template("localise", sizes.language)) + _form(Places, sizes) + _own(row, sizes)
    each += _widest(row, sizes, flow) + (SNIPPETS * SNIPPET if consulted else 0)
    return Calls(calls, calls * each + sizes.claims * sizes.judges * OPINION)


def _units(row: Protocol, response_characters: int) -> int:
    packed = FILLED * row.segment_characters
    size = {"claim": SENTENCE / CLAIMS_A_SENTENCE, "sentence": SENTENCE, "segment": packed}
    return 1 if row.unit == "response" else max(1, round(response_characters / size[row.unit]))


def _rounds(row: Protocol, sizes: Sizes) -> int:
    """How many rounds there can be: none is wider than one that shows all of the sources."""
    shows = (_evidence(row, number, sizes, MOST) / FENCE for number in range(len(row.rounds)))
    return next((n for n, shown in enumerate(shows, 1) if shown >= sizes.source), len(row.rounds))


def _evidence(row: Protocol, number: int, sizes: Sizes, flow: Flow) -> float:
    """Characters of evidence that a question of this round shows at most."""
    shown = {
        "nothing": 0,
        "source": sizes.source,
        "window": flow.window[row.alignment] * row.block_characters,
    }
    characters = min(shown.get(row.rounds[number], row.budget(number)), sizes.source)
    before = SNIPPETS * SNIPPET if row.consult == "before_judging" else 0
    return characters * (FENCE if flow.worst else 1) + before


def _widest(row: Protocol, sizes: Sizes, flow: Flow) -> float:
    return max(_evidence(row, number, sizes, flow) for number in range(len(row.rounds)))


def _own(row: Protocol, sizes: Sizes) -> float:
    """Characters of what is asked about: the response, or a question's claims, each beside its sentence."""
    if row.unit in ("sentence", "response"):
        return sizes.response
    return 2 * sizes.sentence * row.claims_a_question


def _consults(row: Protocol, sizes: Sizes, flow: Flow) -> bool:
    return flow.worst and sizes.pages and row.consults


def _template(row: Protocol, parts: tuple[str, ...], sizes: Sizes, flow: Flow) -> int:
    own = sum(len(template(part, sizes.language)) for part in parts)
    return own + (_form(RECIPES[row.prompt].form, sizes) if flow.worst else 0)


def _form(form: type, sizes: Sizes) -> int:
    return len(template("form", sizes.language)) + len(json.dumps(schema(form)))


def _sizes(dry: Report, row: Protocol, *, known: bool) -> Sizes:
    """What a dry run shows of a check: how many claims and questions, who is paid."""
    settings = settings_of(dry.stamp["settings"])
    judges, arbiter = paid_judges(settings.judges), settings.arbiter
    more = 1 if known or row.unit != "claim" else MOST_CLAIMS_A_SENTENCE
    questions: dict[str, list[SourcePlace | None]] = {}
    for claim in dry.claims:
        question = claim.judgements[0].question_id if claim.judgements else claim.id
        questions.setdefault(question, []).append(claim.window)
    response = len(dry.case.response) + len(dry.case.context)
    return Sizes(
        source=sum(document.characters for document in dry.documents if document.role == "source"),
        response=response,
        claims=more * len(dry.claims),
        questions=more * len(questions),
        judges=judges,
        sentence=response / max(len(dry.sentences), 1) + 40,
        window=_window(list(questions.values())),
        arbiter=judges > 0 if arbiter is None else arbiter != PERSON and paid_judges([arbiter]) > 0,
        pages=settings.pages is not None,
        language=language_of(dry.case),
    )


def _window(held: Sequence[Sequence[SourcePlace | None]]) -> float | None:
    """How long the windows of a question's claims are together, on average; None where they aren't in one source."""
    lengths = []
    for windows in held:
        places = [place for place in windows if place is not None]
        if not places or len({place.source_id for place in places}) > 1:
            return None
        lengths.append(max(place.end for place in places) - min(place.start for place in places))
    return sum(lengths) / max(len(lengths), 1) or None


def _density(text: str) -> float:
    """Tokens a character, by the text's beginning."""
    return estimate_tokens(text[:BEGINNING]) / max(len(text[:BEGINNING]), 1)
