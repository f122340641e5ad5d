"""Options: those of every setting, made from `Settings`, beside a command's own.

Knows: the headings of a command's help; options go before `longproof.toml`.
Does not know: what a setting does, or what a command does with its settings.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from copy import copy
from datetime import UTC, datetime
from inspect import Parameter, Signature, signature
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from longproof.agent.models.limits import read_prices
from longproof.agent.specs import PanelTable, as_spec, read_panel
from longproof.graphs.settings import Settings
from longproof.retrieval.types import BadInput

TOML = Path("longproof.toml")
CHECKED, JUDGES, FAR = "What is checked", "Who judges", "How far"
COST, OUT = "What it may cost", "What comes out"
SETTINGS: Mapping[str, tuple[str, ...]] = {
    CHECKED: ("protocol",),
    JUDGES: ("judges", "arbiter", "decomposer", "searcher", "decompose", "cascade", "consensus", "confirm"),
    FAR: ("reach", "pages", "embedder"),
    COST: (
        "max_calls",
        "max_tokens",
        "prices",
        "concurrency",
        "timeout_s",
        "stream",
        "cache",
        "retry_failed",
    ),
    OUT: ("run_id", "may_state_no_fact"),
}
"""The settings that are options, under their headings. Two are none: `home` (LONGPROOF_HOME says it) and `sample`."""
EVERY_SETTING = tuple(name for names in SETTINGS.values() for name in names)
AS_OPTION: Mapping[str, tuple[str, Any, str]] = {
    "judges": ("--judge", list[str], " May be repeated."),
    "prices": ("--prices", Path, " A TOML file with a [prices] table; else longproof.toml's."),
    **dict.fromkeys(("arbiter", "decomposer", "searcher"), ("", str, "")),
}
"""Settings that are written otherwise on a command line: their option, its type, and what its help adds."""
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="The files' encoding, where it can't be told.")
]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the report as JSON; - prints it.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write the report as one HTML page.")]


class SettingOptions:
    """The settings that a command has as options, and those of them that were given."""

    def __init__(self, **options: Any) -> None:
        self.names = options.keys()
        self.given = {name: value for name, value in options.items() if value not in (None, [])}

    @property
    def run_id(self) -> str:
        """The run's name: the one given, else the time and a few random letters."""
        return self.given.get("run_id") or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(2)}"

    def settings(self, toml: Path = TOML) -> dict[str, Any]:
        """The settings that options and the TOML file come to. Raises BadInput for a file that says what is unknown,
        and for prices that fit no judge.

        Stderr names whom the file names, and who decides where judges disagree: they may be asked, and paid.
        """
        table = read_panel(toml) if toml.exists() else PanelTable()
        in_file = {name: getattr(table, name) for name in table.model_fields_set & self.names}
        in_file = {name: value for name, value in in_file.items() if value}
        _tell_names(toml, {name: value for name, value in in_file.items() if name not in self.given})
        settings: dict[str, Any] = {**in_file, **self.given}
        if "judges" in self.names:
            settings.setdefault("judges", ["offline"])
        judges = settings.get("judges", [])
        models = [judge for judge in map(as_spec, judges) if judge.is_model]
        if path := self.given.get("prices"):
            settings["prices"] = prices = read_prices(path)
            if not prices:
                raise BadInput(f"{path} names no prices: give a [prices] table")
            names = [judge.model for judge in models]
            if names and not prices.keys() & {*names}:
                raise BadInput(f"{path} has prices for {', '.join(prices)}, and none for {', '.join(names)}")
        elif toml.exists():
            settings["prices"] = read_prices(toml)
        if "arbiter" in self.names and models and len(judges) > 1 and not settings.get("arbiter"):
            told = f"where judges disagree, {models[0].text} decides; --arbiter names another"
            typer.echo(f"longproof: {told}", err=True)
        return settings


def _tell_names(toml: Path, named: Mapping[str, Any]) -> None:
    """Say on stderr whom the file names, and whether a key goes along: the folder may be somebody else's."""
    roles = [named[role] for role in ("arbiter", "decomposer", "searcher") if role in named]
    for one in dict.fromkeys([*named.get("judges", ()), *roles]):
        where = one if isinstance(one, str) else one.text
        withheld = not isinstance(one, str) and one.keyless
        why = " without a key: LONGPROOF_API_KEY_HOSTS does not list its host" if withheld else ""
        typer.echo(f"longproof: {toml} names {where}{why}", err=True)


def add_command(
    app: typer.Typer,
    name: str,
    function: Callable[..., None],
    settings: Collection[str] = EVERY_SETTING,
    headings: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add a command: a function of options of its own, and of `asked`, which has these settings as options.

    `headings` are those of its own options in its help, by name; under "" that of the others.
    """
    hints: Any = get_type_hints(function, include_extras=True)
    own: list[Parameter] = []
    for parameter in signature(function).parameters.values():
        if parameter.name != "asked":
            annotation = hints[parameter.name]
            option = copy(annotation.__metadata__[0])
            option.rich_help_panel = headings.get(parameter.name, headings.get(""))
            shown: Any = Annotated[annotation.__origin__, option]
            own.append(parameter.replace(annotation=shown, kind=Parameter.KEYWORD_ONLY))
    of_settings = [_setting_option(setting) for setting in EVERY_SETTING if setting in settings]

    def command(**given: Any) -> None:
        asked = SettingOptions(**{one.name: given.pop(one.name) for one in of_settings})
        function(asked, **given)

    command.__signature__ = Signature([*own, *of_settings])  # type: ignore[attr-defined]
    app.command(name, help=function.__doc__, cls=PlainCommand)(command)


def _setting_option(name: str) -> Parameter:
    """The option of a setting. Left out it is None, so that `longproof.toml` may say it."""
    field = Settings.model_fields[name]
    flag, kind, more = AS_OPTION.get(name, ("", field.annotation, ""))
    flag = flag or f"--{name.replace('_', '-')}"
    if kind is bool and field.default:
        flag += f"/--no{flag[1:]}"
    default = "offline" if name == "judges" else field.default
    option = typer.Option(
        flag,
        help=f"{field.description}{more}",
        show_default=str(default) if default and not isinstance(default, bool | dict) else False,
        min=next((one.ge for one in field.metadata if hasattr(one, "ge")), None),
        rich_help_panel=next(heading for heading, names in SETTINGS.items() if name in names),
    )
    plain = kind if type(None) in get_args(kind) else kind | None
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[plain, option])


class PlainCommand(TyperCommand):
    """A command whose help has its options under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, each under its heading; those that many commands have come last."""
        rows = defaultdict(list)
        for one in self.get_params(ctx):
            if record := one.get_help_record(ctx):
                rows[getattr(one, "rich_help_panel", None) or "Options"].append(record)
        order = [*SETTINGS, "Options"]
        for heading in sorted(rows, key=order.index):
            with formatter.section(heading):
                formatter.write_dl(rows[heading])
