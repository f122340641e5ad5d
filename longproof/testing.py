"""An assertion for tests of programs that write: what they wrote is faithful to its source.

Knows: how a `Verifier` is made for one test. Does not know: what passes, or which test runner asks.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from longproof.agent.types import LABELS, Label, Task
from longproof.graphs.verifier import Source
from longproof.report.failure import failure
from longproof.retrieval.types import BadInput
from longproof.verifier import AnyJudge, Report, Verifier


def assert_faithful(
    response: str | Path,
    *,
    source: Source | Sequence[Source],
    judge: AnyJudge | Sequence[AnyJudge],
    at_least: Label = "ambiguous",
    task: Task = "summary",
    context: str = "",
    **settings: Any,
) -> Report:
    """The report; raises AssertionError, with claims and quotes, unless every sentence has the label `at_least` or a
    more faithful one.

    The default lets pass what isn't hallucinated. What nobody could decide never passes: the judge `offline` fails
    whatever isn't its source, word for word. `judge` is one or several, as `Verifier` takes them, and so are the
    settings.
    Raises BadInput for what can't be checked.
    """
    __tracebackhide__ = True
    if at_least not in LABELS:
        raise BadInput(f"there is no label {at_least!r}: choose one of {', '.join(LABELS)}")
    judges = judge if isinstance(judge, list | tuple) else [cast(AnyJudge, judge)]
    report = Verifier(judges, **settings).verify(source, response, task=task, context=context)
    if why := failure(report, at_least):
        raise AssertionError(why)
    return report
