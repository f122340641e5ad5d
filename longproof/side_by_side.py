"""All protocols on one case, beside each other: `verify --protocol all`, and what each would cost.

Knows: which rows are tried, skipped for their price or refused, and how they stand beside each other.
Does not know: how a protocol checks.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.table import Table

from longproof.agent.types import Report
from longproof.graphs.cost import cost, paid_judges
from longproof.graphs.protocol import Protocol
from longproof.graphs.protocols import PROTOCOLS
from longproof.retrieval.types import BadInput, Document

SOURCE, RESPONSE, JUDGES = 300_000, 1_000, 3


def protocol_table(source: int = SOURCE, response: int = RESPONSE, judges: int = JUDGES) -> Table:
    """Every protocol with the calls and passes that it would take at these sizes (characters)."""
    title = f"calls and passes for {source:,} characters of source, {response:,} of response, {judges} judges"
    table = Table(
        "protocol", "after", "what it is", "calls", "passes", box=None, pad_edge=False, caption=title
    )
    for row in PROTOCOLS.values():
        price = cost(row, source, response, judges)
        table.add_row(row.name, row.source, row.summary, f"{price.calls}", f"{price.passes:.2f}")
    return table


def side_by_side(
    check: Callable[[str], Report],
    documents: Sequence[Document],
    response: str,
    judges: int,
    max_passes: float,
) -> Table:
    """Run each protocol that can be run for at most `max_passes`; name the others, and why.

    `judges` counts the language models: without any, nothing is paid and nothing is skipped for its price.
    """
    table = Table("protocol", "verdict", "calls", "passes", "seconds", "why not", box=None, pad_edge=False)
    characters = sum(len(document.text) for document in documents)
    for row in PROTOCOLS.values():
        table.add_row(row.name, *_cells(row, check, characters, len(response), judges, max_passes))
    return table


def _cells(
    row: Protocol, check: Callable[[str], Report], source: int, response: int, judges: int, max_passes: float
) -> Iterator[str]:
    price = cost(row, source, response, judges)
    if judges and price.passes > max_passes:
        yield from ("", "", "", "", f"would cost {price.passes:.1f} passes, more than {max_passes:g}")
        return
    started = time.perf_counter()
    try:
        report = check(row.name)
    except BadInput as error:
        yield from ("", "", "", "", str(error))
        return
    spent = report.usage.prompt_characters / max(source, 1)
    seconds = time.perf_counter() - started
    yield from (report.verdict, f"{report.usage.calls}", f"{spent:.2f}", f"{seconds:.1f}", "")


def run_all(
    verified: Callable[..., Report],
    documents: Sequence[Document],
    response: str,
    settings: dict[str, Any],
    **case: Any,
) -> Table:
    """All protocols over the same settings. `max_passes` is taken out of `case`."""
    max_passes = case.pop("max_passes")
    models = paid_judges(settings["judges"])

    def check(name: str) -> Report:
        return verified(
            list(documents), response, settings={**settings, "protocol": name, "run_id": None}, **case
        )

    return side_by_side(check, documents, response, models, max_passes)
