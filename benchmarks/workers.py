"""How much faster two Ray workers check than one, side by side in one run, with the offline check.

The bundled stories and summaries, over and over: four different checks of about half a second each, so that what is
measured is checking, not handing out. Each case file has the same cases; the same number of them warms the workers
first (starting Ray, opening indexes) and is not counted.

    python benchmarks/workers.py --cases 120 --workers 1 2

Prints a line of JSON for each number of workers: seconds from the last warming report to the last report, processor
time of the workers a case in that time (Linux), and how often faster than the first row: `speedup` by the clock;
`speedup_cpu` is what the processor time allows: workers × CPU a case of the first row / CPU a case here.
Needs `pip install 'longproof[ray]'`, and as many free cores as workers.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

from longproof.batch.folder import check_cases
from longproof.batch.run import BatchProgress, EngineOptions
from longproof.examples import LANGUAGES, example

WORKER = "ray::MapWorker"


def write(path: Path, cases: int) -> None:
    """The case file: the four bundled checks in turn."""
    kinds = [example(language, summary) for language in LANGUAGES for summary in ("faithful", "hallucinated")]
    with path.open("w", encoding="utf-8") as file:
        for n in range(cases):
            source, response = kinds[n % len(kinds)]
            case = {"id": f"case-{n}", "source_text": source.text, "response": response.text}
            file.write(json.dumps(case) + "\n")


def worker_seconds() -> float:
    """Processor time so far of all living workers of this user's Ray."""
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().startswith(WORKER.encode()):
                fields = (folder / "stat").read_text("utf-8").rsplit(")", 1)[1].split()
                ticks += int(fields[11]) + int(fields[12])
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(cases: Path, count: int, workers: int, folder: Path) -> dict[str, float]:
    """Seconds by the clock and of the workers' processors for the second half of the cases."""
    marks: dict[int, tuple[float, float]] = {}

    def hear(word: BatchProgress) -> None:
        if word.done in (count, 2 * count):
            marks.setdefault(word.done, (time.perf_counter(), worker_seconds()))

    check_cases(
        cases,
        folder / f"out-{workers}",
        settings={"home": str(folder / f"home-{workers}"), "cache": False},
        options=EngineOptions(engine="ray", workers=workers, parallel=1),
        progress=hear,
    )
    (began, spent), (ended, in_all) = marks[count], marks[2 * count]
    return {"wall_s": round(ended - began, 2), "cpu_s_a_case": round((in_all - spent) / count, 4)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=120)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    told = parser.parse_args()
    first: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder / "cases.jsonl", 2 * told.cases)
        for workers in told.workers:
            found = measured(folder / "cases.jsonl", told.cases, workers, folder)
            first = first or {**found, "workers": workers}
            more = workers / first["workers"] * first["cpu_s_a_case"] / found["cpu_s_a_case"]
            said = {"speedup": round(first["wall_s"] / found["wall_s"], 2), "speedup_cpu": round(more, 2)}
            print(json.dumps({"workers": workers, "cases": told.cases} | found | said), flush=True)


if __name__ == "__main__":
    main()
