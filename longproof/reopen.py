"""Reports that were written, opened again with the texts that they point into.

Knows: a report names its sources by content; a file that changed since, or moved, is not taken for the old one.
Does not know: how a report is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from longproof.agent.types import Report, ReportDocument
from longproof.indexes.documents import DocumentStore
from longproof.indexes.files import home, write_whole
from longproof.report.fit import refuse_misfit, refuse_misfit_texts
from longproof.retrieval.loaders import read_source
from longproof.retrieval.types import BadInput, Document


def delivered(
    paths: Sequence[Path], sources: Sequence[Path], *, html: Path | None, markdown: Path | None
) -> Iterator[str]:
    """Write what is asked for and say where; without `html` and `markdown`, yield the report as Markdown.

    Several reports, or a folder of them, become an index page. Raises BadInput for what is no report.
    """
    from longproof.report.html import index, page
    from longproof.report.markdown import render

    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    found = [(file.name, opened(file)) for file in files]
    if not found:
        raise BadInput(f"there is no report in {', '.join(map(str, paths))}: give JSON reports")
    if len(found) > 1 or paths[0].is_dir():
        if html is None or markdown is not None:
            raise BadInput("several reports make an index page: give --html FILE")
        yield _written(html, index(found))
        return
    report = found[0][1]
    texts = texts_of(report, sources)
    if html:
        yield _written(html, page(report, texts))
    if markdown:
        yield _written(markdown, render(report, texts))
    if not html and not markdown:
        yield render(report, texts)


def opened(path: Path) -> Report:
    """The report in a file. Raises BadInput where there is none, or it doesn't fit its response or itself."""
    try:
        found = Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give a JSON report") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise BadInput(f"{path} is no report of this version: {place}: {first['msg']}") from error
    try:
        refuse_misfit(found)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
    return found


def texts_of(
    report: Report, sources: Sequence[Path], *, known: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The texts of a report's documents by id: known ones, the files given, the recorded places, or the store.

    Raises BadInput where a source can't be found unchanged, a file given is none of them (its hash is its id), or a
    quote isn't what stands at its place.
    """
    given = {**(known or {})}
    for path in sources:
        document = read_source(path)
        if document.id not in {one.id for one in report.documents[1:]}:
            raise BadInput(
                f"{path} is no source of this report, or has changed: give the text that was checked"
            )
        given[document.id] = document.text
    texts = {report.documents[0].id: report.case.response}
    for named in report.documents[1:]:
        texts[named.id] = given.get(named.id) or _found(named)
    refuse_misfit_texts(report, texts)
    return texts


def _found(document: ReportDocument) -> str:
    read = _read(Path(document.uri)) if document.uri else None
    if read and read.id == document.id:
        return read.text
    try:
        return DocumentStore(home() / "documents").text(document.id)
    except BadInput as error:
        name = document.title or document.uri or document.id
        raise BadInput(
            f"the source {name!r} is not where it was, or has changed: give it with --source"
        ) from error


def _read(path: Path) -> Document | None:
    try:
        return read_source(path) if path.is_file() else None
    except (BadInput, OSError):
        return None


def _written(path: Path, text: str) -> str:
    write_whole(path, text.encode())
    return path.resolve().as_uri()
