"""A scripted reader for `price.py`, who knows which passages decide each sentence of a response.

Knows: the answers to all forms that the product and the plain question ask for, as long as real ones are.
Does not know: what is measured, or what an answer costs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

from reader import Asked, Reader, answer_of, placed, taken

from longproof.retrieval.text.normalise import is_chinese

LINE = 20
"""Characters of a line that says more than a few words."""


class Task(NamedTuple):
    """Responses to one source each. `truth`: the passages that decide a sentence, where any does not decide it alone
    empty; `errors`: sentences that are wrong. Where `grouped`, the responses are checked together."""

    cases: Sequence[tuple[str, Sequence[str]]]
    truth: Mapping[str, Sequence[str]]
    errors: frozenset[str] = frozenset()
    grouped: bool = False


class Knowing(Reader):
    """Answers as a judge, decomposer, searcher and reader of everything who know what decides each sentence."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._from: dict[str, str] = {}
        super().__init__(
            Sentences=self._sentences,
            Findings=self._findings,
            SearchTurn=self._searching,
            ScanNotes=self._notes,
            Places=self._places,
            WrongSentences=self._plain,
        )

    def _sentences(self, asked: Asked) -> dict[str, Any]:
        found = []
        for item in asked.items("sentences"):
            claims = list(split(item["text"], 3 if int(item["sentence"][1:]) % 5 == 0 else 2))
            self._from |= {claim.partition(" @ ")[0]: item["text"] for claim in claims}
            found += taken(item, claims)
        return {"claims": found}

    def _findings(self, asked: Asked) -> dict[str, Any]:
        shown = asked.lines()
        told, found = set[str](), []
        for item in asked.items("claims"):
            whole = item["text"] if item["text"] in self._task.truth else item["passage"]
            sentence = self._from.get(item["text"], whole)
            wrong = sentence in self._task.errors and sentence not in told
            told.add(sentence)
            found.append(self._finding(item, sentence, shown, wrong=wrong))
        return answer_of(asked, found) if shown else {"short": [], "rest": []}

    def _finding(
        self, item: dict[str, Any], sentence: str, shown: dict[str, str], *, wrong: bool
    ) -> dict[str, Any]:
        passages = self._task.truth.get(sentence)
        if passages is None or (passages and not seen(passages, shown)):
            return {"claim": item["claim"], "label": "not_found", "quotes": [], "reason": "-"}
        about = {"claim": item["claim"], "quotes": cite(nearest(item["text"], shown), shown)}
        if not wrong:
            return {**about, "label": "explicitly_supported"}
        reason = "The lines cited tell it otherwise: " + "; ".join(about["quotes"])[:100]
        wrong_words = item["text"][-8:-2]
        return {
            **about,
            "reason": reason,
            "label": "contradicting",
            "kind": "event",
            "wrong": wrong_words,
            "correction": wrong_words[::-1],
        }

    def _searching(self, asked: Asked) -> dict[str, Any]:
        shown, claims, find = asked.numbered("passages"), [], []
        turn = int(re.findall(r"[0-9]+", asked.parts("claims")[0])[0])
        for name, claim in asked.numbered("claims").items():
            passages = self._passages(claim)
            if cited := bearing(passages, shown):
                claims.append(f"{name} done {'; '.join(cited)}")
            elif turn > 3:
                claims.append(f"{name} done")
            else:
                middle = passages[len(passages) // 2] if passages else claim[turn * 7 :]
                claims.append(f"{name} open the scene itself")
                find += [
                    f"{name} {middle[len(middle) // 2 + 60 * turn :][:60].strip()}",
                    f"{name} {claim[turn * 5 :][:60]}",
                ]
        return {"claims": claims, "find": find, "read": []}

    def _notes(self, asked: Asked) -> dict[str, Any]:
        piece = asked.numbered("piece")
        number, last = list(piece.items())[-1]
        noted = ((n, bearing(self._passages(claim), piece)) for n, claim in asked.numbered("claims").items())
        notes = [f"{name} {'; '.join(cited)}" for name, cited in noted if cited]
        return {"notes": notes, "last": f"{number} {last[:12]}"}

    def _places(self, asked: Asked) -> dict[str, Any]:
        about = {"reason": "The source has nothing of it.", "kind": "fabrication", "correction": ""}
        return {"places": [placed(item, item["sentence"][:40], **about) for item in asked.items("claims")]}

    def _passages(self, claim: str) -> Sequence[str]:
        return self._task.truth.get(self._from.get(claim, claim), ())

    def _plain(self, asked: Asked) -> dict[str, Any]:
        about = {"reason": "The source tells it otherwise.", "label": "contradicting"}
        wrong = [item for item in asked.items("sentences") if item["text"].strip() in self._task.errors]
        return {
            "wrong": [
                {"sentence": item["sentence"], **about, "words": item["text"].strip()[:6]} for item in wrong
            ]
        }


def bare(text: str) -> str:
    """A text without blanks, as lines may break it anywhere."""
    return "".join(text.split())


def nearest(claim: str, shown: Mapping[str, str]) -> list[str]:
    """The numbers of the two lines that share most with a claim."""
    pairs = {claim[n : n + 2] for n in range(len(claim) - 1)}
    return sorted(shown, key=lambda n: -sum(pair in shown[n] for pair in pairs))[:2]


def split(sentence: str, most: int) -> Iterator[str]:
    """A sentence in so many claims, cut where clauses or words end; the name is put in front of all but the first."""
    chinese = is_chinese(sentence)
    cuts = [m.end() for m in re.finditer("[，；、：]" if chinese else r"[,;:]? ", sentence[:-1])]
    wanted = [min(cuts, key=lambda at: abs(at - len(sentence) * n / most), default=0) for n in range(1, most)]
    ends = [0, *sorted({at for at in wanted if at}), len(sentence)]
    name, sign = (sentence[:2], "") if chinese else (sentence.split()[0], " ")
    for n, (start, end) in enumerate(pairwise(ends)):
        piece = sentence[start:end].strip(" ，；、：,;:")
        bounds = f"{piece[:2]}…{piece[-2:]}" if chinese else f"{piece.split()[0]}…{piece.split()[-1]}"
        yield piece if n == 0 else f"{name}{sign}{piece} @ {bounds}"


def seen(passages: Sequence[str], shown: Mapping[str, str]) -> bool:
    """True if one of the passages is shown, or a line of it that says more than a few words."""
    text = bare("".join(shown.values()))
    wanted = [bare(passage) for passage in passages]
    held = (bare(line) for line in shown.values())
    return any(p in text for p in wanted) or any(len(h) >= LINE and h in p for h in held for p in wanted)


def bearing(passages: Iterable[str], shown: Mapping[str, str]) -> list[str]:
    """Two of the lines shown that stand in one of the passages, or hold one, by number and beginning."""
    wanted = [bare(passage) for passage in passages]
    hits = ((n, line) for n, line in shown.items() if any(bare(line) in p or p in bare(line) for p in wanted))
    return cite((n for n, line in hits if line.strip()), shown)


def cite(numbers: Iterable[str], shown: Mapping[str, str]) -> list[str]:
    """Two of these lines by number and beginning, of as many characters as readers give."""
    return [f"{n} {shown[n][: 4 if is_chinese(shown[n]) else 12]}" for n in islice(numbers, 2)]
