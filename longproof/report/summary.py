"""What is shown first of a report: wrong claims, the outcome in one line, counts, cost, and where quotes are from.

Knows: the order of importance (LABELS, the least faithful first, then the order of the text), which of the given
texts are the ones that were checked, and what of the stamp is shown. Does not know: how any of it is drawn,
or how wide the page is.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from longproof.agent.cascade import ClearedAlone
from longproof.agent.models.model import UNANSWERED
from longproof.agent.models.prices import written
from longproof.agent.report import CONFIRMING_FAILED, WRONG, price
from longproof.agent.types import LABELS, Judgement, Report, ReportClaim, ReportDocument
from longproof.report.judges import judge_names
from longproof.report.words import SIGNS, Language
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.text.tokens import is_chinese
from longproof.retrieval.types import Span, text_id

FAR = 1000
"""How many characters before and after a quote its sentence is looked for."""


class Piece(NamedTuple):
    """A run of text, and whether it is what the reader should look at."""

    text: str
    marked: bool


def language(text: str) -> Language:
    """The language to speak about this text in."""
    return "zh" if is_chinese(text) else "en"


def wrong_claims(report: Report) -> list[ReportClaim]:
    """The claims that are wrong: the least faithful label first, then in the order of the text."""
    found = [claim for claim in report.claims if claim.label in WRONG]
    return sorted(found, key=lambda claim: (LABELS.index(claim.label or "fabricated"), claim.origin.start))


def unsettled_claims(report: Report) -> list[ReportClaim]:
    """The claims that nobody could decide, then the ambiguous ones; without those that no model has read."""
    undecided = [c for c in report.claims if c.label is None and c.failure != "needs_model"]
    return undecided + [claim for claim in report.claims if claim.label == "ambiguous"]


def unread_claims(report: Report) -> list[ReportClaim]:
    """The claims that no model has read and the offline check can't tell, in the order of the text."""
    return [claim for claim in report.claims if claim.failure == "needs_model"]


def checked_texts(report: Report, texts: Mapping[str, str]) -> dict[str, str]:
    """Those of the texts that are, by their hash, the ones the report points into; the response is always here."""
    known = {d.id: texts[d.id] for d in report.documents if d.id in texts and text_id(texts[d.id]) == d.id}
    return known | {d.id: report.case.response for d in report.documents if d.role == "response"}


def missing_documents(report: Report, texts: Mapping[str, str]) -> list[ReportDocument]:
    """The documents whose text isn't among the checked ones."""
    return [document for document in report.documents if document.id not in texts]


def reason(claim: ReportClaim) -> str:
    """Why: what the first error says, else the last judge with a reason who saw it as the verdict does."""
    for error in claim.errors:
        if error.reason:
            return error.reason
    same = [j.reason for j in claim.judgements if j.reason and j.label == claim.label]
    return same[-1] if same else ""


def last_votes(claim: ReportClaim) -> list[Judgement]:
    """The last word of each judge, in the order in which they first spoke."""
    return list({judgement.judge: judgement for judgement in claim.judgements}.values())


def marked_pieces(text: str, places: Iterable[tuple[int, int]], offset: int = 0) -> list[Piece]:
    """The text cut at these places, which are counted from `offset`; overlaps are joined."""
    found: list[Piece] = []
    at = 0
    for start, end in sorted(places):
        first, last = max(at, start - offset), min(len(text), end - offset)
        if first < last:
            found += [Piece(text[at:first], False), Piece(text[first:last], True)]
            at = last
    return [piece for piece in [*found, Piece(text[at:], False)] if piece.text]


def around(span: Span, text: str | None, characters: int) -> list[Piece]:
    """The quote with up to that many characters of its text on each side, on one line."""
    if text is None or text[span.start : span.end] != span.text:
        return [Piece(span.text, True)]
    first, last = span.start - characters, span.end + characters
    before = ("…" if first > 0 else "") + text[max(0, first) : span.start]
    after = text[span.end : last] + ("…" if last < len(text) else "")
    before, after = before.rpartition("\n")[2], after.partition("\n")[0]
    return [
        piece for piece in (Piece(before, False), Piece(span.text, True), Piece(after, False)) if piece.text
    ]


def whole_sentences(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentences that this place lies in begin and end; an end that is far off stays where it is."""
    low = text.rfind("\n\n", max(0, start - FAR), start)
    high = text.find("\n\n", end, end + FAR)
    low = low + 2 if low >= 0 else max(0, start - FAR)
    high = high if high >= 0 else min(len(text), end + FAR)
    cut = [(low + a, low + b) for a, b in sentences(text[low:high])]
    found = [(a, b) for a, b in cut if a < end and b > start] or [(start, end)]
    first, last = found[0][0], found[-1][1]
    far_before = found[:1] == cut[:1] and start - low == FAR
    far_behind = found[-1:] == cut[-1:] and high - end == FAR
    return start if far_before else min(start, first), end if far_behind else max(end, last)


def shorten(given: Sequence[Piece], characters: int) -> list[Piece]:
    """The pieces with what is too long in each cut out of its middle, so that one stays readable."""
    return [Piece(short(piece.text, characters), piece.marked) for piece in given]


def short(text: str, characters: int = 60) -> str:
    """The text with its middle left out where it is longer than that: at spaces, where there are some near."""
    if len(text) <= characters:
        return text
    half = characters // 2
    head, tail = text[:half], text[-half:]
    near = head.rfind(" ", half // 2), tail.find(" ", 0, half // 2)
    return f"{head[: near[0]] if near[0] > 0 else head} … {tail[near[1] + 1 :] if near[1] >= 0 else tail}"


def outcome_line(report: Report, say: Mapping[str, str]) -> str:
    """The words after the verdict: how many sentences are wrong, else undecided.

    Without a model: how many claims stand in the source, conflict with it, and need a model.
    """
    if report.triage:
        return _offline_outcome(report, say)
    bad = sum(sentence.label in WRONG for sentence in report.sentences)
    open_ = sum(sentence.label is None for sentence in report.sentences)
    phrase = "sentences_wrong" if bad else "sentences_undecided" if open_ else "nothing_wrong"
    return say[phrase].format(n=bad or open_, all=len(report.sentences))


def no_model_notice(report: Report, say: Mapping[str, str]) -> str:
    """That no model has read this, and what to do; empty where one has."""
    return say["triage"] if report.triage else ""


def _offline_outcome(report: Report, say: Mapping[str, str]) -> str:
    n = len(report.claims)
    stand = sum(claim.label in ("explicitly_supported", "out_dependent") for claim in report.claims)
    conflicts = sum(claim.label in WRONG for claim in report.claims)
    needs = sum(claim.failure == "needs_model" for claim in report.claims)
    without = {*range(len(report.sentences))} - {claim.sentence for claim in report.claims}
    silent = sum(report.sentences[index].label is None for index in without)
    parts = [say["all_stand"] if stand == n else say["stand_n"].format(n=stand, all=n)]
    parts += _several(say, "conflicts", conflicts) + _several(say, "needs", needs)
    parts += _several(say, "open", n - stand - conflicts - needs)
    if silent:
        parts.append(say["sentences_unread"].format(n=silent, all=len(report.sentences)))
    return say["comma"].join(parts) if n else say["nothing_claimed"]


def _several(say: Mapping[str, str], key: str, n: int) -> list[str]:
    return [_counted(say, key, n)] if n else []


def _counted(say: Mapping[str, str], key: str, n: int, **more: int) -> str:
    return say[f"{key}_one" if n == 1 else f"{key}_n"].format(n=f"{n:,}", **more)


def total_lines(report: Report, say: Mapping[str, str]) -> list[str]:
    """Counts by label; coverage and cost; how it was made; caveats with how often. Empty lines are left out."""
    caveats = Counter(claim.caveat for claim in report.claims if claim.caveat)
    told = say["semicolon"].join(f"{say.get(text, short(text))} ({n})" for text, n in caveats.items())
    lines = [_counts(report, say), cost_line(report, say), _cascade(report, say), _confirmed(report, say)]
    lines += [*_silent(report, say), _making(report, say)]
    return [line for line in [*lines, f"{say['caveats']}{say['colon']}{told}" if told else ""] if line]


def quote_place(report: Report, texts: Mapping[str, str], span: Span, say: Mapping[str, str]) -> str:
    """Where a span is: the title of its document, the line (from 1) where the text is here, the share."""
    document = next((d for d in report.documents if d.id == span.source_id), None)
    title = short((document.title or document.uri or say[document.role]) if document else say["source"])
    text = texts.get(span.source_id)
    line = f":{text.count(chr(10), 0, span.start) + 1}" if text else ""
    share = f" ({span.start / document.characters:.0%})" if document and document.characters else ""
    return f"{title}{line}{share}"


def _counts(report: Report, say: Mapping[str, str]) -> str:
    none = "not_checked" if report.triage else "undecided"
    named = [*((label, label) for label in LABELS), ("undecided", none)]
    shown = [f"{SIGNS[k]} {report.counts[key]} {say[k]}" for key, k in named if report.counts.get(key)]
    [claims] = _several(say, "claims", len(report.claims)) or [""]
    return f"{claims}{say['colon']}{say['comma'].join(shown)}" if shown else ""


def _cascade(report: Report, say: Mapping[str, str]) -> str:
    """With a cascade, how many claims its first judge cleared alone, and what the others made of a sample of them."""
    if "cascade" not in report.stamp:
        return ""
    counts = ClearedAlone.model_validate(report.stamp["cascade"])
    return say["cascade"].format(n=counts.cleared, again=counts.again, overturned=counts.overturned)


def _silent(report: Report, say: Mapping[str, str]) -> list[str]:
    """Which judges were not there for some of their questions, while others decided."""
    said = [one for claim in report.claims for one in claim.judgements]
    asked, silent = (
        Counter(one.judge for one in said),
        Counter(one.judge for one in said if one.failure in UNANSWERED),
    )
    names = judge_names(asked)
    return [say["silent"].format(judge=names[judge], n=n, all=asked[judge]) for judge, n in silent.items()]


def _confirmed(report: Report, say: Mapping[str, str]) -> str:
    """Where convictions were confirmed: how many were asked about once more, and how many of them don't stand."""
    settings = report.stamp.get("settings")
    if not isinstance(settings, dict) or not settings.get("confirm"):
        return ""
    stand = sum(claim.label in WRONG and claim.decided_by != "person" for claim in report.claims)
    held = sum(claim.failure == "unconfirmed" for claim in report.claims)
    failed = sum(claim.caveat == CONFIRMING_FAILED for claim in report.claims)
    told = _counted(say, "confirmed", stand + held + failed, held=held)
    return told + (say["semicolon"] + _counted(say, "confirming_failed", failed) if failed else "")


def cost_line(report: Report, say: Mapping[str, str]) -> str:
    """Coverage, and what was asked of models: calls, tokens, characters, their price."""
    decided = sum(claim.label is not None for claim in report.claims)
    share = f"{report.coverage:.0%}"
    parts = [say["coverage"].format(share=share, n=decided, all=len(report.claims))]
    usage = report.usage
    if usage.calls:
        parts += _several(say, "calls", usage.calls)
    if usage.prompt_tokens or usage.completion_tokens:
        together = f"{usage.prompt_tokens + usage.completion_tokens:,}"
        parts.append(say["tokens"].format(all=together, written=f"{usage.completion_tokens:,}"))
    if usage.prompt_characters and (source := passes(report)):
        parts.append(say["passes"].format(n=f"{source:.2f}"))
    if (spent_money := (report.stamp.get("money") or {}).get("answers")) is not None:
        parts.append(say["money"].format(n=written(spent_money)))
    if usage.calls and (spent := price(usage, source_characters(report))):
        parts.append(say["price"].format(n=f"{spent:.2f}"))
    return " · ".join(parts)


def passes(report: Report) -> float | None:
    """Prompt characters of all calls by characters of the sources; None without a source."""
    source = source_characters(report)
    return report.usage.prompt_characters / source if source else None


def source_characters(report: Report) -> int:
    """The characters of all sources."""
    return sum(d.characters for d in report.documents if d.role == "source")


def _making(report: Report, say: Mapping[str, str]) -> str:
    stamp = report.stamp
    parts = []
    if stamp.get("protocol"):
        parts.append(say["protocol_is"].format(name=short(str(stamp["protocol"]))))
    named, arbiter = [str(name) for name in stamp.get("judges") or []], str(stamp.get("arbiter") or "")
    called = judge_names([*named, *([arbiter] if arbiter else [])])
    judges = [short(called[name]) for name in named]
    if arbiter:
        judges.append(f"{say['arbiter']} {short(called[arbiter])}")
    if judges:
        parts.append(say["comma"].join(judges))
    if isinstance(seconds := stamp.get("seconds"), int | float):
        parts.append(say["seconds_n"].format(n=f"{seconds:.1f}"))
    if stamp.get("longproof"):
        parts.append(f"longproof {short(str(stamp['longproof']))}")
    return " · ".join(parts)
