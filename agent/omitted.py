"""What a decomposition leaves out of its sentence, found without a model.

Knows: the claims of a sentence must say its names, numbers and negations, and all but replaced words of the rest;
only what looks like a courtesy, a question, a heading or a lead-in states no fact. It compares words, so it doesn't
see two names that changed places. A doubt costs one more claim to check; it never takes a claim away.
Does not know: what the words mean, or who took the sentence apart.
"""

import re
from collections.abc import Iterator, Sequence

from longproof.agent.offline.decompose import states_fact
from longproof.agent.offline.tokens import Token, tokens, word_set
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
    r"|^\W*(?:please )?note(?: that\b|\s*[:：])|\bit(?:['’]s| is) (?:also )?(?:worth noting|important to note) that\b"
    r"|[(（\[]\s*(?:passages?|sources?|documents?|段落|材料|资料|来源)\s*\d+"
    r"(?:(?:[\s,&、和]|and|passages?)+\d+)*\s*[)）\]]",
    re.IGNORECASE,
)
"""What says nothing by itself: the number of a list's item, a bracket that names a passage, "note that"."""
_OPENING_EN = re.compile(r"\W*([^,;:—]{1,80}),")
_OPENING_ZH = re.compile(r"\W*([^，；：,]{1,20})[，,]")
_ABOUT_THE_TEXT = re.compile(
    r"\b(?:texts?|sources?|passages?|documents?|summary|context|articles?|information)\b|文|材料|资料|段落|来源",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\W*(?:(?:and|but|so|then)\W+)?(?:who|whom|whose|what|when|where|why|how|which|is|are|was|were|do|does|did|has|have"
    r"|had|can|could|will|would|shall|should|may|might)\b[^.;:—(]*\?\W*"
    r"|[^（(]*[吗呢么谁什哪何怎几多否][^，。；：（(]*[?？]\W*",
    re.IGNORECASE,
)
_ADVISER = (
    r"(?:professional|provider|doctor|physician|pharmacist|dentist|veterinarian|lawyer|attorney|therapist)"
)
_OF_ANSWERS = (
    r"(?:an?|any|the|this|your|you|straightforward|definitive|complete|question|answer|based|on|to|with|from|for|in"
    r"|given|provided|passages?|context|information)"
)
_OFFERS = re.compile(
    r"\W*(?:please )?(?:let me know|feel free|don['’]t hesitate|i hope this)\b[^,;:—(]{0,80}"
    r"|\W*(?:(?:sure|of course|certainly)\W+)?i(?: can|['’]ll) help(?: you)?(?: with (?:that|this))?\W*"
    rf"|(?:\w+,? )?(?:(?:i am|i['’]m) )?unable to (?:answer|give|provide)(?:\W+{_OF_ANSWERS})*\W*"
    r"|\W*(?:please |it(?:['’]s| is) (?:always |also )?(?:recommended|advisable|best|important) to )?"
    r"(?:consult|see|seek (?:help|advice) from|speak (?:to|with)|talk to)(?: with)? (?:an?|your)"
    rf"(?: (?:qualified|licensed|local|medical|legal|mental|health|healthcare|care))* {_ADVISER}\W*"
    r"|\W*(?:建议|请)(?:您|你)?(?:及时|尽快|立即)?(?:就医|咨询医生|咨询专业人士|寻求专业帮助)\W*"
    r"|\W*(?:希望[这以本]|如果?您?[有需])[^，。；：（(]{0,16}(?:，[^，。；：（(]{0,16})?[。！!]?\W*",
    re.IGNORECASE,
)
"""Offers of help, apologies for having no answer, advice to ask a professional."""
_ANNOUNCES = re.compile(
    r"\b(?:here|below|following|follows|summary|overview)\b|以下|如下|下面|概述|总结|摘要|要点", re.IGNORECASE
)
"""How a lead-in that names something announces what comes."""
_CLOSING = "*_\"'”’」』)） "
_QUESTION_MARKS = ("?", "？")
LONGEST_COURTESY = 600
"""A longer sentence states something, whatever its form."""


def may_state_no_fact(sentence: str) -> bool:
    """True if the form of a sentence bears out a model's word that there is no fact in it."""
    bare = sentence.strip()
    if len(bare) > LONGEST_COURTESY:
        return False
    if any(mark in bare[-4:] for mark in _QUESTION_MARKS):
        return bool(_ASKS.fullmatch(bare))
    if bare.startswith("#"):
        return not bare.endswith((".", "。", "!", "！"))
    if states_fact(sentence):
        return bool(_OFFERS.fullmatch(bare))
    names = any(_must_stay(token, bare) for token in _content(bare))
    return not (bare.rstrip(_CLOSING).endswith((":", "：")) and names) or bool(_ANNOUNCES.search(bare))


def omits(sentence: str, claims: Sequence[str], known: str = "") -> bool:
    """True if something that the sentence says is in none of its claims.

    An ordinary word may be replaced by another, never dropped; at least half of the words must stay. `known` is the
    text that pronouns are resolved by: its words replace nothing.
    """
    wanted, said = list(_content(sentence)), [token for claim in claims for token in _content(claim)]
    keys = {token.key for token in said}
    if bool(NEGATIONS & _negations(sentence)) != any(_negations(claim) for claim in claims):
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


def _negations(text: str) -> set[str]:
    """Words that deny, `n't` as `not`."""
    plain = _CONNECTIVES_ZH.sub("", text)
    keys = {plain[token.start : token.end].lower().replace("’", "'") for token in tokens(plain)}
    return (keys & NEGATIONS) | {"not" for key in keys if key.endswith("n't")}


def _must_stay(token: Token, sentence: str) -> bool:
    """A number, or a word inside a sentence that is written as a name."""
    if token.number is not None:
        return True
    return sentence[token.start].isupper() and any(map(str.isalnum, sentence[: token.start]))


def _beginning(key: str) -> str:
    """What a word shares with its kin, as `marri(ed)` with `marri(age)`; a number is its own."""
    return key if key.startswith("#") else key[:4]


def _opening(sentence: str) -> int:
    """Where an opening ends that says nothing itself: one word and a comma, or a mention of the text."""
    found = (_OPENING_ZH if is_chinese(sentence) else _OPENING_EN).match(sentence)
    if found is None:
        return 0
    says_where = bool(_ABOUT_THE_TEXT.search(found[1]))
    return found.end() if says_where or len(list(_content(found[1]))) < 2 else 0
