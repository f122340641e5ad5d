"""`longproof protocols`: the protocols that can be chosen.

Does not know: how a protocol checks.
"""


def protocols_command() -> None:
    """The protocols that can be chosen, and their papers."""
    from rich.console import Console
    from rich.table import Column, Table

    from longproof.graphs.protocols import protocols

    table = Table(Column("protocol", no_wrap=True), "after", "what it is", box=None, pad_edge=False)
    for one in protocols().values():
        table.add_row(one.name, one.cites, one.summary)
    Console().print(table)
