"""The content-addressed store of texts: written once, opened by id, checked on opening.

Knows: one file a text, named by the hash of its content. What is said about a text (title, uri) travels
in a `DocumentRef`, since the same text may be read from two places.
Does not know: what the texts are used for.
"""

import asyncio
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from longproof.indexes.files import write_whole
from longproof.retrieval.types import BadInput, Document, DocumentKind, Frozen, text_id

CACHED_CHARACTERS = 20_000_000


class DocumentRef(Frozen):
    """A stored document: enough to open it and to name it in a report."""

    id: str
    kind: DocumentKind = "text"
    title: str = ""
    uri: str = ""
    characters: int
    raw_id: str | None = None


class DocumentStore:
    """Texts in `folder`, with a cache of those opened last, up to CACHED_CHARACTERS."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lock, self._reading = Lock(), Lock()

    def put(self, document: Document) -> DocumentRef:
        """Store a document's texts, once. Raises BadInput where the folder can't be written to."""
        raw_id = self._put_text(document.raw) if document.raw is not None else None
        self._put_text(document.text)
        return DocumentRef(
            id=document.id,
            kind=document.kind,
            title=document.title,
            uri=document.uri,
            characters=len(document.text),
            raw_id=raw_id,
        )

    def open(self, ref: DocumentRef) -> Document:
        """The document that was put. Raises BadInput where its file is gone or damaged."""
        raw = self.text(ref.raw_id) if ref.raw_id else None
        return Document(
            id=ref.id, text=self.text(ref.id), kind=ref.kind, title=ref.title, uri=ref.uri, raw=raw
        )

    def text(self, id_: str) -> str:
        """The text of this id. Raises BadInput where its file is gone or damaged."""
        text = self._at_hand(id_)
        if text is not None:
            return text
        with self._reading:
            text = self._at_hand(id_)
            if text is None:
                text = self._read(id_)
                self._keep(id_, text)
        return text

    async def fetch(self, id_: str) -> str:
        """`text` for an event loop, which a large file would hold up: read in a thread where it isn't at hand."""
        text = self._at_hand(id_)
        return await asyncio.to_thread(self.text, id_) if text is None else text

    def _at_hand(self, id_: str) -> str | None:
        with self._lock:
            if id_ in self._texts:
                self._texts.move_to_end(id_)
            return self._texts.get(id_)

    def _put_text(self, text: str) -> str:
        id_ = text_id(text)
        path = self._path(id_)
        data = text.encode("utf-8")
        if not path.exists() or path.stat().st_size != len(data):
            write_whole(path, data)
        self._keep(id_, text)
        return id_

    def _read(self, id_: str) -> str:
        path = self._path(id_)
        try:
            text = path.read_bytes().decode("utf-8")
        except FileNotFoundError as error:
            raise BadInput(
                f"the stored text {id_} is gone from {path.parent}: give the source again"
            ) from error
        except UnicodeDecodeError:
            text = ""
        if text_id(text) != id_:
            raise BadInput(f"the stored text {path} is damaged: delete it and give the source again")
        return text

    def _path(self, id_: str) -> Path:
        name = id_.removeprefix("sha256:")
        if len(name) != 64 or not name.isalnum():
            raise BadInput(f"{id_[:80]!r} is not the id of a text")
        return self._folder / name[:2] / f"{name}.txt"

    def _keep(self, id_: str, text: str) -> None:
        with self._lock:
            self._texts[id_] = text
            self._texts.move_to_end(id_)
            while len(self._texts) > 1 and sum(map(len, self._texts.values())) > CACHED_CHARACTERS:
                self._texts.popitem(last=False)
