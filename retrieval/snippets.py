"""Snippets: the pieces of a saved page that are searched and shown.

Knows: their size and how much neighbours share, as in VeriGray's Appendix F (1,600 characters, 200 of them shared).
Does not know: where pages come from, how snippets are ranked.
"""

from longproof.retrieval.cut import Range, passages

SIZE = 1600
OVERLAP = 200


def snippets(text: str, size: int = SIZE, overlap: int = OVERLAP) -> list[Range]:
    """Half-open ranges of `size` characters of the text, each sharing `overlap` with the next.

    They cover the text; the last ends where it ends. A text that fits into one is one; no text has none.
    Raises ValueError where the overlap leaves no step forward.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"snippets of {size} characters can't share {overlap}")
    return passages(text, size, size - overlap)
