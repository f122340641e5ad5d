"""`longproof trust`: how far the judges of a run may be trusted, by their votes.

Knows: where votes are found: an evaluation's folder, a batch's, saved reports.
Does not know: how rates are estimated.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from longproof.evaluation.trust import Deciding, VotedClaims

NOTE = (
    "Estimated without labels (Dawid and Skene, 1979), as if judges erred independently of each other: judges who "
    "share mistakes, above all samples of one model, are worse than this says."
)


def trust_command(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of `evaluate` or `batch`, or JSON reports and folders of them; no names of runs."
        ),
    ],
    consensus: Annotated[
        float | None,
        typer.Option(
            min=0.01, max=1, help="Share of the panel that must agree; the runs' own, if not given."
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the judges' rates, for `verify --max-risk --reliability`.")
    ] = None,
) -> None:
    """How often each judge is right, told from votes alone. And what that means for long texts."""
    from longproof.agent.trust.reliability import reliability_of, unidentifiable
    from longproof.evaluation.tables import score_tables
    from longproof.evaluation.trust import trust_sections
    from longproof.retrieval.files import write_whole
    from longproof.retrieval.types import BadInput

    voted, rules = _voted(runs)
    found = trust_sections(voted, [one._replace(consensus=consensus or one.consensus) for one in rules])
    if not found:
        raise BadInput(
            f"{', '.join(map(str, runs))}: fewer than two judges voted, or none whose votes were kept"
        )
    title = f"{len(voted.votes):,} claims of {len(set(voted.responses)):,} responses or sources"
    typer.echo(score_tables(title, found, NOTE))
    if save and (why := unidentifiable(voted.votes)):
        raise BadInput(f"there are no rates to save: {why}")
    if save:
        write_whole(save, (reliability_of(voted.votes).model_dump_json(indent=1) + "\n").encode())


def _voted(runs: Sequence[Path]) -> "tuple[VotedClaims, list[Deciding]]":
    """The votes of all these runs together, and by which rules they decided."""
    from longproof.evaluation.trust import VotedClaims

    each = [found for run in runs for found in _of_run(run)]
    voted = VotedClaims(
        [votes for found, _ in each for votes in found.votes],
        [f"{number} {name}" for number, (found, _) in enumerate(each) for name in found.responses],
        [gold for found, _ in each for gold in found.gold],
    )
    return voted, [rule for _, rule in each]


def _of_run(run: Path) -> "Iterator[tuple[VotedClaims, Deciding]]":
    """The votes of an evaluation, else of each report."""
    from longproof.agent.trust.reliability import panel_votes
    from longproof.batch.run import REPORTS
    from longproof.cli.reports import report_files
    from longproof.evaluation.folder import run_settings
    from longproof.evaluation.results import FILE, results_of
    from longproof.evaluation.trust import (
        Deciding,
        VotedClaims,
        report_deciding,
        run_deciding,
        voted_claims,
    )
    from longproof.report.saved import open_report

    if (run / FILE).is_file():
        known, found = run_settings(run), voted_claims(results_of(run))
        judges = tuple(sorted({judge for votes in found.votes for judge in votes}))
        yield found, (run_deciding(known) if known else Deciding())._replace(judges=judges)
        return
    for file in report_files([run / REPORTS if (run / REPORTS).is_dir() else run]):
        report = open_report(file)
        votes = panel_votes(report)
        yield (
            VotedClaims(list(votes), ["response"] * len(votes), [None] * len(votes)),
            report_deciding(report),
        )
