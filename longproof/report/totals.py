"""The short lines under a report: counts, coverage, cost, caveats; and where a quote stands.

Knows: what of a report and its stamp is told to people. Does not know: the width of anything.
"""

from collections import Counter
from collections.abc import Mapping

from longproof.agent.types import LABELS, Report
from longproof.report.findings import short
from longproof.report.words import SIGNS
from longproof.retrieval.types import Span


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
    shown = [
        f"{SIGNS[k]} {report.counts[k]} {say[k]}" for k in (*LABELS, "undecided") if report.counts.get(k)
    ]
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
