"""The short lines over and under a report: what it comes to, counts, coverage, cost; and where a quote stands.

Knows: what of a report and its stamp is told to people. Does not know: the width of anything.
"""

from collections import Counter
from collections.abc import Mapping

from longproof.agent.report import WRONG
from longproof.agent.types import LABELS, Report
from longproof.report.findings import short
from longproof.report.words import SIGNS
from longproof.retrieval.types import Span


def summed(report: Report, say: Mapping[str, str]) -> str:
    """What stands beside the verdict: how many sentences are wrong, else undecided. Without a model, of the claims
    how many stand there, conflict, and need one.
    """
    if _unread(report):
        return _read(report, say)
    bad = sum(sentence.label in WRONG for sentence in report.sentences)
    open_ = sum(sentence.label is None for sentence in report.sentences)
    phrase = "sentences_wrong" if bad else "sentences_undecided" if open_ else "nothing_wrong"
    return say[phrase].format(n=bad or open_, all=len(report.sentences))


def notice(report: Report, say: Mapping[str, str]) -> str:
    """That no model has read this, and what to do; empty where one has."""
    return say["triage" if _unread(report) else "triage_1"] if report.triage else ""


def _unread(report: Report) -> bool:
    """Whether what is undecided was read by no model. Before version 2 all was decided somehow."""
    return report.triage and report.schema_version > 1


def _read(report: Report, say: Mapping[str, str]) -> str:
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
    return [say[f"{key}_one" if n == 1 else f"{key}_n"].format(n=n)] if n else []


def totals(report: Report, say: Mapping[str, str]) -> list[str]:
    """Counts by label; coverage and cost; how it was made; caveats with how often. Empty lines are left out."""
    caveats = Counter(claim.caveat for claim in report.claims if claim.caveat)
    told = say["semicolon"].join(f"{say.get(text, short(text))} ({n})" for text, n in caveats.items())
    lines = [_counts(report, say), cost(report, say), _making(report, say)]
    return [line for line in [*lines, f"{say['caveats']}{say['colon']}{told}" if told else ""] if line]


def place(report: Report, texts: Mapping[str, str], span: Span, say: Mapping[str, str]) -> str:
    """Where a span stands: the title of its document, the line (from 1) where the text is here, the share."""
    document = next((d for d in report.documents if d.id == span.source_id), None)
    title = short((document.title or document.uri or say[document.role]) if document else say["source"])
    text = texts.get(span.source_id)
    line = f":{text.count(chr(10), 0, span.start) + 1}" if text else ""
    share = f" ({span.start / document.characters:.0%})" if document and document.characters else ""
    return f"{title}{line}{share}"


def _counts(report: Report, say: Mapping[str, str]) -> str:
    none = "not_checked" if _unread(report) else "undecided"
    named = [*((label, label) for label in LABELS), ("undecided", none)]
    shown = [f"{SIGNS[k]} {report.counts[key]} {say[k]}" for key, k in named if report.counts.get(key)]
    claims = say["claims_n"].format(n=len(report.claims))
    return f"{claims}{say['colon']}{say['comma'].join(shown)}" if shown else ""


def cost(report: Report, say: Mapping[str, str]) -> str:
    """Coverage, and what was asked of models: calls, tokens, passes over the source."""
    decided = sum(claim.label is not None for claim in report.claims)
    share = f"{report.coverage:.0%}"
    parts = [say["coverage"].format(share=share, n=decided, all=len(report.claims))]
    usage = report.usage
    if usage.calls:
        parts.append(say["calls_n"].format(n=f"{usage.calls:,}"))
    if usage.prompt_tokens or usage.completion_tokens:
        parts.append(
            say["tokens"].format(prompt=f"{usage.prompt_tokens:,}", completion=f"{usage.completion_tokens:,}")
        )
    if usage.prompt_characters and (source := passes(report)):
        parts.append(say["passes"].format(n=f"{source:.2f}"))
    return " · ".join(parts)


def passes(report: Report) -> float | None:
    """Prompt characters of all calls by characters of the sources; None without a source."""
    source = sum(d.characters for d in report.documents if d.role == "source")
    return report.usage.prompt_characters / source if source else None


def _making(report: Report, say: Mapping[str, str]) -> str:
    stamp = report.stamp
    parts = []
    if stamp.get("protocol"):
        parts.append(say["protocol_is"].format(name=short(str(stamp["protocol"]))))
    judges = [short(str(name)) for name in stamp.get("judges") or []]
    if stamp.get("arbiter"):
        judges.append(f"{say['arbiter']} {short(str(stamp['arbiter']))}")
    if judges:
        parts.append(say["comma"].join(judges))
    if isinstance(seconds := stamp.get("seconds"), int | float):
        parts.append(say["seconds_n"].format(n=f"{seconds:.1f}"))
    if stamp.get("longproof"):
        parts.append(f"longproof {short(str(stamp['longproof']))}")
    return " · ".join(parts)
