"""`longproof protocols` and `verify --protocol all`: what each protocol would cost, and all of them on one case.

Knows: which protocols are tried, skipped for their price or refused, and the columns of both tables.
Does not know: how a protocol checks.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from longproof.agent.types import Report
    from longproof.graphs.protocol import Protocol
    from longproof.retrieval.types import Document

SOURCE, RESPONSE, JUDGES = 300_000, 1_000, 3
"""The sizes, in characters, and the panel for which `longproof protocols` estimates the cost."""


def protocols_command() -> None:
    """The protocols that can be chosen, and what each would cost."""
    from rich.console import Console

    Console().print(protocol_table())


def protocol_table() -> "Table":
    """Every protocol with the calls and passes that it would take."""
    from rich.table import Column, Table

    from longproof.graphs.cost import cost
    from longproof.graphs.protocols import PROTOCOLS

    title = f"calls and passes for {SOURCE:,} characters of source, {RESPONSE:,} of response, {JUDGES} judges"
    table = Table(
        Column("protocol", no_wrap=True),
        "after",
        "what it is",
        "calls",
        "passes",
        box=None,
        pad_edge=False,
        caption=title,
    )
    for one in PROTOCOLS.values():
        price = cost(one, SOURCE, RESPONSE, JUDGES)
        table.add_row(one.name, one.cites, one.summary, f"{price.calls}", f"{price.passes:.2f}")
    return table


def print_all_protocols(
    check: "Callable[..., Report]",
    documents: "Sequence[Document]",
    given: dict[str, str],
    settings: dict[str, Any],
    max_passes: float,
) -> None:
    """Run each protocol that can be run for at most `max_passes`; name the others, and why.

    Without a language model nothing is paid, and nothing is skipped for its price.
    """
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    from longproof.graphs.cost import cost, paid_judges
    from longproof.graphs.protocols import PROTOCOLS
    from longproof.report.control_characters import visible

    table = Table(
        Column("protocol", no_wrap=True),
        "verdict",
        "calls",
        "passes",
        "seconds",
        "why not",
        box=None,
        pad_edge=False,
    )
    source, models = sum(len(document.text) for document in documents), paid_judges(settings["judges"])

    def cells(one: "Protocol") -> Iterator[str]:
        price = cost(one, source, len(given["response"]), models)
        if models and price.passes > max_passes:
            why = f"would cost {price.passes:.1f} passes, more than {max_passes:g}"
            return iter(("", "", "", "", why))
        return _result_cells(
            lambda: check(documents, {**settings, "protocol": one.name, "run_id": None}, **given), source
        )

    for one in PROTOCOLS.values():
        # As Text: what stands in brackets in a path is no markup.
        table.add_row(one.name, *(Text(" ".join(visible(cell).split())) for cell in cells(one)))
    Console().print(table)


def _result_cells(check: "Callable[[], Report]", source: int) -> Iterator[str]:
    from longproof.agent.models.model import Refused
    from longproof.retrieval.types import BadInput

    started = time.perf_counter()
    try:
        report = check()
    except Refused:
        raise
    except BadInput as error:
        yield from ("", "", "", "", str(error))
        return
    spent = report.usage.prompt_characters / max(source, 1)
    seconds = time.perf_counter() - started
    yield from (report.verdict, f"{report.usage.calls}", f"{spent:.2f}", f"{seconds:.1f}", "")
