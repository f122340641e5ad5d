"""Who is named: persons in Chinese text, capitalised names in other scripts, and where they are mentioned.

Knows: surnames, titles, recurring strings; that a person may be called by surname and title, or by given name.
Does not know: what a person does. No dictionary of persons: a name is what recurs in the evidence.
"""

import re
from collections.abc import Iterator

from longproof.agent.offline.reading import Evidence, Place
from longproof.agent.offline.words import STOP_ZH
from longproof.agent.offline.words_zh import NAME_ENDS, NOT_PEOPLE, SURNAMES

_HAN = re.compile("[\u4e00-\u9fff]+")
_SHORT_TITLES = (
    "老爷|先生|相公|公子|爷|太|奶|员外|知|守|学道|御史|举人|秀才|贡|监|大人|老|兄|弟|哥|公|父|生"
    "|大|二|三|四|五|六|七|八"
)
FAMILY = SURNAMES - STOP_ZH
OFTEN = 2
"""A string that occurs less often in the evidence is not taken for a name."""
KEPT = 0.6
"""A longer string that keeps this share of a shorter one's occurrences is the name."""


def persons(text: str, evidence: Evidence, *, leading: bool = False) -> list[str]:
    """Chinese persons in a text (`leading`: at its very beginning) who also occur in the evidence, in order."""
    counts = {
        name: count(name, evidence) for name in _candidates(text) if not leading or text.startswith(name)
    }
    often = {name: n for name, n in counts.items() if n >= OFTEN}
    return [name for name in often if _person(name) and not _part_of_another(name, counts)]


def _candidates(text: str) -> Iterator[str]:
    for run in _HAN.finditer(text):
        word = run[0]
        for at, character in enumerate(word):
            for size in (2, 3, 4) if character in FAMILY else ():
                if len(word) - at >= size and _like_a_name(word[at : at + size]):
                    yield word[at : at + size]


def _like_a_name(name: str) -> bool:
    return name not in NAME_ENDS and STOP_ZH.isdisjoint(name[1:])


def _person(name: str) -> bool:
    return name[-1] not in NOT_PEOPLE or name.endswith(NAME_ENDS)


def _part_of_another(name: str, counts: dict[str, int]) -> bool:
    """Whether a longer candidate holds the name nearly always, or this one is a shorter one and a word after it."""
    longer = any(name in other and n >= KEPT * counts[name] for other, n in counts.items() if other != name)
    shorter = any(name.startswith(o) and counts[name] < 0.4 * n for o, n in counts.items() if o != name)
    return longer or shorter


def count(name: str, evidence: Evidence) -> int:
    """How often a string occurs in the evidence."""
    return sum(text.count(name) for text in evidence.texts)


def calling(name: str) -> re.Pattern[str]:
    """A pattern for the ways in which a person may be mentioned: the name, surname and title, the given name."""
    ways = [re.escape(name)]
    if name[0] in SURNAMES:
        ways.append(f"{re.escape(name[0])}(?:{_SHORT_TITLES})")
        if len(name) >= 3:
            ways.append(re.escape(name[-2:]))
    return re.compile("|".join(ways))


def mentioned(name: str, evidence: Evidence, place: Place, reach: int) -> bool:
    """Whether a person is mentioned in the place or within `reach` characters of it."""
    return calling(name).search(evidence.around(place, reach)) is not None
