"""Making labelled data: from sources to a folder with cases, checks and a data card.

Knows: which construction a name stands for, what it needs, and what lies in the folder afterwards.
Does not know: how data are made.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args

from longproof.retrieval.types import BadInput

if TYPE_CHECKING:
    from longproof.construction.case_files import Provenance
    from longproof.construction.checks import Check
    from longproof.construction.graph import ConstructInput
    from longproof.graphs.settings import Settings

ConstructKind = Literal["longnovel", "probe", "halueval"]
CONSTRUCTIONS: tuple[ConstructKind, ...] = get_args(ConstructKind)
CHECKS, SAMPLE = "checks.md", "sheet.html"
Progress = Callable[[dict[str, Any]], None]


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
    summaries: Sequence[Path] = (),
    models: Sequence[str] = (),
    progress: Progress | None = None,
    seed: int = 0,
    cases: int = 500,
    test_share: float = 1.0,
    task: str = "",
    keep: int = 5000,
    **settings: Any,
) -> Constructed:
    """Make a set from these sources in `out`; a run that was stopped is made again over the ledger, for nothing.

    `models` are SPECs of language models, the writer first; `settings` are further settings of a run. Raises
    BadInput for a construction that isn't there, sources or models that it can't use, or a folder in use.
    """
    if kind not in CONSTRUCTIONS:
        raise BadInput(f"there is no construction {kind!r}: choose one of {', '.join(CONSTRUCTIONS)}")
    if not models:
        raise BadInput(f"{kind} needs a language model: --model openai:MODEL[@BASE_URL]")
    from longproof.graphs.settings import settings_of

    chosen = settings_of({"judges": list(models), **settings})
    options = {"seed": seed, "cases": cases, "test_share": test_share, "task": task, "keep": keep}
    given = _stored(chosen, sources, summaries, out=str(out), **options)
    result = _run(kind, given, chosen, progress)
    return Constructed(out, result.made, result.rejected, result.calls, result.bought, write_checks(out))


def write_checks(out: Path) -> "list[Check]":
    """Check the set in the folder, and write what was found and a sample beside it; no case, no checks."""
    from longproof.construction.case_files import CASES, TRAIN, read_cases
    from longproof.construction.checks import checks, data_card, sample_page
    from longproof.retrieval.files import write_whole

    made = read_cases(out / CASES)
    if not made:
        for old in (CHECKS, SAMPLE):
            (out / old).unlink(missing_ok=True)
        return []
    found = checks(made, read_cases(out / TRAIN))
    write_whole(out / CHECKS, data_card(found, made).encode("utf-8"))
    write_whole(out / SAMPLE, sample_page(made).encode("utf-8"))
    return found


def _stored(
    settings: "Settings", sources: Sequence[Path], summaries: Sequence[Path], **options: Any
) -> "ConstructInput":
    """The input of a graph, its texts in the store."""
    from longproof.construction.graph import ConstructInput
    from longproof.indexes.documents import DocumentStore
    from longproof.retrieval.files import home
    from longproof.retrieval.loaders import read_source

    store = DocumentStore(home(settings.home) / "documents")
    return ConstructInput(
        sources=[store.put(read_source(path)) for path in sources],
        summaries=[store.put(read_source(path)) for path in summaries],
        **options,
    )


def _run(
    kind: ConstructKind, given: "ConstructInput", settings: "Settings", progress: Progress | None
) -> "Provenance":
    """Through the graph to its result, on an event loop of its own; the ledger is closed in any case."""
    from longproof.construction.graph import construction_graph
    from longproof.construction.halueval import HALUEVAL
    from longproof.construction.longnovel import LONGNOVEL
    from longproof.construction.probe import PROBE
    from longproof.graphs.resources import Pool
    from longproof.graphs.verifier import run

    made_by = {"longnovel": LONGNOVEL, "probe": PROBE, "halueval": HALUEVAL}[kind]

    async def through() -> "Provenance":
        pool = Pool()
        done = False
        try:
            stream = construction_graph(pool, made_by).astream(
                given, context=settings, stream_mode=["custom", "values"], config={"recursion_limit": 1000}
            )
            result: Any = {}
            async for mode, part in stream:
                if mode == "values":
                    result = part
                elif progress is not None:
                    progress(cast(dict[str, Any], part))
            done = True
        finally:
            await pool.close("done" if done else "interrupted")
        return cast("Provenance", result["result"])

    return run(through())
