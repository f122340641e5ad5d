"""Options that several commands share, each named once, and the settings that they come to.

Knows: a group of options is a dataclass, a command takes groups; options go before `longproof.toml`, which goes
before the offline check. Does not know: what a command does with its settings.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from inspect import Parameter, Signature
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

if TYPE_CHECKING:
    from longproof.agent.specs import Spec

TOML = Path("longproof.toml")
WORDS = {
    "FOLDER": ("out", "pages", "folder", "a", "b"),
    "SPEC": ("judge", "arbiter", "decomposer", "searcher", "model", "embedder"),
    "DATASET": ("dataset",),
}
"""What stands in every help for values of which the type says too little."""

Protocol = Annotated[str, typer.Option("--protocol", help="See `longproof protocols`.")]
Embedder = Annotated[
    str,
    typer.Option("--embedder", help="How the response is aligned: lexical, bge-m3, st:PATH, openai:MODEL."),
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="The files' encoding, where it can't be told.")
]
Cache = Annotated[bool, typer.Option(help="Keep paid answers, and never pay for them again.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the report as JSON; - prints it.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write the report as one HTML page.")]


@dataclass(frozen=True, kw_only=True)
class PanelOptions:
    """Who judges and searches, how far they look, and over which pages."""

    judge: Annotated[
        list[str] | None,
        typer.Option(
            help="A judge, once or more: openai:MODEL; openai:MODEL@http://HOST:PORT/v1 (vLLM, Ollama, any "
            "such server); nli:FOLDER (a model of entailment); offline (no model)."
        ),
    ] = None
    arbiter: Annotated[
        str | None, typer.Option(help="Who decides where the judges are split: a judge, or `person`.")
    ] = None
    decomposer: Annotated[str | None, typer.Option(help="Who cuts the response into claims.")] = None
    searcher: Annotated[
        str | None,
        typer.Option(
            help="Who searches and reads the whole source: a language model; else the first of the panel."
        ),
    ] = None
    reach: Annotated[
        Literal["place", "search", "scan"] | None,
        typer.Option(
            help="How far to look for a claim: at its place in the source, by a search of all of it, or by reading "
            "all of it (scan: as it is where nothing is said, up to a million characters)."
        ),
    ] = None
    cascade: Annotated[
        bool,
        typer.Option(
            "--cascade",
            help="The first judge reads all, the others what it doesn't clear and a twentieth more.",
        ),
    ] = False
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Ask once more about every wrong claim, beside its opposite.")
    ] = False
    pages: Annotated[
        Path | None, typer.Option(help="Saved web pages to consult about what the source doesn't have.")
    ] = None

    def settings(self, toml: Path = TOML) -> dict[str, Any]:
        """The settings that name the panel; whom the TOML file names is told on stderr.

        Raises BadInput where the file can't be read.
        """
        from longproof.agent.specs import PanelTable, read_panel

        table = read_panel(toml) if toml.exists() else PanelTable()
        judges = [] if self.judge else [*table.judges]
        roles = ("arbiter", "decomposer", "searcher")
        helpers = [None if getattr(self, role) else getattr(table, role) for role in roles]
        _tell(toml, [spec for spec in [*judges, *helpers] if spec])
        named: list[Spec | str] = list(self.judge or table.judges)
        return {
            "judges": named or ["offline"],
            **{role: getattr(self, role) or getattr(table, role) for role in roles},
            "reach": self.reach,
            "cascade": self.cascade,
            "consensus": table.consensus,
            **({"confirm": True} if self.confirm else {}),
            "pages": str(self.pages) if self.pages else None,
            **table.model_dump(include={"stream", "timeout_s"}, exclude_none=True),
        }


def _tell(toml: Path, named: "Sequence[Spec | str]") -> None:
    """Name on stderr whom the file names, and whether a key goes along: the folder may be somebody else's."""
    for one in dict.fromkeys(named):
        where = one if isinstance(one, str) else one.text
        withheld = not isinstance(one, str) and one.keyless
        why = " without a key: LONGPROOF_API_KEY_HOSTS does not list its host" if withheld else ""
        typer.echo(f"longproof: {toml} names {where}{why}", err=True)


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    """How models are asked, what may be paid, and the run's name."""

    concurrency: Annotated[int, typer.Option(min=1, help="Calls under way at once, for each endpoint.")] = 16
    max_calls: Annotated[
        int | None, typer.Option(min=0, help="Calls that may be paid; the rest stays undecided.")
    ] = None
    max_tokens: Annotated[
        int | None, typer.Option(min=0, help="Tokens that may be paid; the rest stays undecided.")
    ] = None
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Ask again where a kept answer came to nothing; a batch takes up undecided cases, too.",
        ),
    ] = False
    run_id: Annotated[
        str | None, typer.Option(help="A name for this run; the same case goes on where it stopped.")
    ] = None
    prices: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file with a [prices] table: what a million tokens cost, by model (else longproof.toml's)."
        ),
    ] = None

    def settings(self, toml: Path = TOML) -> dict[str, Any]:
        """The settings of these names. Raises BadInput where the file of prices can't be read."""
        from longproof.agent.models.prices import read_prices
        from longproof.retrieval.types import BadInput

        named = {field.name: getattr(self, field.name) for field in fields(self)}
        where = self.prices or toml
        prices = read_prices(where) if self.prices or toml.exists() else {}
        if self.prices and not prices:
            raise BadInput(f"{self.prices} names no prices: give a [prices] table")
        return {**named, "prices": prices}


def reach_settings(toml: Path = TOML) -> dict[str, Any]:
    """What the TOML file says of how servers are reached: `stream` and `timeout_s`, and nothing of whom to ask.

    Raises BadInput where it can't be read.
    """
    from longproof.agent.specs import read_panel

    return (
        read_panel(toml).model_dump(include={"stream", "timeout_s"}, exclude_none=True)
        if toml.exists()
        else {}
    )


def run_name(given: str | None) -> str:
    """The run's name: the one given, else the time and a few random letters."""
    return given or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(2)}"


def add_command(app: typer.Typer, name: str, function: Callable[..., None]) -> None:
    """Add a command whose parameters are groups of options: each field of their dataclasses is an option."""
    groups = {key: group for key, group in get_type_hints(function).items() if key != "return"}

    def command(**given: Any) -> None:
        function(
            **{
                key: group(**{field.name: given[field.name] for field in fields(group)})
                for key, group in groups.items()
            }
        )

    options = [option for group in groups.values() for option in _options(group)]
    command.__signature__ = Signature(options)  # type: ignore[attr-defined]
    app.command(name, help=function.__doc__, cls=PlainCommand)(command)


class PlainCommand(TyperCommand):
    """A command whose help names values as a person does: Typer names their Python types."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        for one in self.params:
            if isinstance(one, TyperArgument | TyperOption):
                one.metavar = _word(one)

    def get_help(self, ctx: Any) -> str:
        """The help, arguments without braces and types."""
        plain = re.sub(r" <[^<>\n]+>(?=  )", lambda found: " " * len(found[0]), super().get_help(ctx))
        return re.sub(r"\{([A-Z_]+)\}", r"\1", plain)


def _word(one: TyperArgument | TyperOption) -> str:
    """What stands for a value in every help: FOLDER, SPEC, FILE, N, NAME, or what can be chosen."""
    named = next((word for word, names in WORDS.items() if one.name in names), None)
    kind = str(one.type_descriptor.annotation)
    by_type = "FILE" if "Path" in kind else "N" if "int" in kind or "float" in kind else "NAME"
    return named or "|".join(one.type_descriptor.choices or ()) or by_type


def _options(group: Any) -> list[Parameter]:
    """The parameters that make a dataclass, with their annotations for Typer."""
    return [
        parameter.replace(annotation=get_type_hints(group, include_extras=True)[name])
        for name, parameter in Signature.from_callable(group).parameters.items()
    ]
