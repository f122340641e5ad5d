"""`Verifier` and `Report` as Python's users get them: the graphs' verifier, with reports that show themselves.

Knows: where a verifier keeps the texts that its reports point into. Does not know: how anything is checked or drawn.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from longproof.agent import types
from longproof.agent.specs import Spec
from longproof.graphs import verifier
from longproof.graphs.verifier import Source, documents_of
from longproof.report.html import page
from longproof.report.notebook import in_short
from longproof.report.saved import texts_of


class Report(types.Report):
    """What is found about one case; `Report.model_validate_json` opens a saved one again."""

    _home: str | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, made: types.Report, home: str | None) -> "Report":
        """The same report, whose texts lie in this data folder."""
        report = cls.model_construct(**dict(made))
        report._home = home
        return report

    def html(self, source: Source | Sequence[Source] = ()) -> str:
        """The page that `longproof verify --html` writes: one file, which needs no network.

        `source` gives again what is neither in the data folder nor where it was read from. Raises BadInput where a
        text is missing or has changed.
        """
        given = {document.id: document.text for document in documents_of(source)}
        return page(self, texts_of(self, [], known=given, kept=self._home))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return in_short(self)

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """What `repr` and a notebook's plain text show: one line."""
        undecided = sum(claim.label is None for claim in self.claims)
        shown = {
            "case": self.case.id,
            "verdict": self.verdict,
            "claims": len(self.claims),
            "undecided": undecided,
        }
        return list(shown.items())


class Verifier(verifier.Verifier):
    __doc__ = verifier.Verifier.__doc__

    def __repr__(self) -> str:
        judges = [_called(judge) for judge in self._pool.given.judges or self.settings.judges]
        return f"Verifier(judges={judges}, protocol={self._method.protocol.name!r})"

    def verify(self, source: Source | Sequence[Source], response: str | Path, **options: Any) -> Report:
        """The report on one response; see `averify`. Works inside a running event loop too."""
        return Report.of(super().verify(source, response, **options), self.settings.home)

    async def averify(
        self, source: Source | Sequence[Source], response: str | Path, **options: Any
    ) -> Report:
        return Report.of(await super().averify(source, response, **options), self.settings.home)

    averify.__doc__ = verifier.Verifier.averify.__doc__


def _called(judge: object) -> str:
    """A judge as it was named, else by the name that it says, or its class's."""
    said = judge.text if isinstance(judge, Spec) else getattr(judge, "name", None)
    return judge if isinstance(judge, str) else str(said or type(judge).__name__)
