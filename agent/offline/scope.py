"""What a sentence says of its own words: that they are denied, conditional, or somebody's speech or opinion.

Knows: a handful of words that do so in Chinese and English, quotation marks, where a sentence begins and ends.
Does not know: how far such a word reaches; it is taken to reach over its whole sentence.
"""

import re
from itertools import pairwise

from longproof.agent.offline.reading import Indexed, Match, stem, word_set

_DENIALS = word_set(
    """
    not no never none nor neither nothing nobody without cannot hardly barely scarcely rarely seldom
    不 没 未 无 非 莫 勿 毋 否
    """
)
_DOUBTS_ZH = word_set(
    """
    如果 若 假如 倘 要是 除非 可能 也许 或许 似乎 大概 恐怕 仿佛 好像 应该 想 欲 打算 希望 计划 几乎 差点
    说 曰 认为 以为 称 表示 据 觉得 相信 声称 问 梦 假装 否认 怀疑 谎
    """
)
_DOUBTS_EN = word_set(
    """
    if unless whether would could should may might must can perhaps maybe possibly probably likely allegedly
    reportedly apparently supposedly seem appear plan planned hope expect want intend try tried fail almost nearly
    deny denied false say said tell told claim believe think thought according argue suggest suspect suppose allege
    accuse dream dreamt imagine pretend propose threaten ask assume
    """
)
_DOUBTS = _DOUBTS_ZH | {stem(word) for word in _DOUBTS_EN}
_ENDS = re.compile(r"[.!?。！？…]|\n\s*\n")
_OPEN, _CLOSE = "“「『«", "”」』»"
_SINGLE = re.compile(r"(?P<open>(?<!\w)[‘'](?=\w))|(?<=[.,!?…—-])[’']")
"""Single quotation marks, which are apostrophes too: a closing one stands behind a mark."""
_BEFORE = re.compile(r"(?:^|[^\w\s'’]\s*|\n\s*|\b(?:and|but)\s+)(?:(?:the|an?)\s+)?\Z", re.IGNORECASE)
_JOINS = word_set("and but or by for with about to from in on into at of as than so who which where")
"""What may follow a clause that is told without its end."""
_SHORT = word_set("mr mrs ms dr st jr sr prof gen col capt lt rev hon no vs")
LONGEST_SPEECH = 3000
"""Characters before a place in which its quotation may begin."""
FARTHEST = 80
"""Tokens that a sentence is followed to either side; characters that are read before a clause."""


def is_denial(key: str) -> bool:
    """Whether a word denies."""
    return key in _DENIALS or key.endswith("n't")


def doubts(reading: Indexed, index: int) -> bool:
    """Whether the token at an index begins a word of condition, doubt, speech or opinion."""
    keys, token = reading.keys, reading.tokens[index]
    month = reading.text[token.start : token.end] == "May"
    return not month and (keys[index] in _DOUBTS or "".join(keys[index : index + 2]) in _DOUBTS)


def unshared(source: Indexed, place: Match) -> list[int]:
    """The words of denial, doubt and speech in the sentences of a place that the claim doesn't have there."""
    shared = {j for _, j in place.pairs}
    first, last = sentence(source, place)
    return [
        k for k in range(first, last) if k not in shared and (is_denial(source.keys[k]) or doubts(source, k))
    ]


def sentence(source: Indexed, place: Match) -> tuple[int, int]:
    """The tokens `[first, last)` of the sentences that a place lies in."""
    first, last = place.first, place.last + 1
    stop = max(0, first - FARTHEST)
    while first > stop and not _ends(source, first):
        first -= 1
    stop = min(len(source.tokens), last + FARTHEST)
    while last < stop and not _ends(source, last):
        last += 1
    return first, last


def quoted(source: Indexed, place: Match) -> bool:
    """Whether a place lies inside quotation marks that it doesn't show."""
    start, end = source.tokens[place.first].start, source.tokens[place.last].end
    text = source.text
    begin = max(0, start - LONGEST_SPEECH)
    opened = max(text.rfind(mark, begin, start) for mark in _OPEN)
    closed = max(text.rfind(mark, begin, start) for mark in _CLOSE)
    paragraph = max(text.rfind("\n\n", begin, start), begin)
    single = [match["open"] for match in _SINGLE.finditer(text, paragraph, start + 1)]
    inside = opened > closed or text.count('"', paragraph, start) % 2 == 1
    return (inside or bool(single and single[-1])) and not any(
        mark in text[start:end] for mark in _CLOSE + '"'
    )


def clause(source: Indexed, place: Match) -> bool:
    """Whether a place begins where a clause does, and ends where one does or where only what joins on is left out."""
    first, last, text = place.first, place.last, source.text
    before = text[source.tokens[max(0, first - 3)].start : source.tokens[first].start][-FARTHEST:]
    if not _BEFORE.search(before):
        return False
    if last + 1 == len(source.tokens):
        return True
    after = source.tokens[last + 1]
    between = text[source.tokens[last].end : after.start]
    return bool(between.strip() or "\n" in between) or after.key in _JOINS


def clipped(source: Indexed, place: Match) -> Match:
    """The part of a place that lies in one sentence: the one that has most of it."""
    parts = [[place.pairs[0]]]
    for (_, before), pair in pairwise(place.pairs):
        if any(_ends(source, index) for index in range(before + 1, pair[1] + 1)):
            parts.append([])
        parts[-1].append(pair)
    longest = max(parts, key=len)
    return Match(tuple(longest))


def _ends(source: Indexed, index: int) -> bool:
    """Whether a sentence ends between a token and the one before; a point behind `Mr` or an initial ends none."""
    if index <= 0 or index >= len(source.tokens):
        return True
    before, after = source.tokens[index - 1], source.tokens[index]
    between = source.text[before.end : after.start]
    initial = before.end - before.start == 1 and source.text[before.start].isupper()
    if between.startswith(".") and (initial or before.key in _SHORT):
        return "\n\n" in between
    return bool(_ENDS.search(between))
