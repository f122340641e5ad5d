"""`longproof protocols` and `verify --protocol all`: what each protocol would cost, and all of them on one case.

Knows: which protocols are tried, skipped for their price or refused, and what is told of each.
Does not know: how a protocol checks.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from longproof.agent.types import Report, ReportClaim
    from longproof.retrieval.types import Document

WRONG = 5
"""How many wrong places `--protocol all` shows of each protocol; of the others it tells the number."""
SHORT = 16_000
"""Characters of source that a shorter one counts as where protocols are skipped for their price."""
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
    """Run each protocol that can be run for at most `max_passes`, and tell what it found; then name the others.

    Without a language model nothing is paid, and nothing is skipped for its price. Raises BadInput where no judge
    answered the first: the others would wait for the same server.
    """
    from longproof.agent.models.model import Refused
    from longproof.agent.report import judges_failures, unanswered
    from longproof.cli.verify import no_answer
    from longproof.graphs.cost import cost, paid_judges
    from longproof.graphs.protocols import PROTOCOLS
    from longproof.retrieval.types import BadInput

    source, models = sum(len(document.text) for document in documents), paid_judges(settings["judges"])
    left_out: dict[str, list[str]] = {}
    answered = False
    for one in PROTOCOLS.values():
        passes = cost(one, source, len(given["response"]), models).passes
        if models and passes * source > max_passes * max(source, SHORT):
            why = f"would read the source more than {max_passes:g} times (--max-passes)"
            left_out.setdefault(why, []).append(f"{one.name} ({passes:.1f})")
            continue
        try:
            report = check(documents, {**settings, "protocol": one.name, "run_id": None}, **given)
        except Refused:
            raise
        except BadInput as error:
            why = str(error).removeprefix(f"the protocol {one.name} ")
            left_out.setdefault(why, []).append(one.name)
            continue
        why = no_answer(report)
        if why and not answered and unanswered(judges_failures(report)):
            raise BadInput(why)
        answered = True
        _print_found(one.name, report, why)
    for why, names in left_out.items():
        _print_lines(f"not run ({why}):", [", ".join(names)])


def _print_found(name: str, report: "Report", no_use: str) -> None:
    """What a protocol found: its outcome, where the response is wrong, and what that took."""
    from longproof.report.summary import cost_line, language, outcome_line, wrong_claims
    from longproof.report.words import SIGNS, words

    say = words(language(report.case.response))
    bad = wrong_claims(report)
    lines = [no_use] if no_use else [_wrong_line(claim, report, say) for claim in bad[:WRONG]]
    lines += [say["more_n"].format(n=len(bad) - WRONG)] if len(bad) > WRONG else []
    seconds = say["seconds_n"].format(n=f"{report.stamp['seconds']:.1f}")
    outcome = f"{SIGNS[report.verdict]} {say[report.verdict]}{say['comma']}{outcome_line(report, say)}"
    _print_lines(f"{name}: {outcome}", [*lines, f"{cost_line(report, say)} · {seconds}"])


def _wrong_line(claim: "ReportClaim", report: "Report", say: "Mapping[str, str]") -> str:
    """A wrong claim: its label, its sentence, and the words that are wrong."""
    from longproof.report.summary import short

    places = [error.span.text for error in claim.errors] or [claim.origin.text]
    told = say["comma"].join(f"«{short(text)}»" for text in places)
    label, sentence = say[str(claim.label)], report.sentences[claim.sentence].text
    where = say["sentence_n"].format(n=claim.sentence + 1)
    return f"{label}, {where}{say['colon']}{told}{say['in_brackets'].format(text=short(sentence, 100))}"


def _print_lines(head: str, lines: Sequence[str]) -> None:
    """A line, and others under it; what stands in brackets in a path is no markup."""
    from rich.console import Console
    from rich.text import Text

    from longproof.report.control_characters import visible
    from longproof.report.terminal import WIDEST, wrap_text

    console = Console()
    width = min(console.width, WIDEST)
    for line, indent in [(head, ""), *((line, "    ") for line in lines)]:
        text = wrap_text(Text(" ".join(visible(line).split())), width - len(indent))
        for row in text.split("\n", allow_blank=True):
            console.print(Text(indent).append_text(row), highlight=False, soft_wrap=True)
    console.print()
