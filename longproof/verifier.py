"""`Verifier` and `Report` as Python's users get them: the graphs' verifier, whose reports show themselves.

Knows: where a verifier keeps the texts that its reports point into; which of many cases are checked together.
Does not know: how anything is checked or drawn.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, Unpack

from pydantic import PrivateAttr

from longproof.agent import types
from longproof.agent.report import WRONG
from longproof.agent.types import Case, Kind, Label
from longproof.graphs import verifier
from longproof.graphs.cases import digest, group_key
from longproof.graphs.joined import joins
from longproof.graphs.runner import Planned, check_planned, plan_groups
from longproof.graphs.settings import begun_with
from longproof.graphs.verifier import Decide, Event, run
from longproof.inputs import About, Response, Sources, case_of, documents_of
from longproof.progress import check_progress
from longproof.report.corrected import corrected_text
from longproof.report.html import page
from longproof.report.markdown import in_short, to_markdown
from longproof.report.saved import texts_of
from longproof.report.view import reason
from longproof.retrieval.types import BadInput, Document

C = TypeVar("C", bound=Mapping[str, Any])
T = TypeVar("T")


class Watched(About, total=False):
    """The facts on a response that may be known, and who watches its check."""

    progress: bool | Callable[[Event], None] | None
    """True shows a bar on stderr; a function hears of every node passed."""
    decide: Decide | None
    """With `arbiter="person"`: gets all disputes and returns what a `longproof.graphs.review.Review` holds."""


class Wrong(NamedTuple):
    """Words of a response that don't hold."""

    words: str
    correction: str | None
    """What should stand there, where that is known."""
    label: Label
    kind: Kind | None
    reason: str
    quotes: tuple[str, ...]
    """What the source or a page says there."""
    start: int
    """`report.case.response[start:end] == words`."""
    end: int
    sentence: str
    claim: str


class Report(types.Report):
    """The findings on one case; `Report.model_validate_json` opens a saved one again."""

    _home: str | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, made: types.Report, home: str | None) -> "Report":
        """The same report, whose texts lie in this data folder."""
        report = cls.model_construct(**dict(made))
        report._home = home
        return report

    @property
    def wrong(self) -> list[Wrong]:
        """The words that don't hold, in the order of the response."""
        places = [
            Wrong(
                words=error.span.text,
                correction=error.correction,
                label=claim.label,
                kind=error.kind,
                reason=error.reason or reason(claim),
                quotes=tuple(span.text for span in claim.evidence),
                start=error.span.start,
                end=error.span.end,
                sentence=self.sentences[claim.sentence].text,
                claim=claim.text,
            )
            for claim in self.claims
            for error in claim.errors
            if claim.label in WRONG
        ]
        return sorted(places, key=lambda place: (place.start, place.end))

    def corrected(self) -> str:
        """The response with all known corrections made."""
        return corrected_text(self, "corrected.txt").decode("utf-8")

    def markdown(self, source: Sources = ()) -> str:
        """The report as Markdown for pull requests and issues; `source` as `html` takes it."""
        return to_markdown(self, self._texts(source))

    def html(self, source: Sources = ()) -> str:
        """The page that `longproof verify --html` writes: one file, which needs no network.

        `source` gives again what is neither in the data folder nor where it was read from. Raises BadInput where a
        text is missing or has changed.
        """
        return page(self, self._texts(source))

    def _texts(self, source: Sources) -> dict[str, str]:
        given = {document.id: document.text for document in documents_of(source)}
        return texts_of(self, [], known=given, kept=self._home)

    def _repr_html_(self) -> str:
        """The report as a notebook shows it."""
        return in_short(self)

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """The values in the one line that `repr` shows."""
        undecided = sum(claim.label is None for claim in self.claims)
        counts: list[tuple[str | None, Any]] = [("claims", len(self.claims)), ("undecided", undecided)]
        return [("case", self.case.id), ("verdict", self.verdict), *counts]


class Verifier(verifier.Verifier):
    __doc__ = verifier.Verifier.__doc__

    def verify(self, source: Sources, response: Response, **more: Unpack[Watched]) -> Report:
        """The report on one response; see `averify`. Works inside a running event loop too.

        A run that the settings name (`run_id`) is this case's alone. Raises BadInput where it is another's.
        """
        return self._run(self._verify(source, response, more, alone=True))

    async def averify(self, source: Sources, response: Response, **more: Unpack[Watched]) -> Report:
        """The report on one response.

        `source` is one source or several (a list of dictionaries is one JSON record); a file, here and as the
        response, is a `Path`. `more`: see `Watched` and `longproof.inputs.About`; without `decide`, what a person
        should say stays undecided. Raises BadInput for what can't be checked.
        """
        return await self._verify(source, response, more, alone=False)

    async def _verify(self, source: Sources, response: Response, more: Watched, *, alone: bool) -> Report:
        """The report on one response; a run that has this case `alone` is begun with it."""
        about: Any = dict(more)
        progress, decide = about.pop("progress", None), about.pop("decide", None)
        documents = await asyncio.to_thread(documents_of, source)
        case = await asyncio.to_thread(case_of, response, **about)
        given = await self.input_of(documents, case)
        if alone:
            await self._pool.session(self.settings, begun_with(self.settings, given))
        with check_progress(self.traffic) if progress is True else nullcontext(progress or None) as hear:
            made = await self.report_on(given, hear, decide)
        return Report.of(made, self.settings.home)

    def verify_many(self, cases: Iterable[C], *, parallel: int = 4) -> list[tuple[C, Report | BadInput]]:
        """Each case with its report, in the order of the cases; see `averify_many`. Works in a notebook too."""
        listed = list(cases)

        async def verify_all() -> dict[int, Report | BadInput]:
            return {number: report async for number, report in self._check_many(listed, parallel)}

        reports = self._run(verify_all())
        return [(case, reports[number]) for number, case in enumerate(listed)]

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end on an event loop of its own, and close what was opened there."""

        async def work_and_close() -> T:
            try:
                return await work
            finally:
                await self.close()

        return run(work_and_close())

    async def averify_many(
        self, cases: Iterable[C], *, parallel: int = 4
    ) -> AsyncGenerator[tuple[C, Report | BadInput], None]:
        """Each case with its report, as soon as it is there: at most `parallel` groups at once, in the order in which
        they end.

        A case is a dictionary of `source`, `response` and what else `averify` takes. Short responses to one long
        source are checked together: it is searched and read once for all of them. A case that can't be checked has a
        `BadInput` for a report, and doesn't cost the others; a server that answers nothing ends them all (`Refused`).
        Afterwards `close`.
        """
        listed = list(cases)
        async for number, report in self._check_many(listed, parallel):
            yield listed[number], report

    async def _check_many(
        self, cases: list[C], parallel: int
    ) -> AsyncGenerator[tuple[int, Report | BadInput], None]:
        """The number of each case with its report, as soon as it is there."""
        if parallel < 1:
            raise BadInput(f"parallel is at least 1, not {parallel}")
        given = _GivenCases(cases)
        places = asyncio.Semaphore(parallel)

        async def check(group: Sequence[Planned]) -> tuple[Sequence[Planned], list[types.Report | str]]:
            async with places:
                return group, await check_planned(self, given, group)

        groups = plan_groups([*given.plan(joins(self.settings))])
        tasks = [asyncio.create_task(check(group)) for group in groups]
        try:
            for ended in asyncio.as_completed(tasks):
                for planned, made in zip(*await ended, strict=True):
                    report = BadInput(made) if isinstance(made, str) else Report.of(made, self.settings.home)
                    yield planned.place[0], report
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _GivenCases:
    """Many cases as the runner takes them. Cases given the same text, path or object have the same source."""

    def __init__(self, cases: list[Any]) -> None:
        self.cases = cases

    def plan(self, joined: bool) -> Iterator[Planned]:
        """The cases in their order; `joined` lets short ones about one source be checked together."""
        for number, given in enumerate(self.cases):
            source = given.get("source", "") if isinstance(given, Mapping) else ""
            named = str(source) if isinstance(source, str | Path) else f"{id(source)}"
            one = Planned(str(number), str(number), digest([type(source).__name__, named]), place=(number,))
            with suppress(BadInput):  # a case that is none says so when it is checked
                key = group_key(self.case(one), one.sources, None) if joined else ""
                one = one._replace(joined=key)
            yield one

    def case(self, one: Planned) -> Case:
        """The case. Raises BadInput where it is none."""
        given = self.cases[one.place[0]]
        known = {"source", "response", *About.__annotations__}
        if not isinstance(given, Mapping) or not {"source", "response"} <= given.keys() <= known:
            what = "a case is a dictionary of source, response and what is optional"
            raise BadInput(f"{what}, not {given!r:.60}")
        about = {name: value for name, value in given.items() if name in About.__annotations__}
        if not about.keys() & {"id", "case_id"}:
            about["id"] = f"case-{one.place[0] + 1}"
        return case_of(given["response"], **about)

    def sources(self, one: Planned) -> Sequence[Document]:
        """The case's sources, read. Raises BadInput where they can't be."""
        self.case(one)
        return documents_of(self.cases[one.place[0]]["source"])
