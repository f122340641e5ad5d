"""What a protocol would cost, before anybody is asked: calls, and how often the source would be read.

Knows: the protocols, the length of the prompts, and how far claims go: usually (rough shares, within a factor of
about two; its test says where), or as far as they can (no check with that many claims costs more, second askings
apart).
Does not know: prices, answers' lengths, second askings. A report says what a run did cost.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from longproof.agent.decompose import BATCH_SENTENCES
from longproof.agent.evidence.scan import MOST_CLAIMS
from longproof.agent.evidence.search import CHARACTERS, TURNS
from longproof.agent.forms import Places, ScanNotes, SearchTurn, StatementChoice
from longproof.agent.models.answers import schema
from longproof.agent.models.limits import estimate_tokens
from longproof.agent.prompting import language_of
from longproof.agent.recipes import RECIPES
from longproof.agent.specs import Spec, as_spec
from longproof.agent.types import Report
from longproof.graphs.evidence.questions import NOTED, TOGETHER
from longproof.graphs.evidence.reading_plan import DENSE, WHOLE, reading_plan
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

NUMBERED = 1.3
"""How much longer lines are with their numbers."""
A_CLAIM, FOUND = 750, 2000
"""Characters of source: at a claim's place, and found for a claim."""
OUTLINE, PIECE_READ = 4000, 15_000
"""Characters: of an outline, of a piece that a reader is given at least."""

BEGINNING = 100_000


class Flow(NamedTuple):
    """How far claims go. `goes_on`: shares of the claims that each round looks at; `window`: blocks of one; `turns`
    of a search; `pieces`: of evidence that each model finds for a claim (PROBE); `worst`: all that is asked about is
    disputed, absent from the source and wrong, by servers that are told of forms in words."""

    goes_on: Mapping[str, float]
    window: Mapping[str, int]
    turns: int
    pieces: float
    worst: bool = False


USUAL = Flow({"window": 0.3, "search": 0.2, "scan": 0.0}, {"greedy": 6, "viterbi": 3}, 3, 1.5)
MOST = Flow({}, {"greedy": 7, "viterbi": 6}, TURNS, 3, worst=True)


class Sizes(NamedTuple):
    """What is checked, in characters, and by how many judges that are paid. `questions` are those of the first round.

    `sentence` is the length of one, `windows` how many different ones the claims have; `arbiter`, `searcher`: whether
    one is paid; `pages`: whether some may be consulted; `confirms`: whether convictions are.
    """

    source: int
    response: int
    claims: float
    questions: float
    judges: int
    sentence: float = SENTENCE
    windows: float = 0
    arbiter: bool = False
    searcher: bool = False
    pages: bool = False
    confirms: bool = False
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
    row = row.model_copy(update={"rounds": row.looks(None, source_characters)})
    questions = units / row.claims_a_question
    sizes = Sizes(source_characters, response_characters, units, questions, judges, searcher=judges > 0)
    taken = [_decomposing(row, sizes), *steps(row, sizes, USUAL).values()]
    characters = sum(step.characters for step in taken)
    return Cost(sum(step.calls for step in taken), characters / max(source_characters, 1))


def asked_by(dry: Report) -> Protocol:
    """The protocol of this run, with the looks at the source that its settings and its length allow."""
    row, reach = protocol(dry.stamp["protocol"]), settings_of(dry.stamp["settings"]).reach
    return row.model_copy(update={"rounds": row.looks(reach, _source_characters(dry))})


def between(dry: Report, sources: Iterable[str]) -> dict[str, Between]:
    """What the run of which this report is the dry one would pay, by purpose.

    At least what the dry run was refused: each sentence one claim, decided in its first round. At most what claims
    cost that go as far as they can, three a sentence unless they are known; what the ledger has counts there too.
    """
    row, refused = asked_by(dry), dry.stamp["refused"]
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
    return sum(one.samples for one in map(as_spec, judges) if one.kind == "openai")


def steps(row: Protocol, sizes: Sizes, flow: Flow) -> dict[str, Calls]:
    """What comes after decomposition, by purpose; only those that may come."""
    asked = {"judge": _judging(row, sizes, flow)}
    if sizes.searcher and sizes.source > WHOLE:
        beyond = {"search": _searching, "scan": _scanning}
        asked |= {look: price(row, sizes, flow) for look, price in beyond.items() if look in row.rounds}
    if row.finds:
        looks = ceil(sizes.claims) * sizes.judges
        asked["find"] = Calls(looks, looks * (_template(row, (row.finds,), sizes, flow) + sizes.source))
    if flow.worst and sizes.arbiter and sizes.judges > 1 and row.splits:
        asked["arbitrate"] = _arbitrating(row, sizes, flow)
    if flow.worst and sizes.confirms and sizes.judges:
        asked["confirm"] = _confirming(row, sizes, flow)
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
    for asked, shown in _looks(row, sizes, flow):
        calls += ceil(asked) * sizes.judges
        own = _own(row, sizes) if not row.lined else 2 * sizes.sentence * sizes.claims / max(1, asked)
        characters += ceil(asked) * sizes.judges * (parts + shown + own)
    if _consults(row, sizes, flow):
        looked_up = ceil(sizes.claims) * sizes.judges
        each = parts + _widest(row, sizes, flow) + SNIPPETS * SNIPPET + _own(row, sizes)
        calls, characters = calls + looked_up, characters + looked_up * each
    return Calls(calls, characters)


def _looks(row: Protocol, sizes: Sizes, flow: Flow) -> list[tuple[float, float]]:
    """For each look at the source, how many questions a judge is asked, and what each shows, in characters."""
    if not row.lined:
        return [(sizes.questions, _evidence(row, sizes, flow)) for _ in row.rounds]
    if sizes.source <= WHOLE:
        return [(max(1, sizes.claims / row.claims_a_question), sizes.source * _marked(flow))]
    return _worst_looks(row, sizes, flow) if flow.worst else _usual_looks(row, sizes, flow)


def _usual_looks(row: Protocol, sizes: Sizes, flow: Flow) -> list[tuple[float, float]]:
    """Some of the questions about places go on to the next looks, with what was shown before."""
    near = min(sizes.claims * A_CLAIM, sizes.source)
    plan = reading_plan(sizes.source, ceil(sizes.claims / CLAIMS_A_SENTENCE))
    first = max(near / plan.evidence, sizes.claims / plan.claims, 1)
    shown = near / first
    looks = [(first, shown * _marked(flow))]
    for round_ in row.rounds[1:]:
        asked = first * flow.goes_on[round_]
        window = flow.window[row.alignment] * row.block_characters
        shown += window if round_ == "window" else FOUND
        looks += [(asked, min(shown, sizes.source) * _marked(flow))] if asked else []
    return looks


def _worst_looks(row: Protocol, sizes: Sizes, flow: Flow) -> list[tuple[float, float]]:
    """After its place every claim is asked about alone, each time with as much more as can be."""
    shown = DENSE + 2 * PIECE
    looks = [(max(sizes.questions, 1), min(shown, sizes.source) * _marked(flow))]
    for round_ in row.rounds[1:]:
        window = flow.window[row.alignment] * row.block_characters
        shown += {"window": window, "scan": NOTED}.get(round_, TOGETHER)
        looks.append((sizes.claims, min(shown, sizes.source) * _marked(flow)))
    return looks


def _searching(row: Protocol, sizes: Sizes, flow: Flow) -> Calls:
    """A loop for every fifty claims; each turn is told the outline and the claims again."""
    open_ = sizes.claims * flow.goes_on.get("search", 1.0)
    loops = ceil(open_ / MOST_CLAIMS)
    turn = (
        _told("search", SearchTurn, sizes, flow)
        + OUTLINE * NUMBERED
        + 4 * sizes.sentence * min(MOST_CLAIMS, open_)
    )
    shown = CHARACTERS if flow.worst else min(CHARACTERS, open_ * 1500)
    return Calls(loops * flow.turns, loops * (flow.turns * turn + shown * NUMBERED))


def _scanning(row: Protocol, sizes: Sizes, flow: Flow) -> Calls:
    """Every piece of the source, for every fifty claims."""
    open_ = sizes.claims * flow.goes_on.get("scan", 1.0)
    readings = ceil(open_ / MOST_CLAIMS)
    pieces = ceil(sizes.source / PIECE_READ) + 1
    each = _told("scan", ScanNotes, sizes, flow) + 2 * sizes.sentence * min(MOST_CLAIMS, open_)
    return Calls(readings * pieces, readings * (pieces * each + sizes.source * NUMBERED))


def _told(name: str, form: type, sizes: Sizes, flow: Flow) -> int:
    return len(template(name, sizes.language)) + (_form(form, sizes) if flow.worst else 0)


def _marked(flow: Flow) -> float:
    return NUMBERED * FENCE if flow.worst else 1.1


def _arbitrating(row: Protocol, sizes: Sizes, flow: Flow) -> Calls:
    """One call a question of each of the last looks; one more a claim that pages were consulted about."""
    pages = ceil(sizes.claims) if _consults(row, sizes, flow) else 0
    looks = _looks(row, sizes, flow)[-2:] if row.lined else _looks(row, sizes, flow)[-1:]
    calls = sum(ceil(asked) for asked, _ in looks) + pages
    each = _template(row, (*RECIPES[row.prompt].parts, "arbitrate"), sizes, flow) + _own(row, sizes)
    each += _widest(row, sizes, flow) + (SNIPPETS * SNIPPET if pages else 0)
    votes = (len(looks) * ceil(sizes.claims) + pages) * sizes.judges * OPINION
    return Calls(calls, calls * each + votes)


def _confirming(row: Protocol, sizes: Sizes, flow: Flow) -> Calls:
    """One call a claim, which shows all that was shown for it, and the claim twice."""
    calls = ceil(sizes.claims)
    each = _told("confirm", StatementChoice, sizes, flow) + _widest(row, sizes, flow) + 4 * sizes.sentence
    each += SNIPPETS * SNIPPET if _consults(row, sizes, flow) else 0
    return Calls(calls, calls * each)


def _localising(row: Protocol, sizes: Sizes, flow: Flow) -> Calls:
    consulted = _consults(row, sizes, flow)
    alone = consulted or row.lined
    calls = ceil(sizes.claims if alone else max(sizes.questions, sizes.windows))
    each = len(template("localise", sizes.language)) + _form(Places, sizes) + _own(row, sizes)
    each += _widest(row, sizes, flow) + (SNIPPETS * SNIPPET if consulted else 0)
    return Calls(calls, calls * each + sizes.claims * sizes.judges * OPINION)


def _units(row: Protocol, response_characters: int) -> int:
    packed = FILLED * row.segment_characters
    size = {"claim": SENTENCE / CLAIMS_A_SENTENCE, "sentence": SENTENCE, "segment": packed}
    return 1 if row.unit == "response" else max(1, round(response_characters / size[row.unit]))


def _evidence(row: Protocol, sizes: Sizes, flow: Flow) -> float:
    """Characters of evidence that a question of a paper's protocol shows at most."""
    shown = {"nothing": 0, "window": flow.window[row.alignment] * row.block_characters}
    characters = min(shown.get(row.rounds[0], sizes.source), sizes.source)
    before = SNIPPETS * SNIPPET if row.consult == "before_judging" else 0
    return characters * (FENCE if flow.worst else 1) + before


def _widest(row: Protocol, sizes: Sizes, flow: Flow) -> float:
    return max(shown for _, shown in _looks(row, sizes, flow))


def _own(row: Protocol, sizes: Sizes) -> float:
    """Characters of what is asked about: the response, or a question's claims, each beside its sentence."""
    if row.unit in ("sentence", "response"):
        return sizes.response
    return 2 * sizes.sentence * min(row.claims_a_question, sizes.claims)


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
    questions = {claim.judgements[0].question_id if claim.judgements else claim.id for claim in dry.claims}
    response = len(dry.case.response) + len(dry.case.context)
    return Sizes(
        source=_source_characters(dry),
        response=response,
        claims=more * len(dry.claims),
        questions=more * len(questions),
        judges=judges,
        sentence=response / max(len(dry.sentences), 1) + 40,
        windows=len({claim.window for claim in dry.claims}),
        arbiter=judges > 0 if arbiter is None else arbiter != PERSON and paid_judges([arbiter]) > 0,
        searcher=judges > 0 if settings.searcher is None else paid_judges([settings.searcher]) > 0,
        pages=settings.pages is not None,
        confirms=settings.confirm,
        language=language_of(dry.case),
    )


def _source_characters(dry: Report) -> int:
    return sum(document.characters for document in dry.documents if document.role == "source")


def _density(text: str) -> float:
    """Tokens a character, by the text's beginning."""
    return estimate_tokens(text[:BEGINNING]) / max(len(text[:BEGINNING]), 1)
