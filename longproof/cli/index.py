"""`longproof index`: building and keeping the index of a source, or of saved pages.

Knows: which index is built of what is given, and what to say of it. Does not know: how an index is laid out.
"""

from pathlib import Path
from typing import Annotated

import typer

from longproof.agent.models.addresses import place_and_key
from longproof.cli.options import Encoding
from longproof.progress import embedding_progress, show_progress
from longproof.retrieval.files import home
from longproof.retrieval.types import BadInput


def index_command(
    sources: Annotated[list[Path] | None, typer.Argument(help="Sources to index.")] = None,
    pages: Annotated[Path | None, typer.Option(help="A folder of saved web pages.")] = None,
    embedder: Annotated[str, typer.Option(help="e5, auto, bge-m3, st:PATH or openai:MODEL.")] = "lexical",
    encoding: Encoding = None,
) -> None:
    """Build and keep the index of a source, or of saved pages. Checks use what is there."""
    from longproof.graphs.evidence.sources import MEANING
    from longproof.indexes.search import open_pages, source_index
    from longproof.retrieval import embedders
    from longproof.retrieval.loaders import read_source

    if not sources and pages is None:
        raise BadInput("there is nothing to index: give sources, or --pages DIR")
    model = embedders.embedder(embedder, place_and_key)
    for path in sources or []:
        document = read_source(path, encoding)
        if model is None:
            nothing = "there is nothing to build: a check counts words itself; give --embedder or --pages"
            typer.echo(f"{path}: {nothing}")
            continue
        with embedding_progress() as progress:
            source_index(document, home(), model, MEANING, progress)
        typer.echo(f"{path}: {len(document.text):,} characters indexed ({embedder})")
    if pages is None:
        return
    with show_progress("pages read") as at:
        index = open_pages(pages, home(), progress=at.show)
    if model is not None:
        with embedding_progress() as progress:
            index.open_vectors(home(), model, progress)
    typer.echo(f"{pages}: {len(index.pages)} pages, {len(index)} snippets indexed ({index.engine})")
    for name, reason in index.left_out.items():
        typer.echo(f"left out: {name}: {reason}")
