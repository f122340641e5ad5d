"""The report as one self-contained HTML file, and an index page over many.

Knows: how data, style and script become a file that needs no network and under whose Content-Security-Policy
(CSP level 3, by hash) nothing else runs. Does not know: how the page is drawn; that is in the scripts beside.
"""

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any
from urllib.parse import quote

from longproof.agent.report import WRONG
from longproof.agent.types import Report
from longproof.report.findings import checked_texts, language, missing
from longproof.report.markdown import render
from longproof.report.marks import NAMES, PATTERN, visible
from longproof.report.pagedata import carried
from longproof.report.totals import cost, notice, summed, totals
from longproof.report.words import SIGNS, Language, words

PAGE = ("text", "theme", "model", "source", "response", "card", "strip", "head", "find", "print", "page")
INDEX = ("text", "theme", "index")
_UNSAFE = re.compile(f"[<>&]|{PATTERN}")


def page(report: Report, texts: Mapping[str, str]) -> str:
    """The page of one report. `texts` maps document ids to texts; where one is missing, the page says so."""
    known = checked_texts(report, texts)
    spoken = language(report.case.response)
    say = words(spoken)
    data = {
        "report": carried(report, known),
        "missing": [d.title or d.uri or say[d.role] for d in missing(report, known)],
        "cost": cost(report, say),
        "totals": totals(report, say),
        "summed": summed(report, say),
        "triage": notice(report, say),
        "unread": report.triage and report.schema_version > 1,
        **_vocabulary(say),
    }
    title = f"{SIGNS[report.verdict]} {report.case.id} · longproof"
    return _assemble("page.html", PAGE, data, spoken, title, render(report, texts))


def index(reports: Iterable[tuple[str, Report]]) -> str:
    """The page over many reports, each given with the name of its page's file, in the index's folder.

    One report at a time is in memory where they come one at a time. The first hundred say which language is spoken.
    """
    rows, heard = [], list[str]()
    for name, report in reports:
        rows.append(_row(name, report))
        if len(heard) < 100:
            heard.append(report.case.response[:2000])
    spoken = language(" ".join(heard))
    say = words(spoken)
    sums = {
        "all": len(rows),
        "hallucinated": sum(row["verdict"] == "hallucinated" for row in rows),
        "undecided": sum(row["verdict"] == "undecided" for row in rows),
        "triage": sum(row["triage"] for row in rows),
        "calls": f"{sum(row['calls'] for row in rows):,}",
        "tokens": f"{sum(row['tokens'] for row in rows):,}",
    }
    plain = "\n".join(
        f"{row['verdict']}{' (no model)' * row['triage']}  {row['case']}  {row['href']}" for row in rows
    )
    data = {"rows": rows, "sums": sums, **_vocabulary(say)}
    return _assemble("index.html", INDEX, data, spoken, f"{say['index_title']} · longproof", plain)


def _row(name: str, report: Report) -> dict[str, Any]:
    """One report's line. The link is a relative path, whatever the name holds: it can't name a scheme."""
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


def _vocabulary(say: Mapping[str, str]) -> dict[str, Any]:
    return {"words": say, "signs": SIGNS, "acting": {"pattern": PATTERN, "names": NAMES}}


def _assemble(
    template: str, scripts: Sequence[str], data: Mapping[str, Any], spoken: Language, title: str, plain: str
) -> str:
    style = _file("page.css")
    script = '(() => {\n"use strict";\n' + "\n".join(_file(f"{name}.js") for name in scripts) + "\n})();"
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return Template(_file(template)).substitute(
        language="zh-Hans" if spoken == "zh" else "en",
        policy=policy,
        title=escape(visible(title)),
        style=style,
        plain=escape(visible(plain)),
        data=_embedded(data),
        script=script,
    )


def _embedded(data: Mapping[str, Any]) -> str:
    """JSON that can't end its script element: what HTML takes for its own, or acts, is escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _file(name: str) -> str:
    return files("longproof.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
