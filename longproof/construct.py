"""Making labelled data: from sources to a folder with cases, checks and a sheet to read.

Knows: which construction a name stands for, and what lies in the folder afterwards. Does not know: how data are made.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from longproof.retrieval.types import BadInput

if TYPE_CHECKING:
    from longproof.evaluation.checks import Check

ConstructKind = Literal["rules", "longnovel", "probe", "halueval"]
CONSTRUCTIONS: tuple[ConstructKind, ...] = get_args(ConstructKind)
CHECKS, SHEET = "checks.md", "sheet.html"


class Constructed(NamedTuple):
    """A folder that holds a made set: how many cases, what was thrown away and why, and what the checks found."""

    folder: Path
    made: int
    rejected: dict[str, int]
    checks: "list[Check]"


def rules(sources: Sequence[Path], out: Path, n_cases: int, seed: int, test_share: float) -> Constructed:
    """About `n_cases` cases by rule, without any model. Raises BadInput for what can't be used."""
    from datetime import UTC, datetime

    from longproof import __version__
    from longproof.evaluation.making import made_by_rules
    from longproof.graphs.made_files import Provenance, fresh, sources_used, write_cases, write_provenance

    started = datetime.now(UTC).isoformat(timespec="seconds")
    fresh(out)
    made = made_by_rules(sources, n_cases, seed, test_share)
    write_cases(out, made.cases, made.books)
    provenance = Provenance(
        construction="rules",
        version=__version__,
        seed=seed,
        parameters={"cases": str(n_cases), "test_share": str(test_share)},
        sources=sources_used(made.books),
        made=len(made.cases),
        rejected={str(name): n for name, n in sorted(made.rejected.items())},
        started=started,
        ended=datetime.now(UTC).isoformat(timespec="seconds"),
        note="Errors made by rule are easier than those that models and people make.",
    )
    write_provenance(out, provenance)
    return Constructed(out, len(made.cases), provenance.rejected, checked(out))


def checked(out: Path) -> "list[Check]":
    """Check the set in the folder, and write what was found and a sheet beside it."""
    from longproof.evaluation.checks import checks
    from longproof.evaluation.datasets import examples
    from longproof.evaluation.sheet import report, sheet
    from longproof.graphs.made_files import CASES, TRAIN
    from longproof.indexes.place import write_whole

    made = examples("jsonl", out / CASES)
    found = checks(made, examples("jsonl", out / TRAIN) if (out / TRAIN).exists() else [])
    write_whole(out / CHECKS, report(found, made).encode("utf-8"))
    write_whole(out / SHEET, sheet(made).encode("utf-8"))
    return found


def named(kind: str) -> ConstructKind:
    """The construction of this name. Raises BadInput, naming those that there are."""
    for known in CONSTRUCTIONS:
        if kind == known:
            return known
    raise BadInput(f"there is no construction {kind!r}: choose one of {', '.join(CONSTRUCTIONS)}")
