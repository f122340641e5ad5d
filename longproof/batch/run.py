"""One run over a case file: a report a case, written whole or not at all; a run that was stopped goes on.

Knows: which cases of the file are left, and who works on them. Memory grows by some hundred bytes a case: their texts
stay in the file. Does not know: how a case is checked, or how options are given.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from longproof.agent.report import not_borne_out
from longproof.agent.types import Case, Report, Usage
from longproof.batch.tables import (
    REPORTS,
    EndedCase,
    report_path,
    write_index,
    write_pages,
    write_report,
)
from longproof.graphs.cases import (
    CaseLine,
    asked_case,
    case_documents,
    case_key,
    case_line,
    case_lines,
    digest,
    file_name,
    group_key,
    line_name,
    parse_case,
    sources_key,
)
from longproof.graphs.joined import joins
from longproof.graphs.run_folder import open_run, state_of
from longproof.graphs.runner import (
    Engine,
    Planned,
    RunProgress,
    Tally,
    groups_left,
    local_engine,
    plan_groups,
    refuse_unusable,
    run_groups,
)
from longproof.graphs.settings import INCOMPARABLE, settings_of
from longproof.graphs.verifier import Verifier
from longproof.indexes.documents import Cache
from longproof.retrieval.files import clear_parts
from longproof.retrieval.types import BadInput, Document


class BatchDone(NamedTuple):
    """A batch that has come to its end: its cases in the file's order, and what this run paid."""

    folder: Path
    cases: list[EndedCase]
    paid: Usage
    seconds: float
    failures: Counter[str | None]
    """Of this run's judgements."""

    @property
    def states(self) -> Counter[str]:
        """The number of cases in each state."""
        return Counter(case.state for case in self.cases)

    @property
    def verdicts(self) -> Counter[str]:
        """The number of reports with each verdict."""
        return Counter(case.verdict for case in self.cases if case.state != "failed")

    @property
    def not_borne_out(self) -> int:
        """The number of faithful cases with sentences that their source doesn't bear out."""
        return sum(case.not_borne_out > 0 for case in self.cases)


class FileCases:
    """The cases of a file; sources that neighbouring cases share are read once."""

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self._path, self._encoding = path, encoding
        self._read: Cache[Sequence[Document]] = Cache(room=2)

    def case(self, one: Planned) -> Case:
        """The case of a line. Raises BadInput where it is none."""
        return asked_case(parse_case(case_line(self._path, CaseLine(*one.place))))

    def sources(self, one: Planned) -> Sequence[Document]:
        """The sources of a line's case. Raises BadInput where they can't be read."""
        case = parse_case(case_line(self._path, CaseLine(*one.place)))
        key = sources_key(case, self._path.parent)
        return self._read.get(key, lambda: case_documents(case, self._path.parent, self._encoding))


def check_cases(
    cases: Path,
    out: Path,
    *,
    settings: dict[str, Any],
    engine: Engine | None = None,
    parallel: int = 4,
    encoding: str | None = None,
    html: bool = False,
    progress: Callable[[RunProgress], None] | None = None,
) -> BatchDone:
    """Check all cases of a file into a folder; what has its report there already is not checked again.

    A folder takes one batch: what makes its reports comparable may not change. Without an `engine`, so many groups of
    cases are checked in `parallel` in this process. Raises BadInput where the folder holds another batch, where the
    file is none of cases, or holds none, and for settings that can check nothing.
    """
    full = settings_of(settings)
    refuse_unusable(Verifier(**{**settings, "run_id": None}))
    engine = engine or local_engine(Verifier(**settings), FileCases(cases, encoding), parallel)
    planned = plan_cases(cases, joined=joins(full))
    names = [one.name for one in planned]
    comparable = full.model_dump(mode="json", exclude={*INCOMPARABLE})
    batch = {name: value for name, value in comparable.items() if value}
    with open_run(out, {"batch": batch}, EndedCase) as listed:
        clear_parts(out)
        clear_parts(out / REPORTS)
        left = groups_left(
            plan_groups(planned),
            listed,
            again=full.retry_failed,
            written=lambda name: report_path(out, name).exists(),
        )
        tally = Tally(len(planned), sum(one.left for group in left for one in group), progress)

        def finish(one: Planned, result: Report | str) -> None:
            if isinstance(result, Report):
                write_report(out, one.name, result)
            listed.append(_line_of(cases, one, result))
            tally.add(result)

        run_groups(engine, left, finish)
        listed.keep(names)
        done = BatchDone(out, [*listed.lines(names)], tally.paid, tally.seconds, tally.failures)
    reported = [case.name for case in done.cases if case.state != "failed"]
    if html:
        write_pages(out, reported, full.home)
    write_index(out, reported, [case for case in done.cases if case.state == "failed"], html=html)
    return done


def plan_cases(cases: Path, *, joined: bool) -> list[Planned]:
    """The cases of a file, in its order; a line that is no case is one that fails.

    `joined` lets short cases about one long source be checked together. Raises BadInput where there is no case, where
    two have one id, or ids that make one file name.
    """
    planned, seen = list[Planned](), dict[str, tuple[str, int]]()
    for line, data in case_lines(cases):
        id_, one = _plan_line(cases.parent, line, data, joined=joined)
        known, number = seen.setdefault(one.name.casefold(), (id_, line.number))
        if number != line.number:
            same = "the same id" if known == id_ else f"ids that make one file name, {one.name!r}"
            raise BadInput(f"lines {number} and {line.number} have {same}: rename one")
        planned.append(one)
    if not planned:
        raise BadInput(f"there is no case in {cases}: give a file with a case a line")
    return planned


def _plan_line(folder: Path, line: CaseLine, data: bytes, *, joined: bool) -> tuple[str, Planned]:
    """The id of a line, and its case as the runner takes it."""
    try:
        case = parse_case(data)
    except BadInput:
        id_ = line_name(data, line)
        return id_, Planned(file_name(id_), digest(data.hex()), place=tuple(line))
    sources = sources_key(case, folder)
    texts = None if case.paths else case.texts
    return str(case.id), Planned(
        file_name(str(case.id)),
        case_key(case, folder),
        sources,
        group_key(asked_case(case), sources, texts) if joined else "",
        case.pair,
        tuple(line),
    )


def _line_of(cases: Path, one: Planned, result: Report | str) -> EndedCase:
    """The line of a case that came to an end."""
    if isinstance(result, str):
        line = CaseLine(*one.place)
        id_ = line_name(case_line(cases, line), line)
        return EndedCase(name=one.name, key=one.key, state="failed", failure=result, id=id_, line=line.number)
    return EndedCase(
        name=one.name,
        key=one.key,
        state=state_of(result),
        verdict=result.verdict,
        id=result.case.id,
        line=one.place[0],
        triage=result.triage,
        claims=len(result.claims),
        counts=result.counts,
        coverage=result.coverage,
        not_borne_out=len({*chain(*not_borne_out(result))}),
        usage=result.usage,
    )
