"""How the wall time of a ten-sentence check grows with its source, the index warm, and whose time it is.

The scripted server of `perfect.py` answers each call after a fixed time. Each source is checked once before, as by
somebody who checks a second response; then all of them in turn, over and over, so that other work on the machine
meets all alike. Three judges, one decomposer, 64 calls at once, no answers kept.

    PYTHONPATH=tests python benchmarks/growth.py --sources 20000 400000 4000000 --repeats 5

Prints a line of JSON for each source: best and median wall seconds, median CPU seconds of the check and of the
server, calls and passes, and how much more than the first source's the wall times are. `--planted`: the response has
one wrong number, which is looked at more widely. `--profile SOURCE` shows instead where one check's time goes.
"""

import argparse
import cProfile
import json
import multiprocessing
import os
import pstats
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from statistics import median

from peers import with_longproof_warm
from perfect import made, serve

Time = tuple[float, float, float]
"""Seconds of the wall, of our processor time, of the server's."""


def once(check: Callable[[], bool], line: Connection) -> tuple[Time, int, int]:
    """Times, calls and prompt characters of one check."""
    line.send(True)
    line.recv()
    began, spent = time.perf_counter(), time.process_time()
    check()
    took, own = time.perf_counter() - began, time.process_time() - spent
    line.send(True)
    calls, characters, _, server = line.recv()
    return (took, own, server), calls, characters


def told_of(source: int, times: list[Time], calls: int, characters: int) -> dict[str, float]:
    """What is printed of one source."""
    wall, own, server = (sorted(one) for one in zip(*times, strict=True))
    return {
        "source": source,
        "calls": calls,
        "passes": round(characters / source, 2),
        "best_s": round(wall[0], 3),
        "median_s": round(median(wall), 3),
        "own_cpu_s": round(median(own), 3),
        "server_cpu_s": round(median(server), 3),
    }


def measured(checks: dict[int, Callable[[], bool]], repeats: int, line: Connection) -> list[dict[str, float]]:
    """All sources in turn, `repeats` times."""
    found: dict[int, list[tuple[Time, int, int]]] = {source: [] for source in checks}
    for _ in range(repeats):
        for source, check in checks.items():
            found[source].append(once(check, line))
    return [told_of(source, [times for times, _, _ in rows], *rows[0][1:]) for source, rows in found.items()]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sources", type=int, nargs="+", default=[20_000, 400_000, 4_000_000])
    parser.add_argument("--sentences", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--profile", type=int)
    told = parser.parse_args()
    line, far_end = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(told.latency, far_end))
    server.start()
    address = line.recv()
    with tempfile.TemporaryDirectory() as folder:
        checks = {
            source: with_longproof_warm(address, made(source, told.sentences, planted=told.planted), folder)
            for source in ([told.profile] if told.profile else told.sources)
        }
        if told.profile:
            profiled(checks[told.profile])
        else:
            rows = measured(checks, told.repeats, line)
            for row in rows:
                more = {
                    f"more_{name}": round(row[f"{name}_s"] / rows[0][f"{name}_s"] - 1, 3)
                    for name in ("best", "median")
                }
                print(json.dumps(row | more | {"load": round(os.getloadavg()[0], 1)}))
    line.send(False)
    server.join(10)


def profiled(check: Callable[[], bool]) -> None:
    """Print the functions that a check spends its time in."""
    profile = cProfile.Profile()
    profile.enable()
    check()
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(35)


if __name__ == "__main__":
    main()
