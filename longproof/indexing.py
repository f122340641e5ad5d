"""The terminal's door to indexes: `longproof index`.

Knows: which index is built of what is given, and what to say of it. Does not know: how an index is laid out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from longproof.retrieval.types import BadInput


def indexed(
    sources: Sequence[Path], pages: Path | None, *, embedder: str, text: Path | None, encoding: str | None
) -> Iterator[str]:
    """Build and keep the indexes; a line for each. Raises BadInput where nothing is given or can't be read."""
    if not sources and pages is None:
        raise BadInput("there is nothing to index: give sources, or --pages DIR")
    if text is not None and len(sources) != 1:
        raise BadInput("--text writes the text of one source: give exactly one")
    for path in sources:
        yield from _source(path, embedder, text, encoding)
    if pages is not None:
        yield from _pages(pages)


def _source(path: Path, spec: str, text: Path | None, encoding: str | None) -> Iterator[str]:
    from longproof.agent.models.clients import place_and_key
    from longproof.graphs.sources import SHOWN
    from longproof.indexes.documents import DocumentStore
    from longproof.indexes.files import home, write_whole
    from longproof.indexes.sources import PassageSize, source_index
    from longproof.progress import counted
    from longproof.retrieval.embedders import embedder
    from longproof.retrieval.loaders import read_source

    document = read_source(path, encoding)
    DocumentStore(home() / "documents").put(document)
    if text is not None:
        write_whole(text, document.text.encode())
        yield f"text: {text}"
    model = embedder(spec, place_and_key)
    with counted("passages embedded") as progress:
        for cut in (PassageSize(), SHOWN):
            source_index(document, home(), None, cut, keep=True)
            if model is not None:
                source_index(document, home(), model, cut, keep=True, progress=progress)
    yield f"{path}: {len(document.text):,} characters indexed ({spec})"


def _pages(folder: Path) -> Iterator[str]:
    from longproof.indexes.files import home
    from longproof.indexes.pages import open_pages
    from longproof.progress import counted

    with counted("pages read") as progress:
        index = open_pages(folder, home(), progress=progress)
    yield f"{folder}: {len(index.pages)} pages, {len(index)} snippets indexed ({index.manifest.engine})"
    for left in index.left_out:
        yield f"left out: {left.path}: {left.reason}"
