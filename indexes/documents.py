"""The content-addressed store of texts: written once, opened by id, checked on opening; and a cache in memory.

Knows: one file a text, named by the hash of its content. What is said about a text (title, uri) travels in a
`DocumentRef`, since the same text may be read from two places.
Does not know: what the texts and the cached values are used for.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from longproof.retrieval.files import read_whole, write_whole
from longproof.retrieval.types import BadInput, Document, DocumentKind, FileNotes, Frozen, text_id

CACHED_CHARACTERS = 20_000_000
T = TypeVar("T")


class Cache(Generic[T]):
    """A thread-safe LRU cache of at most `room`; concurrent requests for one key build its value once.

    `size` says how much room a value takes. The latest value stays, even if it takes more. None is never kept, and a
    value may be built twice where it is evicted while somebody waits for it: both cost time and change nothing.
    """

    def __init__(self, room: int = 4, size: Callable[[T], int] = lambda _: 1) -> None:
        self._room, self._size = room, size
        self._values: OrderedDict[str, T] = OrderedDict()
        self._building: dict[str, Lock] = {}
        self._lock = Lock()

    def at_hand(self, key: str) -> T | None:
        """The value of this key if it is here already. Doesn't block."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def get(self, key: str, build: Callable[[], T]) -> T:
        """The value of this key. Blocks while another thread builds the same."""
        with self._lock:
            building = self._building.setdefault(key, Lock())
        with building:
            value = self.at_hand(key)
            if value is None:
                value = build()
                self.put(key, value)
            return value

    def put(self, key: str, value: T) -> None:
        """Keep a value; those asked for longest ago go where there is no room."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > 1 and sum(map(self._size, self._values.values())) > self._room:
                oldest, _ = self._values.popitem(last=False)
                self._building.pop(oldest, None)


class DocumentRef(Frozen):
    """A stored document: enough to open it and to name it in a report. Its fields are those of `Document`."""

    id: str
    kind: DocumentKind = "text"
    title: str = ""
    uri: str = ""
    characters: int
    raw_id: str | None = None
    notes: FileNotes = FileNotes()


def _size(path: Path) -> int | None:
    """The size of a file in bytes; None where there is none that can be seen."""
    try:
        return path.stat().st_size
    except OSError:
        return None


class DocumentStore:
    """Texts in `folder`, with a cache of those opened last, up to CACHED_CHARACTERS."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts: Cache[str] = Cache(CACHED_CHARACTERS, len)

    def put(self, document: Document) -> DocumentRef:
        """Store a document's texts, once. Raises BadInput where the folder can't be written to."""
        raw_id = self._put_text(document.raw) if document.raw is not None else None
        self._put_text(document.text)
        about = document.model_dump(exclude={"text", "raw"})
        return DocumentRef(**about, characters=len(document.text), raw_id=raw_id)

    def open(self, ref: DocumentRef) -> Document:
        """The document that was put. Raises BadInput where its file is gone or damaged."""
        about = ref.model_dump(exclude={"characters", "raw_id"})
        return Document(**about, text=self.text(ref.id), raw=self.text(ref.raw_id) if ref.raw_id else None)

    def text(self, id_: str) -> str:
        """The text of this id. Raises BadInput where its file is gone or damaged."""
        return self._texts.get(id_, lambda: self._read(id_))

    async def fetch(self, id_: str) -> str:
        """`text` for an event loop, which a large file would hold up: read in a thread where it isn't at hand."""
        text = self._texts.at_hand(id_)
        return await asyncio.to_thread(self.text, id_) if text is None else text

    def _put_text(self, text: str) -> str:
        id_, data = text_id(text), text.encode("utf-8")
        path = self._path(id_)
        if _size(path) != len(data):
            write_whole(path, data)
        self._texts.put(id_, text)
        return id_

    def _read(self, id_: str) -> str:
        path = self._path(id_)
        try:
            text = read_whole(path).decode("utf-8", "replace")
        except OSError as error:
            why = f"can't read the stored text {path}: {error.strerror}"
            raise BadInput(f"{why}; give the source again") from error
        if text_id(text) != id_:
            raise BadInput(f"the stored text {path} is damaged: delete it and give the source again")
        return text

    def _path(self, id_: str) -> Path:
        name = id_.removeprefix("sha256:")
        if len(name) != 64 or not name.isalnum():
            raise BadInput(f"{id_[:80]!r} is not the id of a text")
        return self._folder / name[:2] / f"{name}.txt"
