"""One claim's way through the house: how many files, functions and changes of room it takes to check it.

    PYTHONPATH=tests python benchmarks/journey.py

A source of 400,000 characters, two scripted judges that disagree, an arbiter, one claim; the second check of an
open verifier is traced, so that nothing is built or imported on the way. A room is a folder.
"""

import asyncio
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

from scripted import ScriptedArbiter, ScriptedJudge, WholeSentences

import longproof
from longproof import Verifier

ROOT = Path(longproof.__file__).parent
FACT = "Ada sold the boat to Tom for twenty pounds."
LINE = "Chapter {n}. The {n}th day passed and rain fell on the {n} hills of the north."


class Trace:
    """Calls of functions in the house's files, and how often the room changes between them."""

    def __init__(self) -> None:
        self.functions: Counter[tuple[str, str]] = Counter()
        self.changes, self._room = 0, ""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Hears of every call."""
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(str(ROOT)) or frame.f_code.co_name.startswith("<"):
            return
        path = Path(name).relative_to(ROOT)
        self.functions[str(path), frame.f_code.co_qualname] += 1
        room = str(path.parent)
        self.changes += room != self._room
        self._room = room


async def trace_check() -> Trace:
    """Trace the second check on one event loop, by a panel of two that disagree, and an arbiter."""
    lines = "\n".join(LINE.format(n=n) for n in range(5000))[:400_000]
    source = lines[:200_000] + "\n" + FACT + "\n" + lines[200_000:]
    verifier = Verifier(
        [ScriptedJudge("a", "not_found"), ScriptedJudge("b", "explicitly_supported")],
        arbiter=ScriptedArbiter("implicitly_supported"),
        decomposer=WholeSentences(),
    )
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    await verifier.averify(source, FACT)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        await verifier.averify(source, FACT)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    await verifier.close()
    return trace


def main() -> None:
    """Print the counts, then the functions by file."""
    trace = asyncio.run(trace_check())
    files = sorted({path for path, _ in trace.functions})
    print(f"{len(files)} files, {len(trace.functions)} functions, {trace.changes} changes of room")
    for path in files:
        called = {name: n for (at, name), n in trace.functions.items() if at == path}
        print(f"  {path}: " + ", ".join(f"{name} {n}" for name, n in called.items()))


if __name__ == "__main__":
    main()
