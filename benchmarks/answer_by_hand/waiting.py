"""Which requests wait for reader ME (from 0) of K, perhaps those to one model alone.

    python waiting.py BOX K ME [MODEL]

Prints a path and its size in bytes for each.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path


def requests_waiting(box: Path, readers: int, me: int, model: str | None = None) -> Iterator[Path]:
    """The requests of this reader that nobody has answered, in the order in which they came."""
    log = box / "log.jsonl"
    rows = map(json.loads, log.read_text("utf-8").splitlines() if log.exists() else [])
    asked = [row["number"] for row in rows if model in (None, row["model"])]
    for number in asked[me::readers]:
        if not (box / "outbox" / f"{number}.txt").exists():
            yield box / "inbox" / f"{number}.md"


if __name__ == "__main__":
    for path in requests_waiting(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:5]):
        print(path, path.stat().st_size)
