"""The command `longproof`, and `python -m longproof`.

Knows: an interrupt may come while the rest is imported. Does not know: any command.
"""

import os
import signal

INTERRUPTED = 130


def main() -> None:
    """Run the command in `sys.argv`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _quit)
    from longproof.cli import main as run_command

    run_command()


def _quit(number: int, frame: object) -> None:
    os.write(2, b"longproof: interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
