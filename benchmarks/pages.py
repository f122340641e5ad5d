"""What saved pages cost: indexing and searching up to a million snippets, and reading hostile HTML.

Knows: synthetic snippets of 270 tokens over a Zipf vocabulary of 50,000 words, queries of 25 different words of one
snippet; pages of 50 MB that no person wrote. Each measurement runs in a process of its own, so that its peak of
memory is its own.
Does not know: whether what is found is any good.

    python benchmarks/pages.py --snippets 3000 100000 1000000
    python benchmarks/pages.py --hostile
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from longproof.indexes.arrays import write_arrays
from longproof.indexes.documents import DocumentStore
from longproof.indexes.pages import PageIndex, PageRef, PagesManifest, _opened
from longproof.retrieval.bm25 import Bm25, Engine, Okapi, TokenIds, index_tokens
from longproof.retrieval.html_markdown import html_to_markdown
from longproof.retrieval.text.chunking import OVERLAP, SNIPPET
from longproof.retrieval.types import BadInput, Document

TOKENS, VOCABULARY, ASKED, QUERIES = 270, 50_000, 25, 50
OKAPI_AT_MOST = 100_000

HOSTILE: dict[str, tuple[str, int]] = {
    "paragraphs of text": ("<p>hello world &amp; more <b>bold</b></p>\n", 1_200_000),
    "boxes, 9 million deep": ("<div>", 9_000_000),
    "paragraphs never closed": ("<p>x", 12_500_000),
    "text inside a table, outside its cells": ("<table>" + "x<p>y" * 40_000, 250),
    "ten quotations deep": ("<blockquote>" * 10 + "<p>x" * 60_000, 208),
    "a thousand columns": ("<table><tr>" + "<td>x" * 1000 + "<tr><td>y" * 27_000, 200),
    "one script": ("x = '</scrip';\n", 3_400_000),
    "signs": ("<", 50_000_000),
    "opening quotes": ('<p a="b" c=\'', 4_200_000),
    "hidden parts": ("<p hidden style='display:none'>", 1_600_000),
}


def synthetic(snippets: int) -> TokenIds:
    """Counted snippets, drawn in parts so that the drawing adds little to the peak."""
    ranks = index_tokens([[f"w{i}" for i in range(VOCABULARY)]])
    edges = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    draw = np.random.default_rng(0)
    tokens = np.empty(snippets * TOKENS, dtype=np.int32)
    for start in range(0, len(tokens), 5_000_000):
        part = tokens[start : start + 5_000_000]
        part[:] = ranks.tokens[np.searchsorted(edges / edges[-1], draw.random(len(part)))]
    return TokenIds(ranks.words, tokens, np.arange(0, len(tokens) + 1, TOKENS, dtype=np.int64))


def build(snippets: int, engine: Engine, home: Path) -> dict[str, float]:
    counted = synthetic(snippets)
    started = time.process_time()
    weighed = Okapi.of(counted) if engine == "okapi" else Bm25.of(counted)
    weighing = time.process_time() - started
    ref = DocumentStore(home / "documents").put(Document.of("w0 " * 1000, kind="page"))
    rows = np.tile(np.array([0, 0, SNIPPET], dtype=np.int64), (snippets, 1))
    page = PageRef(document=ref, path="synthetic.txt")
    manifest = PagesManifest(
        key="0" * 64, engine=engine, size=SNIPPET, overlap=OVERLAP, pages=(page,), left_out=()
    )
    write_arrays(home / "index", manifest, {"snippets": rows, **weighed.arrays})
    size = sum(path.stat().st_size for path in (home / "index").iterdir())
    return {"weigh CPU s": weighing, "build peak MB": peak(), "disk MB": size / 1e6}


def search(snippets: int, engine: Engine, home: Path) -> dict[str, float]:
    started = time.perf_counter()
    manifest, arrays = _opened(home / "index", "0" * 64, engine)
    index = PageIndex(home / "index", manifest, arrays, DocumentStore(home / "documents"))
    opening = time.perf_counter() - started
    asked = queries(snippets)
    first = timed(lambda: index.search(asked[0], 3))
    times = [timed(lambda query=query: index.search(query, 3)) for query in asked]
    return {
        "open s": opening,
        "first ms": first.wall * 1e3,
        "median ms": median(each.wall for each in times) * 1e3,
        "median CPU ms": median(each.cpu for each in times) * 1e3,
        "worst CPU ms": max(each.cpu for each in times) * 1e3,
        "search peak MB": peak(),
    }


def queries(snippets: int) -> list[str]:
    """Each the first different words of a snippet of another drawing."""
    shares: NDArray[np.float64] = 1 / np.arange(1, VOCABULARY + 1)
    draw = np.random.default_rng(snippets)
    words = [draw.choice(VOCABULARY, TOKENS, p=shares / shares.sum()) for _ in range(QUERIES)]
    return [" ".join(f"w{word}" for word in list(dict.fromkeys(some.tolist()))[:ASKED]) for some in words]


def hostile(part: str, times: int) -> dict[str, Any]:
    html = part * times
    before = peak()
    started = time.process_time()
    try:
        outcome = f"{len(html_to_markdown(html)[0]):,} characters"
    except BadInput as error:
        outcome = f"refused: {error}"
    return {
        "MB": len(html) / 1e6,
        "CPU s": time.process_time() - started,
        "added MB": peak() - before,
        "gives": outcome,
    }


class Timed(NamedTuple):
    """Seconds on the clock and of the processor: they differ where other work runs beside."""

    wall: float
    cpu: float


def timed(work: Callable[[], object]) -> Timed:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Timed(time.perf_counter() - wall, time.process_time() - cpu)


def peak() -> float:
    """The most memory that this process has held, in MB; memory-mapped pages that were touched count."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def alone(work: Callable[..., dict[str, Any]], *given: object) -> dict[str, Any]:
    """What the work gives in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, given)


def shown(row: dict[str, Any]) -> None:
    print(
        "| " + " | ".join(f"{v:,.1f}" if isinstance(v, float) else f"{v}" for v in row.values()) + " |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--snippets", type=int, nargs="*", default=[40, 3000])
    parser.add_argument("--hostile", action="store_true")
    arguments = parser.parse_args()
    if arguments.hostile:
        for name, (part, times) in HOSTILE.items():
            shown({"page": name, **alone(hostile, part, times)})
        return
    for number in arguments.snippets:
        for engine in get_args(Engine):
            if engine == "okapi" and number > OKAPI_AT_MOST:
                continue
            with tempfile.TemporaryDirectory() as home:
                made = alone(build, number, engine, Path(home))
                shown(
                    {
                        "snippets": f"{number:,}",
                        "engine": engine,
                        **made,
                        **alone(search, number, engine, Path(home)),
                    }
                )


if __name__ == "__main__":
    main()
