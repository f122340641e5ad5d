"""One claim's way through the house: how many files and functions it takes to check it.

    PYTHONPATH=tests python benchmarks/journey.py

A source of 400,000 characters, two scripted judges that disagree, an arbiter, one claim; the second check of an
open verifier is traced, so that nothing is built or imported on the way.
"""

import asyncio
import sys
import threading
from collections import Counter, defaultdict
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


async def trace_check() -> dict[str, Counter[str]]:
    """The calls of each file's functions in the second check, on one event loop."""
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
    called = defaultdict[str, Counter[str]](Counter)

    def trace(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)) and not code.co_name.startswith("<"):
            called[str(Path(code.co_filename).relative_to(ROOT))][code.co_qualname] += 1

    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        await verifier.averify(source, FACT)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    await verifier.close()
    return called


def main() -> None:
    """Print the counts, then the functions by file."""
    called = asyncio.run(trace_check())
    print(f"{len(called)} files, {sum(map(len, called.values()))} functions")
    for path, functions in sorted(called.items()):
        print(f"  {path}: " + ", ".join(f"{name} {n}" for name, n in functions.items()))


if __name__ == "__main__":
    main()
