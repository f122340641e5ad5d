"""The report as one self-contained HTML file, and an index page over many.

Knows: how data, style and script become a file that needs no network and under whose Content-Security-Policy
(CSP level 3, by hash) nothing else runs; and the short form of a report that `model.js` reads back.
Does not know: how the page is drawn; that is in the scripts.
"""

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any
from urllib.parse import quote

from longproof.agent.report import WRONG
from longproof.agent.types import Report, ReportClaim
from longproof.report.markdown import to_markdown
from longproof.report.totals import cost_line
from longproof.report.view import ReportView, describe_judges, look_of, sides, what_would_settle
from longproof.report.words import NAMES, PATTERN, SIGNS, Language, language, visible, whole_sentences, words
from longproof.retrieval.types import Span

PAGE = ("text", "model", "source", "response", "card", "strip", "head", "find", "print", "page")
INDEX = ("text", "index")
Short = list[Any]
"""`[document number, start, end]`; after it, how many characters its sentences have before and behind it, where there
are any; or its text, where its document isn't here."""
_UNSAFE = re.compile(f"[<>&]|{PATTERN}")


def page(report: Report, texts: Mapping[str, str]) -> str:
    """The page of one report. `texts` maps document ids to texts; where one is missing, the page says so."""
    spoken = language(report.case.response)
    data = page_data(report, texts, words(spoken))
    title = f"{SIGNS[report.verdict]} {report.case.id} · longproof"
    return assemble("page.html", PAGE, data, spoken, title, to_markdown(report, texts))


def page_data(report: Report, texts: Mapping[str, str], say: Mapping[str, str]) -> dict[str, Any]:
    """The data that the page of a report is drawn from, without its words. `texts` as for `page`."""
    view = ReportView(report, texts, say)
    return {
        "report": _short_form(view),
        "missing": view.missing,
        "cost": cost_line(report, say),
        "totals": view.totals,
        "judges": describe_judges(view.names, say),
        "summed": view.outcome,
        "triage": view.notice,
        "hints": view.hint_lines(10) if view.hints else None,
        "unread": report.triage,
    }


def index_page(
    reports: Iterable[tuple[str, Report]], failed: int = 0, failures: Sequence[Mapping[str, Any]] = ()
) -> str:
    """The page over many reports, each given with the name of its page's file, in the index's folder.

    `failed` more cases have no report; of each in `failures` its `id`, its `line` and the `failure` are told.
    Reports may come one at a time; the first hundred say which language is spoken.
    """
    lines, responses = [], ""
    for name, report in reports:
        lines.append(index_line(name, report))
        if len(lines) <= 100:
            responses += report.case.response[:2000]
    spoken = language(responses)
    say, sums = words(spoken), index_sums(lines, failed)
    plain = [
        f"{one['verdict']}{' (no model)' * one['triage']}  {one['case']}  {one['href']}" for one in lines
    ]
    if failed:
        plain.append(say["index_failed"].format(n=failed, all=sums["all"]))
    plain += [f"{one['id']}{say['colon']}{one['failure']}" for one in failures]
    data = {"rows": lines, "sums": sums, "failures": failures}
    return assemble("index.html", INDEX, data, spoken, f"{say['index_title']} · longproof", "\n".join(plain))


def index_sums(lines: Sequence[Mapping[str, Any]], failed: int = 0) -> dict[str, Any]:
    """Sums over the lines of an index; `failed` more cases have no report."""
    return {
        "all": len(lines) + failed,
        "failed": failed,
        "hallucinated": sum(line["verdict"] == "hallucinated" for line in lines),
        "undecided": sum(line["verdict"] == "undecided" for line in lines),
        "triage": sum(line["triage"] for line in lines),
        "calls": f"{sum(line['calls'] for line in lines):,}",
        "tokens": f"{sum(line['tokens'] for line in lines):,}",
    }


def index_line(name: str, report: Report) -> dict[str, Any]:
    """One report's line of an index. The link is a relative path, whatever the name holds: it can't name a scheme."""
    kinds = Counter(error.kind for claim in report.claims for error in claim.errors if error.kind)
    return {
        "href": f"./{quote(name)}",
        "case": report.case.id,
        "verdict": report.verdict,
        "triage": report.triage,
        "wrong": sum(sentence.label in WRONG for sentence in report.sentences),
        "sentences": len(report.sentences),
        "kinds": kinds.most_common(),
        "coverage": report.coverage,
        "calls": report.usage.calls,
        "tokens": report.usage.prompt_tokens + report.usage.completion_tokens,
    }


def assemble(
    template: str,
    scripts: Sequence[str],
    data: Mapping[str, Any],
    spoken: Language,
    title: str,
    plain: str,
    *,
    local: bool = False,
) -> str:
    """A page of this template, with the words, signs and marks that every page needs.

    A `local` one has the style and words of the local server, too, and may ask it.
    """
    say = words(spoken, "serve" if local else "report")
    data = {**data, "words": say, "signs": SIGNS, "acting": {"pattern": PATTERN, "names": NAMES}}
    style = _file("page.css") + (_file("serve.css") if local else "")
    code = "\n".join(_file(f"{name}.js") for name in scripts)
    script = f'(() => {{\n"use strict";\n{code}\n}})();'
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        + ("; connect-src 'self'" if local else "")
    )
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Template(_file(template)).substitute(
        language="zh-Hans" if spoken == "zh" else "en",
        policy=policy,
        title=escape(visible(title)),
        style=style,
        plain=escape(visible(plain)),
        # What HTML takes for its own, or acts, is escaped: the data can't end their script element.
        data=_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text),
        script=script,
    )


def _file(name: str) -> str:
    """A script or a style of the report's pages, or of the local ones."""
    folder = files("longproof.report")
    if not folder.joinpath(name).is_file():
        folder = files("longproof.serve")
    return folder.joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _short_form(view: ReportView) -> dict[str, Any]:
    """The report in the page's short form. The response's text isn't repeated: it stands in the case."""
    report, texts = view.report, view.texts
    numbers = {document.id: number for number, document in enumerate(report.documents)}

    @cache
    def short_span(place: Span) -> Short:
        shortened: Short = [numbers.get(place.source_id, -1), place.start, place.end]
        if place.source_id not in texts:
            return [*shortened, place.text]
        first, last = whole_sentences(texts[place.source_id], place.start, place.end)
        around = [place.start - first, last - place.end]
        return [*shortened, *around] if any(around) else shortened

    documents = []
    for document in report.documents:
        data = document.model_dump(exclude={"notes"})
        if document.id in texts:
            data["language"] = language(texts[document.id])
            if document.role != "response":
                data["text"] = texts[document.id]
        documents.append(data)
    return {
        "case": {"id": report.case.id, "response": report.case.response},
        "verdict": report.verdict,
        "stamp": report.stamp,
        "documents": documents,
        "sentences": [[sentence.start, sentence.end, sentence.label] for sentence in report.sentences],
        "claims": [_short_claim(claim, view, numbers, short_span) for claim in report.claims],
    }


def _short_claim(
    claim: ReportClaim, view: ReportView, numbers: Mapping[str, int], short_span: Callable[[Span], Short]
) -> dict[str, Any]:
    looked, window = look_of(view.report, claim, view.say), claim.window
    data = claim.model_dump(include={"text", "label", "failure", "decided_by", "readings", "caveat"})
    if window and window.source_id in numbers:
        data["window"] = [numbers[window.source_id], window.start, window.end]
    data["errors"] = [error.model_dump(exclude={"span": {"source_id"}}) for error in claim.errors]
    data["evidence"] = [short_span(quote) for quote in claim.evidence]
    data["sides"] = [
        [side.label, side.judges, [short_span(quote) for quote in side.spans]] for side in sides(claim)
    ]
    data["judgements"] = []
    for judgement in claim.judgements:
        word = judgement.model_dump(
            include={"judge", "round", "label", "failure", "reason", "quotes_dropped"}
        )
        word["quotes"] = [short_span(quote) for quote in judgement.quotes]
        data["judgements"].append(_without_empty(word))
    data["looked"] = looked and looked._asdict()
    data["settle"] = what_would_settle(claim, view.say)
    return {"sentence": claim.sentence, **_without_empty(data)}


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value}
