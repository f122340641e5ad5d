"""What a decomposition leaves out of its sentence, found without a model.

Knows: the claims of a sentence must say its names, numbers and each of its denials, and all but replaced words of the
rest. What states no fact is a set phrase as a whole; beside these only a lead-in that says no more than the question
that the response answers, and a question to the reader that names nobody. It compares words, so it doesn't see two
names that changed places. A doubt costs one more claim to check; it never takes a claim away.
Does not know: what the words mean, or who took the sentence apart.
"""

import re
from collections.abc import Iterator, Sequence

from longproof.agent.set_phrases import is_set_phrase
from longproof.agent.tokens import Token, tokens, word_set
from longproof.retrieval.text.tokens import is_chinese

NEGATIONS = word_set("not no never none nobody nothing neither nor without cannot 不 没 无 未")
CONNECTIVES = word_set(
    "and but while whereas although though because since so yet which who where"
    " after before when if until wher whil wherea ther thi thes thos hav wer doe whos 名 位 某 却 还 才 此"
)
"""Words as `tokens` keys them, which cuts endings."""
_TIES = re.compile(r"\b(?:after|before|until|because|if|unless)\b|因|由于|如果|除非", re.IGNORECASE)
"""What makes of two statements a third: which came first, which is the cause, on what condition."""
_CONNECTIVES_ZH = re.compile(
    "然而|随后|于是|同时|此外|因为|所以|因此|由于|虽然|尽管|如果|而且|并且|不过|不仅|不但|但是|接着|后来|另一方面|一方面|与此|一直|还是|总的来说|综上所述|最后|最终|之后|总之|其中|以及|十分|非常|但|并|则"
)
_MARKS = re.compile(
    r"^[\W_]*\d{1,3}[.)．、](?=\s)|\bas well as\b|此人|这人|那人"
    r"|^\W*(?:根据|依据|按照)(?:上述|以上|所给|所提供的)?(?:材料|资料|段落|来源|原文|文章|文本)[，,]"
    r"|^\W*(?:please )?note(?: that\b|\s*[:：])|\bit(?:['’]s| is) (?:also )?(?:worth noting|important to note) that\b"
    r"|[(（\[]\s*(?:passages?|sources?|documents?|段落|材料|资料|来源)\s*\d+"
    r"(?:(?:[\s,&、和]|and|passages?)+\d+)*\s*[)）\]]",
    re.IGNORECASE,
)
"""What says nothing by itself: the number of a list's item, a bracket that names a passage, "note that"."""
_OPENING_EN = re.compile(r"\W*([^,;:—]{1,80}),")
_OPENING_ZH = re.compile(r"\W*([^，；：,]{1,20})[，,]")
OPENINGS = word_set(
    "bas accord provid given abov follow text sourc passag document summary context articl information conclusion"
)
"""Words of an opening that only says where the rest stands, as in "based on the given passages", as `tokens` keys
them."""
ANNOUNCING = OPENINGS | word_set(
    "step guid tip answer question brief breakdown estimat tim therefor need can som"
)
"""Words of a lead-in that announce what comes, as `tokens` keys them."""
_LEAD_IN = re.compile(r"[^.;!?:：]*(?:[\"“][^\"“”]*[\"”][^.;!?:：]*)?[:：]\W*")
_ANNOUNCES = re.compile(r"\b(?:here|following)\b", re.IGNORECASE)
"""How a lead-in that names something announces what comes."""
_INSTRUCTIONS = re.compile(r"(?:^|, |\bhow |\bsteps )to [a-z]", re.IGNORECASE)
"""A lead-in to what somebody may do, which tells nothing that happened."""
MOST_MORE = 2
"""Ordinary words that a lead-in to instructions may say beyond the question."""
_TO_THE_READER = re.compile(
    r"\W*(?:(?:what|how|which)(?: \w+)? (?:do|does|did|can|could|would|will|are|is|was|were|should) (?:you|your|we)"
    r"|would you like)\b"
    r"[^,;:.?()—]*\?\W*",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:s?he|h[ei][rs]s?|him|they|them|theirs?|its?|that|who\w*|because|since|after|before|when|while)\b",
    re.IGNORECASE,
)
"""What in a question speaks of somebody, or holds a clause that may tell anything."""
_ASSENT = re.compile(r"\W*(?:sure|of course|certainly)\W*", re.IGNORECASE)
_OPEN_QUESTION = re.compile(r"\W*(?:how|what|why|where|when|which)\b", re.IGNORECASE)
"""A question that no assent answers."""
_ASKS_WHETHER = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b|.*(?:\b(?:if|whether|true)\b|[吗否])"
    r"|.*(.)[不没]\1",
    re.IGNORECASE | re.DOTALL,
)
"""A question that is answered by being repeated."""
LONGEST_FORM = 200
"""A longer sentence states something, whatever its form."""


def may_state_no_fact(sentence: str, context: str = "") -> bool:
    """True if a sentence bears out a model's word that there is no fact in it.

    `context` is the question that the response answers, the user's own words.
    """
    bare = sentence.strip()
    if is_set_phrase(bare) or not any(map(str.isalnum, bare)):
        return True
    if len(bare) > LONGEST_FORM:
        return False
    if _ASSENT.fullmatch(bare):
        return bool(_OPEN_QUESTION.match(context))
    if _TO_THE_READER.fullmatch(bare):
        return not _TELLS.search(bare) and not any(_must_stay(token, bare) for token in _content(bare))
    return _LEAD_IN.fullmatch(bare) is not None and _repeats_question(bare, context)


def _repeats_question(lead_in: str, context: str) -> bool:
    """True if a lead-in says no more than the question; in one to instructions two ordinary words may be new."""
    named = any(_must_stay(token, lead_in) for token in _content(lead_in))
    if _negations(lead_in) or _ASKS_WHETHER.match(context) or (named and not _ANNOUNCES.search(lead_in)):
        return False
    asked = {_beginning(token.key) for token in _content(context)}
    wanted = [token for token in _content(lead_in) if token.key not in ANNOUNCING]
    new = [token for token in wanted if _beginning(token.key) not in asked]
    if not new:
        return True
    few = len(new) <= min(MOST_MORE, len(wanted) - len(new))
    plain = not any(_must_stay(token, lead_in) for token in new)
    return few and plain and _INSTRUCTIONS.search(lead_in) is not None


def omits(sentence: str, claims: Sequence[str], known: str = "") -> bool:
    """True if something that the sentence says is in none of its claims.

    An ordinary word may be replaced by another, never dropped; at least half of the words must stay. `known` is the
    text that pronouns are resolved by: its words replace nothing.
    """
    wanted, said = list(_content(sentence)), [token for claim in claims for token in _content(claim)]
    keys = {token.key for token in said}
    denials, kept = len(_negations(sentence)), sum(len(_negations(claim)) for claim in claims)
    if denials > kept or (kept and not denials):
        return True
    if _TIES.search(sentence, _opening(sentence)) and not any(map(_TIES.search, claims)):
        return True
    missing = [token for token in wanted if token.key not in keys]
    if any(_must_stay(token, sentence) for token in missing):
        return True
    begun, opening = {_beginning(key) for key in keys}, _opening(sentence)
    missing = [token for token in missing if _beginning(token.key) not in begun and token.end > opening]
    if not missing:
        return False
    there = {token.key for text in (sentence, known) for token in _content(text)}
    return len(missing) > len(keys - there) or 2 * len(missing) > len(wanted)


def _content(text: str) -> Iterator[Token]:
    """The tokens that carry content: no function words, no connectives, no "one"."""
    plain = _MARKS.sub(lambda found: " " * len(found[0]), text)
    plain = _CONNECTIVES_ZH.sub(lambda found: " " * len(found[0]), plain)
    for token in tokens(plain):
        article = token.key == "#1.0" and not plain[token.start].isdigit()
        if token.content and token.key not in CONNECTIVES and not article:
            yield token


def _negations(text: str) -> list[str]:
    """The words that deny, as often as they stand there."""
    plain = _CONNECTIVES_ZH.sub("", text)
    words = (plain[token.start : token.end].lower().replace("’", "'") for token in tokens(plain))
    return [word for word in words if word in NEGATIONS or word.endswith("n't")]


def _must_stay(token: Token, sentence: str) -> bool:
    """A number, or a word inside a sentence that is written as a name."""
    if token.number is not None:
        return True
    return sentence[token.start].isupper() and any(map(str.isalnum, sentence[: token.start]))


def _beginning(key: str) -> str:
    """What a word shares with its kin, as `marri(ed)` with `marri(age)`; a number is its own."""
    return key if key.startswith("#") else key[:4]


def _opening(sentence: str) -> int:
    """The end of an opening that says nothing itself: one word and a comma, or a mention of the text and no more."""
    found = (_OPENING_ZH if is_chinese(sentence) else _OPENING_EN).match(sentence)
    if found is None:
        return 0
    new = [token for token in _content(found[1]) if token.key not in OPENINGS]
    return found.end() if not new or len(list(_content(found[1]))) < 2 else 0
