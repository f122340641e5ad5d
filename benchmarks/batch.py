"""Many small cases through `longproof batch`'s runner, offline: does memory stay flat, and what does a case cost?

A thousand sources of some ten sentences, ten cases each, two sentences a case; every tenth response is wrong.

    python benchmarks/batch.py --cases 10000

Prints a line of JSON each tenth of the way: cases done, resident memory now and CPU time a case since the start.
With `--engine ray --workers N` the CPU time is that of the workers (`pip install 'longproof[ray]'`).
"""

import argparse
import json
import os
import resource
import tempfile
import time
from pathlib import Path

from longproof.batch.folder import check_cases
from longproof.batch.run import BatchProgress, EngineOptions


def write(path: Path, cases: int) -> None:
    """The case file."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(cases):
            book = n // 10
            log = "".join(
                f"On day {day} the keeper of light {book} sold {100 + (book * 7 + day * 13) % 800} lamps.\n"
                for day in range(1, 11)
            )
            day = n % 9 + 1
            sold = 100 + (book * 7 + day * 13) % 800 + (5 if n % 10 == 3 else 0)
            response = (
                f"The keeper of light {book} sold {sold} lamps on day {day}. The light is light {book}."
            )
            file.write(json.dumps({"id": f"case-{n}", "source_text": log, "response": response}) + "\n")


def resident_mb() -> int:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text("utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    parser.add_argument("--workers", type=int, default=2)
    told = parser.parse_args()
    began = time.perf_counter()

    def hear(word: BatchProgress) -> None:
        if word.done and word.done % (told.cases // 10) == 0:
            spent = resource.getrusage(resource.RUSAGE_SELF)
            cpu = spent.ru_utime + spent.ru_stime
            said = {
                "done": word.done,
                "resident_mb": resident_mb(),
                "wall_s": round(time.perf_counter() - began),
            }
            print(json.dumps(said | {"cpu_ms_a_case": round(1000 * cpu / word.done, 1)}), flush=True)

    with tempfile.TemporaryDirectory() as folder:
        cases = Path(folder) / "cases.jsonl"
        write(cases, told.cases)
        settings = {"home": f"{folder}/home"}
        done = check_cases(
            cases,
            Path(folder) / "out",
            settings=settings,
            options=EngineOptions(engine=told.engine, workers=told.workers),
            progress=hear,
        )
        print(
            json.dumps(
                {"verdicts": done.verdicts, "failed": done.states["failed"], "resident_mb": resident_mb()}
            )
        )


if __name__ == "__main__":
    main()
