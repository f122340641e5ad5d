"""What an index of embeddings costs beside the model: ours and LlamaIndex's, over the same passages.

Knows: passages of 400 characters, one every 200, of Chinese novels in LONGPROOF_DATA; an embedder that costs nothing
(random unit vectors, 1,024 wide), so that what is left is the index itself. LlamaIndex: one node a passage through an
IngestionPipeline into a VectorStoreIndex in memory, persisted, loaded again. Each in a process of its own.
Does not know: what real embeddings cost, which is far more than either.

    LONGPROOF_DATA=... python benchmarks/alignment_llama.py --characters 100000 1000000
"""

import argparse
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from longproof.indexes.sources import source_index
from longproof.retrieval.dense import Embeddings, Kind, Weights
from longproof.retrieval.text.chunking import overlapping
from longproof.retrieval.types import Document, Progress

WIDTH, QUERIES = 1024, 50
Row = tuple[float, ...]


def vectors(count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    drawn = np.random.default_rng(count).standard_normal((count, WIDTH), dtype=np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


class Random:
    """Vectors that know nothing."""

    name = "random"
    weights = Weights(dense=1, sparse=0)

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embeddings:
        return Embeddings(vectors(len(texts)))


def ours(text: str, folder: Path) -> Row:
    document = Document.of(text)
    started = time.process_time()
    source_index(document, folder, Random(), keep=True)
    built, size = time.process_time() - started, on_disk(folder)
    started = time.process_time()
    index = source_index(document, folder, Random(), keep=True)
    opened = time.process_time() - started
    started = time.process_time()
    for _ in range(QUERIES):
        index.search("query", 10)
    return built, size, opened, (time.process_time() - started) / QUERIES * 1e3, peak()


def llama(text: str, folder: Path) -> Row:
    from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.ingestion import IngestionPipeline
    from llama_index.core.schema import TextNode

    class Mock(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            rows: list[list[float]] = vectors(len(texts)).tolist()
            return rows

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    embedder = Mock(embed_batch_size=64)
    started = time.process_time()
    nodes = [
        TextNode(text=text[start:end], start_char_idx=start, end_char_idx=end)
        for start, end in overlapping(text)
    ]
    nodes = list(IngestionPipeline(transformations=[embedder]).run(nodes=nodes))
    index = VectorStoreIndex(nodes, embed_model=embedder)
    index.storage_context.persist(str(folder))
    built, size = time.process_time() - started, on_disk(folder)
    del index, nodes
    started = time.process_time()
    storage = StorageContext.from_defaults(persist_dir=str(folder))
    retriever = load_index_from_storage(storage, embed_model=embedder).as_retriever(similarity_top_k=10)
    opened = time.process_time() - started
    started = time.process_time()
    for _ in range(QUERIES):
        retriever.retrieve("query")
    return built, size, opened, (time.process_time() - started) / QUERIES * 1e3, peak()


def on_disk(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def alone(work: Callable[[str, Path], Row], text: str) -> Row:
    with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, (text, Path(folder)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--characters", type=int, nargs="*", default=[100_000])
    arguments = parser.parse_args()
    folder = os.environ.get("LONGPROOF_DATA")
    if not folder:
        parser.error("LONGPROOF_DATA is not set: it names the folder of development data")
    novels = sorted((Path(folder) / "novels_zh").glob("*.txt"))
    text = "".join(path.read_text(encoding="utf-8") for path in novels)
    print("| characters | index | build, CPU s | on disk, MB | open, CPU s | query, CPU ms | peak, MB |")
    for number in arguments.characters:
        for work in (ours, llama):
            cells = alone(work, (text * (number // len(text) + 1))[:number])
            print(
                f"| {number:,} | {work.__name__} | " + " | ".join(f"{cell:,.1f}" for cell in cells) + " |",
                flush=True,
            )


if __name__ == "__main__":
    main()
