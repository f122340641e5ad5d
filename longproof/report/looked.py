"""How far was looked for a claim, in words: the steps, what was searched for, how much of the source was read.

Knows: that only a part that was read can leave something unread, and that what was searched for is a model's words,
hence cut and never taken for our own. Does not know: how any of it is drawn; each way of showing escapes it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from longproof.agent.types import Report, ReportClaim
from longproof.report.summary import short

QUERIES = 4
"""How many of the things that were searched for are told; of the others the number is."""
LONGEST = 40
"""Characters of one of them beyond which its middle is left out."""
_QUOTED = str.maketrans("“”", '""')


class LookedAt(NamedTuple):
    """The steps as keys of `words`, what was searched for, how many such things are left out, and how much was read.

    `whole`: that was all of the source.
    """

    steps: tuple[str, ...]
    queries: tuple[str, ...]
    left_out: int
    read: str
    whole: bool


def looked_at(report: Report, claim: ReportClaim, say: Mapping[str, str]) -> LookedAt | None:
    """How far was looked for this claim; None where the report doesn't say."""
    looked = claim.looked
    if looked is None:
        return None
    whole, sourced = looked.share == 1, any(document.role == "source" for document in report.documents)
    told = [round_ for round_ in looked.rounds if not (whole and round_ in ("scan", "source"))]
    read = say["read_all"] if whole else say["read_share"].format(share=_percent(looked.share))
    return LookedAt(
        steps=tuple("scan_unfinished" if step == "scan" else step for step in told),
        queries=tuple(short(query.translate(_QUOTED), LONGEST) for query in looked.queries[:QUERIES]),
        left_out=max(0, len(looked.queries) - QUERIES),
        read=read if sourced else "",
        whole=whole,
    )


def looked_line(report: Report, claim: ReportClaim, say: Mapping[str, str]) -> str:
    """The same as one line of text; empty where there is nothing to tell."""
    looked = looked_at(report, claim, say)
    if looked is None:
        return ""
    steps = [say[step] + (_searched(looked, say) if step == "search" else "") for step in looked.steps]
    parts = [part for part in (*steps, looked.read) if part]
    return f"{say['looked_at']}{say['colon']}{say['comma'].join(parts)}" if parts else ""


def what_would_settle(claim: ReportClaim, say: Mapping[str, str]) -> str:
    """What a person can do about a claim that was not found so far; empty for any other."""
    if claim.failure != "not_found_so_far":
        return ""
    begun = claim.looked is not None and "scan" in claim.looked.rounds
    return say["settle_by_budget" if begun else "settle_by_reach"]


def _searched(looked: LookedAt, say: Mapping[str, str]) -> str:
    told = [f"“{query}”" for query in looked.queries]
    told += [say["more_n"].format(n=looked.left_out)] if looked.left_out else []
    return say["in_brackets"].format(text=say["comma"].join(told)) if told else ""


def _percent(share: float) -> str:
    """A share below one; never rounded to nothing or to all."""
    return "<1%" if 0 < share < 0.01 else f"{min(99, round(share * 100))}%"
