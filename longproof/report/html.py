"""The report as one self-contained HTML file, and an index page over many.

Knows: how data, style and script become a file that needs no network and under whose Content-Security-Policy
(CSP level 3, by hash) nothing else runs. Does not know: how the page is drawn; that is in the scripts beside.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from longproof.agent.types import Report
from longproof.report.findings import checked_texts, is_triage, language, missing
from longproof.report.markdown import render
from longproof.report.marks import NAMES, PATTERN, visible
from longproof.report.pagedata import carried
from longproof.report.totals import totals
from longproof.report.words import SIGNS, Language, words

SCRIPTS = ("text", "model", "source", "response", "card", "strip", "head", "find", "print", "page")
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def page(report: Report, texts: Mapping[str, str]) -> str:
    """The page of one report. `texts` maps document ids to texts; where one is missing, the page says so."""
    known = checked_texts(report, texts)
    spoken = language(report.case.response)
    say = words(spoken)
    data = {
        "report": carried(report, known),
        "missing": [d.title or d.uri or say[d.role] for d in missing(report, known)],
        "totals": totals(report, say),
        "triage": is_triage(report),
        **_vocabulary(say),
    }
    title = f"{SIGNS[report.verdict]} {report.case.id} · longproof"
    return _assemble("page.html", SCRIPTS, data, spoken, title, render(report, texts))


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
    """JSON that can't end its script element: what HTML or JavaScript could take for its own is escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _file(name: str) -> str:
    return files("longproof.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
