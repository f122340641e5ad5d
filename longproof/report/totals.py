"""The lines of a report as a whole: its outcome, counts by label, cost, and how it was made.

Knows: what of the stamp is shown, and in which words. Does not know: what is said of a single claim.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping

from longproof.agent.models.limits import DOLLARS, amount_text
from longproof.agent.models.model import UNANSWERED
from longproof.agent.report import (
    CONFIRMING,
    CONFIRMING_FAILED,
    ClearedAlone,
    not_borne_out,
    response_is_cut,
    states_no_fact,
)
from longproof.agent.types import LABELS, Report, ReportDocument
from longproof.report.words import SIGNS, flat, line, short

NAME = 60
"""Characters of a name beyond which its middle is left out."""
_MODEL = re.compile("openai:([^@]+)(?:@.+)?")


def outcome_line(report: Report, say: Mapping[str, str]) -> str:
    """The words after the verdict: how many sentences are wrong, else undecided.

    Without a model: how many claims stand in the source, how many need a model, and for how many there is a hint.
    """
    if report.triage:
        return _offline_outcome(report, say)
    labels = Counter(sentence.label for sentence in report.sentences)
    bad, undecided = labels["contradicting"] + labels["fabricated"], labels[None]
    nothing = "response_is_cut" if response_is_cut(report.documents) else "nothing_wrong"
    if states_no_fact(report.sentences) and report.verdict == "undecided":
        return say["nothing_claimed"]
    phrase = "sentences_wrong" if bad else "sentences_undecided" if undecided else nothing
    outcome = say[phrase].format(n=bad or undecided, all=len(report.sentences))
    without_fact, by_pages = not_borne_out(report)
    counts = (("no_fact", len(without_fact)), ("by_pages", len(by_pages)))
    parts = say["comma"].join(count_of(say, key, n) for key, n in counts if n)
    return outcome + (say["semicolon"] + parts if parts else "")


def _offline_outcome(report: Report, say: Mapping[str, str]) -> str:
    if not report.claims:
        return say["nothing_claimed"]
    labels = Counter(claim.label for claim in report.claims)
    stand = labels["explicitly_supported"] + labels["out_dependent"]
    needs = sum(claim.failure == "needs_model" for claim in report.claims)
    hints = sum(claim.hint is not None for claim in report.claims)
    others = len(report.claims) - stand - needs
    if stand == len(report.claims):
        parts = [say["all_stand" if report.verdict == "faithful" else "all_stand_unread"]]
    else:
        parts = [say["stand_n"].format(n=stand, all=len(report.claims))]
    counts = (("needs", needs), ("hinted", hints), ("open", others))
    parts += [count_of(say, key, n) for key, n in counts if n]
    claimed = {claim.sentence for claim in report.claims}
    silent = sum(one.label is None for n, one in enumerate(report.sentences) if n not in claimed)
    if silent:
        parts.append(say["sentences_unread"].format(n=silent, all=len(report.sentences)))
    return say["comma"].join(parts)


def count_of(say: Mapping[str, str], key: str, n: int, **more: int) -> str:
    """So many of what the phrases `KEY_one` and `KEY_n` name."""
    return say[f"{key}_one" if n == 1 else f"{key}_n"].format(n=f"{n:,}", **more)


def total_lines(report: Report, say: Mapping[str, str]) -> list[str]:
    """Counts by label; coverage and cost; judges that were not there for some of their questions; how it was made;
    caveats with how often; how files became texts."""
    lines = [_counts(report, say), cost_line(report, say)]
    if "cascade" in report.stamp:
        alone = ClearedAlone.model_validate(report.stamp["cascade"])
        lines.append(say["cascade"].format(n=alone.cleared, again=alone.again, overturned=alone.overturned))
    lines.append(_confirmations(report, say))
    judgements = [one for claim in report.claims for one in claim.judgements]
    asked = Counter(one.judge for one in judgements)
    silent = Counter(one.judge for one in judgements if one.failure in UNANSWERED)
    names = judge_names(asked)
    lines += [say["silent"].format(judge=names[one], n=n, all=asked[one]) for one, n in silent.items()]
    lines.append(_making(report, say))
    caveats = Counter(claim.caveat for claim in report.claims if claim.caveat)
    if caveats:
        told = [f"{say.get(caveat, short(caveat, NAME))} ({n})" for caveat, n in caveats.items()]
        lines.append(f"{say['caveats']}{say['colon']}{say['semicolon'].join(told)}")
    for document in report.documents:
        lines += _note_lines(document, say)
    return [flat(line) for line in lines if line]


def document_title(document: ReportDocument, say: Mapping[str, str]) -> str:
    """The name of a document, else of its role."""
    return line(document.title or document.uri or say[document.role], NAME)


def _note_lines(document: ReportDocument, say: Mapping[str, str]) -> list[str]:
    """Tell how a document's file became its text: the encoding if that was a guess, what is not in the text."""
    notes, about = document.notes, document_title(document, say) + say["colon"]
    lines = []
    if notes.guessed_encoding:
        lines.append(about + say["guessed_encoding"].format(encoding=notes.guessed_encoding))
    for key, names in (("not_read", notes.unread), ("left_out", notes.left_out)):
        if names:
            what = say["comma"].join(say.get(name, name) for name in names)
            lines.append(about + say[key].format(what=what))
    return lines


def _counts(report: Report, say: Mapping[str, str]) -> str:
    parts = []
    for key in (*LABELS, "undecided"):
        name = "not_checked" if key == "undecided" and report.triage else key
        if report.counts.get(key):
            parts.append(f"{SIGNS[name]} {report.counts[key]} {say[name]}")
    claims = count_of(say, "claims", len(report.claims))
    return f"{claims}{say['colon']}{say['comma'].join(parts)}" if parts else ""


def cost_line(report: Report, say: Mapping[str, str]) -> str:
    """Coverage, and what was asked of models: calls, tokens, how often the source was read, and what it costs."""
    decided, usage = sum(claim.label is not None for claim in report.claims), report.usage
    parts = [say["coverage"].format(share=f"{report.coverage:.0%}", n=decided, all=len(report.claims))]
    source = sum(document.characters for document in report.documents if document.role == "source")
    if usage.calls:
        parts.append(count_of(say, "calls", usage.calls))
    if tokens := usage.prompt_tokens + usage.completion_tokens:
        parts.append(say["tokens"].format(all=f"{tokens:,}", written=f"{usage.completion_tokens:,}"))
    if usage.prompt_characters and source:
        bought = (report.stamp.get("paid") or {}).get("prompt_characters", 0)
        times, now = (f"{read / source:.1f}" if read else "0" for read in (usage.prompt_characters, bought))
        parts.append(say["passes"].format(n=times, paid=now))
    if (spent_money := (report.stamp.get("money") or {}).get("answers")) is not None:
        prices = (report.stamp.get("settings") or {}).get("prices") or {}
        currency = next((price.get("currency", DOLLARS) for price in prices.values()), DOLLARS)
        parts.append(say["money"].format(n=amount_text(spent_money, currency)))
    return " · ".join(parts)


def _confirmations(report: Report, say: Mapping[str, str]) -> str:
    """Count the convictions that were asked about once more, those that fell, and the questions that failed."""
    asked = [one for one in report.claims if any(j.judge.startswith(CONFIRMING) for j in one.judgements)]
    if not asked:
        return ""
    held = sum(claim.failure == "unconfirmed" for claim in asked)
    failed = sum(claim.caveat == CONFIRMING_FAILED for claim in asked)
    told = count_of(say, "confirmed", len(asked), held=held)
    return told + (say["semicolon"] + count_of(say, "confirming_failed", failed) if failed else "")


def _making(report: Report, say: Mapping[str, str]) -> str:
    stamp, parts = report.stamp, []
    if stamp.get("protocol"):
        parts.append(say["protocol_is"].format(name=short(str(stamp["protocol"]), NAME)))
    asked = [str(name) for name in (*(stamp.get("judges") or []), stamp.get("arbiter")) if name]
    names = judge_names(asked)
    judges = [short(names[name], NAME) for name in asked]
    if stamp.get("arbiter"):
        judges[-1] = f"{say['arbiter']} {judges[-1]}"
    if judges:
        parts.append(say["comma"].join(judges))
    if isinstance(seconds := stamp.get("seconds"), int | float):
        parts.append(say["seconds_n"].format(n=f"{seconds:.1f}"))
    if stamp.get("longproof"):
        parts.append(f"longproof {short(str(stamp['longproof']), NAME)}")
    return " · ".join(parts)


def judge_names(names: Collection[str]) -> dict[str, str]:
    """Map judges to their models' own names, without who publishes or serves them; what the user wrote where two
    models would be called the same."""
    short_names = {}
    for written in map(without_role, names):
        model = _MODEL.fullmatch(written)
        short_names[written] = model[1].rstrip("/").rpartition("/")[2] if model else written
    often = Counter(short_names.values())
    unique = {written: name if often[name] == 1 else written for written, name in short_names.items()}
    return {name: unique[without_role(name)] for name in names}


def without_role(judge: str) -> str:
    """The name of a judge as the user wrote it, without what it was asked as."""
    return judge.removeprefix("arbiter:").removeprefix(CONFIRMING)
