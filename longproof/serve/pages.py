"""The local pages: the start page over all runs, and the page of a run, which is the report's own page and more.

Knows: what the scripts of this folder are given, and that what isn't checked yet is called `open`, not undecided.
Does not know: HTTP, or how a page is drawn.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from longproof.agent.report import WRONG
from longproof.agent.types import Report
from longproof.graphs.reporting import SoFar, report_of
from longproof.report.html import (
    INDEX,
    PAGE,
    assemble,
    index_sums,
    page_data,
    page_title,
    vocabulary,
)
from longproof.report.markdown import to_markdown
from longproof.report.words import Language, language, words
from longproof.retrieval.contents import CHARACTERS
from longproof.retrieval.loaders import FILE_BYTES
from longproof.serve.begun import Begun
from longproof.serve.marks import LONGEST
from longproof.serve.offer import Offer

NO_LINE = {"wrong": 0, "sentences": 0, "kinds": [], "coverage": 0, "calls": 0, "tokens": 0, "triage": False}
"""In the list, of a run that has no report; one that has ended says what was asked."""


def start_page(runs: Sequence[Begun], offer: Offer, spoken: Language) -> str:
    """The page where a check is started, with the list of earlier ones."""
    rows = [_row(run) for run in runs]
    data = {
        "rows": rows,
        "sums": {**index_sums(rows), "all": sum(run.state == "done" for run in runs)},
        "offer": offer.as_data(),
        "bytes": FILE_BYTES,
        "characters": CHARACTERS,
    }
    return _local_page("index.html", (*INDEX, "ask", "start"), data, spoken, "longproof", "longproof")


def run_page(known: Report | SoFar, texts: Mapping[str, str], run: Mapping[str, Any]) -> str:
    """The page of a run, of which this is known. `run` is what the scripts are told of it."""
    report = report_of(known)
    data = {**_run_data(known, texts, run), "run": run, "longest": LONGEST}
    title = page_title(report) if known is report else f"{report.case.id} · longproof"
    scripts = (*PAGE, "ask", "marks", "live")
    spoken = language(report.case.response)
    return _local_page("page.html", scripts, data, spoken, title, to_markdown(report, texts))


def _local_page(
    template: str, scripts: Sequence[str], data: Mapping[str, Any], spoken: Language, title: str, plain: str
) -> str:
    """A page of the report with what this server adds to it; it may ask this server."""
    data = {**data, **vocabulary(words(spoken, "serve"))}
    return assemble(template, scripts, data, spoken, title, plain, style="serve.css", connects=True)


def news_of(known: Report | SoFar, texts: Mapping[str, str], run: Mapping[str, Any]) -> dict[str, Any]:
    """What can have changed on a run's page: its lines, its head, all claims and the sentences' labels."""
    data = _run_data(known, texts, run)
    report = data.pop("report")
    return {
        "page": data,
        "head": {"verdict": report["verdict"], "stamp": report["stamp"]},
        "claims": report["claims"],
        "documents": len(report["documents"]),
        "sentences": [label for _, _, label in report["sentences"]],
    }


def _run_data(known: Report | SoFar, texts: Mapping[str, str], run: Mapping[str, Any]) -> dict[str, Any]:
    """The data that a run's page is drawn from: the report's, with the claims' ids, and what is open called so."""
    report = report_of(known)
    say = words(language(report.case.response), "serve")
    data = page_data(report, texts, say)
    for short, claim in zip(data["report"]["claims"], report.claims, strict=True):
        short["id"] = claim.id
    if isinstance(known, SoFar):
        _leave_open(data, known, str(run["state"]))
        wrong = sum(label in WRONG for _, _, label in data["report"]["sentences"])
        told = say["sentences_wrong"].format(n=wrong, all=len(report.sentences))
        data |= {"summed": told if wrong else "", "triage": "", "unread": False}
    return data


def _leave_open(data: dict[str, Any], known: SoFar, state: str) -> None:
    """Give what isn't settled yet no label that a reader could take for one: it is open, or waits for a person."""
    data["report"]["verdict"] = state
    unsettled = "waiting" if state == "waiting" else "open"
    touched = set()
    for short in data["report"]["claims"]:
        if short["id"] in known.open_claims:
            touched.add(short["sentence"])
            short["label"] = unsettled
            short.pop("failure", None)
    for index, sentence in enumerate(data["report"]["sentences"]):
        if (index in touched and sentence[2] not in WRONG) or not known.decomposed:
            sentence[2] = unsettled


def _row(run: Begun) -> dict[str, Any]:
    about = {"id": run.id, "title": run.title, "verdict": run.state}
    own = {"href": f"runs/{run.id}", "case": run.name or run.title, "created": run.created}
    return {**NO_LINE, **about, **run.line, **own, "sources": [ref.title for ref in run.sources]}
