"""Making labelled data: from sources to a folder with cases, checks and a data card.

Knows: which construction a name stands for, how its models are opened, and what lies in the folder afterwards.
Does not know: how data are made.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from longproof.construction.case_files import CASES, TRAIN, Provenance, read_cases, refuse_other_files
from longproof.construction.checks import Check, checks, data_card
from longproof.construction.halueval import make_halueval
from longproof.construction.longnovel import make_longnovel
from longproof.construction.maker import Maker, Progress, Wanted
from longproof.construction.probe import make_probe
from longproof.graphs.run import Pool
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.verifier import run
from longproof.retrieval.files import write_whole
from longproof.retrieval.loaders import read_source
from longproof.retrieval.types import BadInput

Construction = Callable[[Maker], Awaitable[Provenance]]
CONSTRUCTIONS: dict[str, Construction] = {
    "longnovel": make_longnovel,
    "probe": make_probe,
    "halueval": make_halueval,
}
CHECKS = "checks.md"


class Constructed(NamedTuple):
    """A folder that holds a made set: how many cases, what was thrown away and why, calls, and what was found.

    `calls` are all that the set rests on, `bought` those that this run paid.
    """

    folder: Path
    made: int
    rejected: dict[str, int]
    calls: int
    bought: int
    checks: list[Check]


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
    refuse_other_files(out)
    wanted = Wanted(
        sources=list(map(read_source, sources)),
        out=out,
        summaries=list(map(read_source, summaries)),
        seed=seed,
        cases=cases,
        test_share=test_share,
        task=task,
        keep=keep,
    )
    chosen = settings_of({"judges": list(models), **settings})
    made = run(_make(CONSTRUCTIONS[kind], wanted, chosen, progress))
    return Constructed(out, made.made, made.rejected, made.calls, made.bought, write_checks(out))


async def _make(
    construction: Construction, wanted: Wanted, settings: Settings, progress: Progress | None
) -> Provenance:
    """Open the models, make the set; the ledger is closed in any case."""
    pool = Pool()
    try:
        panel = (await pool.session(settings)).panel
        if not panel.models:
            raise BadInput("this construction needs a language model: name one as openai:MODEL[@BASE_URL]")
        return await construction(Maker(wanted, panel.models, panel.decomposer, progress))
    finally:
        await pool.close()


def write_checks(out: Path) -> list[Check]:
    """Check the set in the folder, and write what was found beside it; no case, no checks."""
    made = read_cases(out / CASES)
    if not made:
        (out / CHECKS).unlink(missing_ok=True)
        return []
    found = checks(made, read_cases(out / TRAIN))
    write_whole(out / CHECKS, data_card(found).encode("utf-8"))
    return found
