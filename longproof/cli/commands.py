"""The list of all commands, and `main`: exit code 2 and one line for what can't be used, 130 when interrupted.

Knows: which function each command is. Does not know: any rule of judging.
Answers `--help` without importing langgraph or openai: each command imports what it needs.
"""

import os
import shlex
import sys
from io import TextIOWrapper

import typer

from longproof.cli.batch import batch_command
from longproof.cli.construct import construct_command
from longproof.cli.doctor import doctor_command, runs_command
from longproof.cli.evaluate import compare_command, evaluate_command
from longproof.cli.index import index_command
from longproof.cli.mcp import mcp_command
from longproof.cli.options import add_command
from longproof.cli.protocols import protocols_command
from longproof.cli.reports import report_command
from longproof.cli.review import review_command
from longproof.cli.verify import demo_command, verify_command

UNUSABLE, INTERRUPTED = 2, 130

app = typer.Typer(
    name="longproof",
    help="Is a text faithful to a long source? Claim by claim, with the places in both.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
add_command(app, "verify", verify_command)
app.command("demo")(demo_command)
app.command("report")(report_command)
add_command(app, "batch", batch_command)
add_command(app, "construct", construct_command)
add_command(app, "evaluate", evaluate_command)
app.command("compare")(compare_command)
app.command("review")(review_command)
app.command("index")(index_command)
app.command("runs")(runs_command)
add_command(app, "mcp", mcp_command)
app.command("protocols")(protocols_command)
app.command("doctor")(doctor_command)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; exit with 2 and one line on stderr for what can't be used, 130 when interrupted."""
    from typer.exceptions import Abort, TyperException

    from longproof.retrieval.types import BadInput

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = app(arguments, standalone_mode=False) or 0
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code)
    except BadInput as error:
        _refuse(str(error))
    except TyperException as error:
        _refuse(error.format_message())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (KeyboardInterrupt, Abort):
        again = shlex.join(["longproof", *(sys.argv[1:] if arguments is None else arguments)])
        sys.stderr.write(f"longproof: interrupted; what was answered is kept; go on with: {again}\n")
        sys.exit(INTERRUPTED)


def _refuse(message: str) -> None:
    """One line, whatever the message holds: file names may hold line breaks and terminal codes."""
    line = "".join(c if c.isprintable() else " " for c in message)
    sys.stderr.write(f"longproof: {line}\n")
    sys.exit(UNUSABLE)
