"""Making labelled data: from sources to a folder with cases, checks and a sheet to read.

Knows: which construction a name stands for, what it needs, and what lies in the folder afterwards.
Does not know: how data are made.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args

from longproof.retrieval.types import BadInput

if TYPE_CHECKING:
    from longproof.evaluation.checks import Check
    from longproof.graphs.constructing import ConstructInput
    from longproof.graphs.settings import Settings

ConstructKind = Literal["rules", "longnovel", "probe", "halueval"]
CONSTRUCTIONS: tuple[ConstructKind, ...] = get_args(ConstructKind)
CHECKS, SHEET = "checks.md", "sheet.html"
Hear = Callable[[dict[str, Any]], None]


class Constructed(NamedTuple):
    """A folder that holds a made set: how many cases, what was thrown away and why, calls, and what was found.

    `calls` are all that the set rests on, `bought` those that this run paid.
    """

    folder: Path
    made: int
    rejected: dict[str, int]
    calls: int
    bought: int
    checks: "list[Check]"


def construct(
    kind: str,
    sources: Sequence[Path],
    out: Path,
    *,
    cases: int = 500,
    seed: int = 0,
    test_share: float = 1.0,
    task: str = "",
    keep: int = 5000,
    summaries: Sequence[Path] = (),
    models: Sequence[str] = (),
    progress: Hear | None = None,
    **settings: Any,
) -> Constructed:
    """Make a set from these sources in `out`; a run that was stopped is made again over the ledger, for nothing.

    `models` are SPECs of language models, the writer first; `settings` are further settings of a run. Raises
    BadInput for a construction that isn't there, sources or models that it can't use, or a folder in use.
    """
    named = _named(kind)
    if named == "rules":
        return _by_rules(sources, out, cases, seed, test_share)
    from longproof.graphs.settings import settings_of
    from longproof.retrieval.readers import read_source

    if not models:
        raise BadInput(f"{named} needs a language model: --model openai:MODEL[@BASE_URL], or use rules")
    chosen = settings_of({"judges": list(models), **settings})
    texts = [read_source(path) for path in sources], [read_source(path) for path in summaries]
    given = _stored(
        chosen, texts, out=str(out), cases=cases, seed=seed, test_share=test_share, task=task, keep=keep
    )
    result = _run(named, given, chosen, progress)
    return Constructed(
        out, result["made"], result["rejected"], result["calls"], result["bought"], checked(out)
    )


def checked(out: Path) -> "list[Check]":
    """Check the set in the folder, and write what was found and a sheet beside it; no case, no checks."""
    from longproof.evaluation.checks import checks
    from longproof.evaluation.datasets import examples
    from longproof.evaluation.sheet import report, sheet
    from longproof.graphs.made_files import CASES, TRAIN
    from longproof.indexes.place import write_whole

    made = examples("jsonl", out / CASES)
    if not made:
        for old in (CHECKS, SHEET):
            (out / old).unlink(missing_ok=True)
        return []
    found = checks(made, examples("jsonl", out / TRAIN) if (out / TRAIN).exists() else [])
    write_whole(out / CHECKS, report(found, made).encode("utf-8"))
    write_whole(out / SHEET, sheet(made).encode("utf-8"))
    return found


def _named(kind: str) -> ConstructKind:
    for known in CONSTRUCTIONS:
        if kind == known:
            return known
    raise BadInput(f"there is no construction {kind!r}: choose one of {', '.join(CONSTRUCTIONS)}")


def _by_rules(sources: Sequence[Path], out: Path, n_cases: int, seed: int, test_share: float) -> Constructed:
    """About so many cases by rule, without any model."""
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
    return Constructed(out, len(made.cases), provenance.rejected, 0, 0, checked(out))


def _stored(settings: "Settings", texts: tuple[list[Any], list[Any]], **options: Any) -> "ConstructInput":
    """The input of a graph, its texts in the store."""
    from longproof.graphs.constructing import ConstructInput
    from longproof.graphs.convert import dump
    from longproof.indexes.documents import DocumentStore
    from longproof.indexes.place import home

    store = DocumentStore(home(settings.home) / "documents")
    sources, summaries = (dump(store.put(document) for document in documents) for documents in texts)
    return ConstructInput(sources=sources, summaries=summaries, **options)


def _run(
    kind: ConstructKind, given: "ConstructInput", settings: "Settings", progress: Hear | None
) -> dict[str, Any]:
    """Through the graph to its result, on an event loop of its own; the ledger is closed in any case."""
    from longproof.graphs.construct_halueval import halueval_graph
    from longproof.graphs.construct_longnovel import longnovel_graph
    from longproof.graphs.construct_probe import probe_graph
    from longproof.graphs.resources import Pool
    from longproof.graphs.verifier import run

    make = {"longnovel": longnovel_graph, "probe": probe_graph, "halueval": halueval_graph}[kind]

    async def through() -> dict[str, Any]:
        pool = Pool()
        done = False
        result: dict[str, Any] = {}
        try:
            stream = make(pool).astream(
                given, context=settings, stream_mode=["custom", "values"], config={"recursion_limit": 1000}
            )
            async for mode, part in stream:
                if mode == "custom" and progress is not None:
                    progress(cast(dict[str, Any], part))
                elif mode == "values":
                    result = part.get("result", result) if isinstance(part, dict) else result
            done = True
        finally:
            await pool.close("done" if done else "interrupted")
        return result

    return run(through())
