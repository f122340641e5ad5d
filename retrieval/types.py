"""The shapes that text and places in text take: documents, spans, hits of a search, windows of an alignment.

Does not know: claims, judges, labels, or where anything is stored.
"""

import re
from collections.abc import Callable, Collection
from difflib import get_close_matches
from hashlib import sha256
from typing import Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

DocumentKind = Literal["text", "markdown", "record", "page"]
Progress = Callable[[int, int], None]  # called with the number of things done and of all


class BadInput(ValueError):
    """Something given to us can't be used. The message is one line: what is wrong, and how to mend it."""


def first_fault(error: ValidationError) -> tuple[str, str]:
    """The place of the first thing that a type refuses, `judges.0.spec`, and why; all of the value has no place."""
    first = error.errors()[0]
    return ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")


def nearest(name: str, known: Collection[str]) -> str:
    """A question for the known name that is nearest; empty for one that is known, and where none is near."""
    near = [] if name in known else get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


class Frozen(BaseModel):
    """A value: immutable, comparable, and refusing fields that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Span(Frozen):
    """A place in a text: half-open `[start, end)`, in code points of the text named by `source_id`."""

    source_id: str
    start: int = Field(ge=0)
    end: int
    text: str

    @model_validator(mode="after")
    def _length_is_that_of_the_text(self) -> Self:
        if self.end - self.start != len(self.text):
            raise ValueError(f"span [{self.start}, {self.end}) does not have the length of its text")
        return self

    def part(self, start: int, end: int) -> "Span":
        """Return the place of `text[start:end]` in the same text."""
        at = self.start
        return Span(source_id=self.source_id, start=at + start, end=at + end, text=self.text[start:end])


class Line(NamedTuple):
    """One line of evidence: a sentence, a field, a row or a turn, whole. `number` is its place among all lines of
    the sources of a case, from 0 on, the same in every step."""

    number: int
    span: Span


class FileNotes(Frozen):
    """Notes on how a file became the text of a document."""

    guessed_encoding: str = ""  # the encoding that its bytes were taken for, where nothing told it
    left_out: tuple[str, ...] = ()  # what the file holds and its readers don't see as text, such as comments
    unread: tuple[str, ...] = ()  # what its readers see and the text lacks, such as embedded pages


class Document(Frozen):
    """A text to be pointed at. `id` is the hash of `text`; the text is never edited afterwards.

    `raw` keeps what was read where `text` is derived from it (a JSON record as one fact a line).
    """

    id: str
    text: str
    kind: DocumentKind = "text"
    title: str = ""
    uri: str = ""
    raw: str | None = None
    notes: FileNotes = FileNotes()

    @classmethod
    def of(
        cls,
        text: str,
        *,
        kind: DocumentKind = "text",
        title: str = "",
        uri: str = "",
        raw: str | None = None,
        notes: FileNotes | None = None,
    ) -> Self:
        """The document of this text, named by its content. Raises BadInput for what is no text."""
        if "\0" in text:
            raise BadInput("the text holds NUL bytes: it is not text, or was read with the wrong encoding")
        notes = notes or FileNotes()
        return cls(id=text_id(text), text=text, kind=kind, title=title, uri=uri, raw=raw, notes=notes)

    def refuse_wordless(self) -> None:
        """Raises BadInput where there is nothing to read in it: only spaces, line breaks and signs."""
        if not re.search(r"\w", self.text):
            name = self.uri or self.title or "the text"
            raise BadInput(f"{name}: there is no text in it, only spaces, line breaks and signs")

    def span(self, start: int, end: int) -> Span:
        """The span `[start, end)` of this document. Raises ValueError where it does not lie inside."""
        if not 0 <= start <= end <= len(self.text):
            raise ValueError(f"[{start}, {end}) does not lie in a text of {len(self.text)} characters")
        return Span(source_id=self.id, start=start, end=end, text=self.text[start:end])


class Hit(NamedTuple):
    """One result of a search. A search lists its hits best first: scores never rise."""

    span: Span
    score: float


class Window(Frozen):
    """The blocks of the source that a segment of the response is read against: first, last and likeliest, by index;
    `confidence` lies in [0, 1], 0 where a way of aligning tells none."""

    first: int
    last: int
    centre: int
    confidence: float = 0.0


def text_id(text: str) -> str:
    """`sha256:` and the hash of the text's UTF-8 bytes. Raises BadInput where it has none (lone surrogates)."""
    try:
        return "sha256:" + sha256(text.encode("utf-8")).hexdigest()
    except UnicodeEncodeError as error:
        raise BadInput(
            f"the text has half a character (a lone surrogate) at {error.start}: replace it and try again"
        ) from error
