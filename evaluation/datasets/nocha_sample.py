"""NoCha, public sample: true and false claims about whole novels, in pairs.

Law: the novel is the source, the claim the response; `type` true is faithful. The two claims of a pair share
`index` and count together (pair accuracy). A group is the pair. MIT licence; do not train on these.
"""

from collections.abc import Iterator

from longproof.evaluation.datasets.reading import Location, Row, converted, keyed, rows
from longproof.evaluation.types import Example, Gold, Source


def read(location: Location) -> Iterator[Example]:
    """All claims. The location is the folder with `claims.jsonl` and `books.jsonl.gz`."""
    books = keyed(rows(location, "books.jsonl.gz"), lambda row: (row["book_title"], row["text"]))
    return converted(rows(location, "claims.jsonl"), lambda row: [_example(row, books)])


def _example(row: Row, books: dict[str, str]) -> Example:
    pair = f"{row['book_title']}-{row['index']}"
    return Example(
        id=f"{pair}-{'true' if row['type'] else 'false'}",
        task="summary",
        sources=(Source(text=books[row["book_title"]], title=row["book_title"]),),
        response=row["claim"],
        group=pair,
        pair=pair,
        slices={"book": row["book_title"]},
        gold=Gold(outcome="faithful" if row["type"] else "hallucinated"),
    )
