"""The terminal's door: the list of all commands, and `main`, which runs one.

Knows: which function each command is; that no failure may look like a verdict; that `--help` imports neither
langgraph nor openai: each command imports what it needs. Does not know: any rule of judging.
"""

import errno
import os
import shlex
import signal
import sys
import traceback
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from secrets import token_hex
from typing import Annotated, Any

import typer

from longproof import __version__
from longproof.__main__ import INTERRUPTED
from longproof.agent.models.addresses import key_variables, without_keys
from longproof.cli import doctor, reports, runs, serve, verify
from longproof.cli.options import CHECKED, COST, EVERY_SETTING, OUT, SETTINGS, PlainCommand, add_command
from longproof.retrieval.files import home, write_lines
from longproof.retrieval.text.redact import one_line, without
from longproof.retrieval.types import BadInput

UNUSABLE, UNFORESEEN, PIPE_CLOSED = 2, 70, 141

OF_VERIFY = {"": CHECKED, "dry_run": COST, **dict.fromkeys(("json", "html", "check"), OUT)}

app = typer.Typer(
    name="longproof",
    help="Is a text faithful to a long source? Claim by claim, with the places in both.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def bare(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """`longproof` alone: its version where that is asked for, else its help."""
    if version:
        typer.echo(f"longproof {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


add_command(app, "verify", verify.verify_command, headings=OF_VERIFY)
app.command("demo", cls=PlainCommand)(verify.demo_command)
app.command("report", cls=PlainCommand)(reports.report_command)
add_command(app, "batch", runs.batch_command, headings={"": CHECKED})
add_command(app, "construct", runs.construct_command, settings={*SETTINGS[COST], "run_id"})
add_command(app, "evaluate", runs.evaluate_command, headings={"": CHECKED})
app.command("compare", cls=PlainCommand)(runs.compare_command)
app.command("review", cls=PlainCommand)(reports.review_command)
app.command("index", cls=PlainCommand)(runs.index_command)
add_command(app, "serve", serve.serve_command, settings={*EVERY_SETTING} - {"protocol", "run_id"})
add_command(app, "mcp", serve.mcp_command, settings={*EVERY_SETTING} - {"run_id"})
app.command("protocols", cls=PlainCommand)(doctor.protocols_command)
app.command("doctor", cls=PlainCommand)(doctor.doctor_command)


def main(arguments: list[str] | None = None) -> None:
    """Run a command. What can't be used exits with 2 and one line on stderr, an interrupt with 130, an unforeseen
    error with 70, a reader of our output that went away with 141, as a shell says it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    # LangGraph reads it once: checkpoints give back the types that the graphs name, and no others.
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    # A run that is told to end (systemd, docker stop) ends as one that is interrupted: nothing is lost.
    ends = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        ends.append(signal.SIGINT)
    again = shlex.join(["longproof", *(sys.argv[1:] if arguments is None else arguments)])
    interrupted = f"longproof: interrupted; what was answered is kept; go on with: {again}\n"

    def stop(number: int, frame: object) -> None:
        """Say at once that the run stops, and stop it: calls under way may take a while to end. Then end at once."""
        for each in ends:
            signal.signal(each, partial(_end, INTERRUPTED, interrupted))
        sys.stderr.write("longproof: stopping\n")
        raise KeyboardInterrupt

    def end_unraised(unraisable: Any) -> None:
        """End at once where the interrupt came inside code that can't raise."""
        if unraisable.exc_type is KeyboardInterrupt:
            _end(INTERRUPTED, interrupted)
        sys.__unraisablehook__(unraisable)

    for each in ends:
        signal.signal(each, stop)
    sys.unraisablehook = end_unraised
    try:
        code = _run_command(arguments)
        for each in ends:
            signal.signal(each, partial(_end, code, ""))
        sys.exit(code)
    except KeyboardInterrupt:
        sys.stderr.write(interrupted)
        sys.exit(INTERRUPTED)
    except Exception as error:
        # Python writes what is left on stdout at its end, and exits with 120 where it can't: it goes nowhere.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
        if isinstance(error, BrokenPipeError):
            sys.exit(PIPE_CLOSED)
        if isinstance(error, OSError) and error.errno in _OF_FILES:
            what = f"use {error.filename}" if error.filename else "write"
            sys.exit(_refuse(f"can't {what}: {error.strerror}"))
        sys.stderr.write(f"longproof: unforeseen {type(error).__name__}; {_save_traceback(error)}\n")
        sys.exit(UNFORESEEN)


_OF_FILES = frozenset(
    [
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
        *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR),
    ]
)
"""What is wrong with a disk, a folder or a file's name: no defect of ours."""


def _end(code: int, last_words: str, *signal_: object) -> None:
    """End the process at once: what was answered is kept, and nothing else is worth waiting for."""
    os.write(2, last_words.encode("utf-8", "replace"))
    os._exit(code)


def _run_command(arguments: list[str] | None) -> int:
    """Run a command to its end; its exit code."""
    from typer.exceptions import Abort, TyperException

    try:
        code = int(app(arguments, standalone_mode=False) or 0)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.stdout.flush()
    except BadInput as error:
        return _refuse(str(error))
    except TyperException as error:
        return _refuse(error.format_message())
    except SystemExit as error:
        # Typer and Rich exit with 1 where a pipe is closed, which under --check is a verdict.
        if isinstance(error.__context__, BrokenPipeError):
            raise error.__context__ from error
        raise
    except Abort as error:
        raise KeyboardInterrupt from error
    return code


def _refuse(message: str) -> int:
    """Say it in one line, whatever the message holds: file names may hold line breaks and terminal codes."""
    sys.stderr.write(f"longproof: {one_line(without_keys(message, by_chance=True))}\n")
    return UNUSABLE


def _save_traceback(error: Exception) -> str:
    """Save the traceback in a file for its owner alone, without keys from the environment, and say where."""
    text = "".join(traceback.format_exception(error))
    for name in key_variables():
        text = without(os.environ.get(name, "").strip(), text, f"[{name}]")
    try:
        path = home() / "errors" / f"{token_hex(4)}.txt"
        write_lines(path, [text])
    except (OSError, BadInput):
        return "its traceback can't be saved: make the data folder writable"
    return f"its traceback: {str(path)!r}"
