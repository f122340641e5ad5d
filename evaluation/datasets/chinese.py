"""Short Chinese sets: HalluQA's answers, OCNLI's sentence pairs, UHGEval's news continuations.

Does not know: LongNovel's long Chinese summaries (novels.py).
"""

import re
from collections.abc import Iterator

from longproof.agent.types import Place
from longproof.evaluation.datasets.reading import Row, find_quote
from longproof.evaluation.types import Example, Gold, GoldError, GoldOutcome, GoldPart, Source

ADDRESS = re.compile(r"https?://[^\s，。）]+")
LEAST_CHARACTERS = 4
ANSWERS: tuple[tuple[str, GoldOutcome], ...] = (
    ("Best Answer1", "faithful"),
    ("Wrong_Answer1", "hallucinated"),
)
OCNLI_GOLD = {
    "entailment": Gold(outcome="faithful", label="implicitly_supported"),
    "neutral": Gold(outcome="hallucinated", label="fabricated"),
    "contradiction": Gold(outcome="hallucinated", label="contradicting"),
}
UNREASONABLE = "不合理"


def halluqa_zh(row: Row) -> Iterator[Example]:
    """HalluQA: Chinese questions that draw wrong answers, with the evidence.

    Law: records whose `Source` is nothing but addresses have no evidence text, so they are left out. Of the
    others the first right and the first wrong answer are two responses to the question (the context); addresses
    are cut from the source. A group is the question. Slices: category, domain. Apache-2.0.
    """
    evidence = ADDRESS.sub("", row["Source"]).strip()
    if len(evidence) < LEAST_CHARACTERS:
        return
    for field, outcome in ANSWERS:
        yield Example(
            id=f"{row['question_id']}-{outcome}",
            task="answer",
            sources=(Source(text=evidence),),
            response=row[field],
            context=row["Question"],
            group=str(row["question_id"]),
            slices={"category": row["Category"], "domain": row["Class"]},
            gold=Gold(outcome=outcome),
        )


def ocnli_zh(row: Row) -> Iterator[Example]:
    """OCNLI: does a Chinese sentence follow from another. One-sentence sources: a check of the judge alone.

    Law: sentence1 is the source, sentence2 the response. entailment is implicitly_supported (faithful),
    contradiction is contradicting, neutral is fabricated (both hallucinated). Slices: domain, pattern (the label).
    A group is the premise. CC BY-NC 2.0: not for commercial use.
    """
    yield Example(
        id=str(row["id"]),
        task="summary",
        sources=(Source(text=row["sentence1"]),),
        response=row["sentence2"],
        group=row["prem_id"],
        slices={"domain": row["genre"], "pattern": row["label"]},
        gold=OCNLI_GOLD[row["label"]],
    )


def uhgeval_zh(row: Row) -> Iterator[Example]:
    """UHGEval: a model's continuation of a Chinese news item, each keyword marked as reasonable or not.

    Law: headline, beginning and remainder of the news are the source. The hallucinated continuation is the
    response; every keyword, found in order, is a gold part, hallucinated where it is 不合理; those are gold errors
    with the annotator's reason. The real continuation is a second, faithful response: it stands word for word in
    the source, so at response level any substring test is perfect and only the keywords tell something. A group is
    the news item. Slice: domain. Apache-2.0.
    """
    marks = list(_keywords(row["hallucinatedContinuation"], row["annotations"]))
    wrong = [GoldError(place=at, reason=reason) for at, right, reason in marks if not right]
    parts = [GoldPart(place=at, outcome="faithful" if right else "hallucinated") for at, right, _ in marks]
    outcome = Gold(outcome="hallucinated" if wrong else "faithful", errors=tuple(wrong), parts=tuple(parts))
    yield _continuation(row, "model", row["hallucinatedContinuation"], outcome)
    yield _continuation(row, "real", row["realContinuation"], Gold(outcome="faithful", errors=()))


def _continuation(row: Row, side: str, response: str, gold: Gold) -> Example:
    source = "\n".join([row["headLine"], row["newsBeginning"], row["newsRemainder"]])
    return Example(
        id=f"{row['id']}-{side}",
        task="article",
        sources=(Source(text=source, title=row["headLine"]),),
        response=response,
        group=row["id"],
        slices={"domain": row["type"], "model": row["generatedBy"] if side == "model" else "people"},
        gold=gold,
    )


def _keywords(text: str, annotations: list[str]) -> Iterator[tuple[Place, bool, str]]:
    after = 0
    for annotation in annotations:
        keyword, _, verdict = annotation.partition("<sep>")
        at = find_quote(text, keyword, after)
        after = at.end
        yield at, not verdict.startswith(UNREASONABLE), verdict.removeprefix(UNREASONABLE).lstrip("，")
