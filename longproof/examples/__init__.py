"""The bundled stories, ours: each with a faithful summary and one with four planted errors.

Knows: where they lie. Does not know: what is done with them.
"""

from importlib.resources import files

from longproof.retrieval.types import BadInput, Document

LANGUAGES = ("en", "zh")


def example(language: str, summary: str = "hallucinated") -> tuple[Document, Document]:
    """The story and a summary of it: `hallucinated` or `faithful`. Raises BadInput for another language."""
    if language not in LANGUAGES:
        raise BadInput(f"there is no example in {language!r}: choose one of {', '.join(LANGUAGES)}")
    folder = files(__name__) / language
    story, text = ((folder / f"{name}.txt").read_text("utf-8") for name in ("story", summary))
    return Document.of(story, title=f"story ({language})"), Document.of(text, title=summary)
