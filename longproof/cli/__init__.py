"""The terminal's door: a file for each group of commands.

Knows: options, exit codes, what is printed. Does not know: any rule of judging.
"""

from longproof.cli.commands import main

__all__ = ["main"]
