"""The outcome of a batch as JUnit's XML, which continuous integration shows: a test a case.

Knows: a case that is hallucinated or undecided is a failure, one that couldn't be checked an error; which characters
XML has no room for. Does not know: how cases were checked. One report at a time is in memory.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from longproof.batch.run import ended_cases, report_path
from longproof.report.in_short import failure
from longproof.report.pieces import visible
from longproof.report.saved import open_report
from longproof.retrieval.files import write_lines

_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")


def write_junit(folder: Path, target: Path) -> None:
    """Write what a batch left in its folder as one suite of tests. Raises BadInput where it can't be read."""
    write_lines(target, _suite(folder))


def _suite(folder: Path) -> Iterator[str]:
    ended = list(ended_cases(folder))
    failed = sum(one.state == "failed" for one in ended)
    wrong = sum(one.state != "failed" and one.verdict != "faithful" for one in ended)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield f'<testsuite name="longproof" tests="{len(ended)}" failures="{wrong}" errors="{failed}">\n'
    for one in ended:
        if one.state == "failed":
            yield _test(one.id, "error", "not checked", one.failure or "")
        else:
            yield _checked(report_path(folder, one.name))
    yield "</testsuite>\n"


def _checked(path: Path) -> str:
    report = open_report(path)
    return _test(report.case.id, "failure", report.verdict, failure(report))


def _test(name: str, kind: str, type_: str, why: str) -> str:
    """One test; it passed where there is nothing to say why not."""
    opened = f'<testcase classname="longproof" name={_attribute(name)}'
    if not why:
        return f"{opened}/>\n"
    first = why.splitlines()[0]
    text = escape(_plain(why))
    return (
        f"{opened}><{kind} type={_attribute(type_)} message={_attribute(first)}>{text}</{kind}></testcase>\n"
    )


def _attribute(text: str) -> str:
    return quoteattr(_plain(text))


def _plain(text: str) -> str:
    return _NOT_XML.sub("\ufffd", visible(text))
