"""Words that both languages' texts are read with: stop words, courtesies, talk about the text itself.

Closed classes written by hand, folded (simplified script, lower case). Nothing here was taken from a data set.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONNECTIVES_EN = _words("and but while whereas although though because since so yet which who where")

COURTESIES = frozenset(
    line.strip()
    for line in """
    sure/sure thing/of course/thanks/thank you/thank you very much/hello/hi/hi there/hey/okay/ok/yes/no/goodbye/bye
    you're welcome/you are welcome/good morning/good evening/i hope this helps/hope this helps/great question
    let me know if you have any other questions/let me know if you have any questions/i'm sorry/sorry
    谢谢/谢谢您/谢谢你/你好/您好/好的/再见/不客气/对不起/希望对您有帮助/希望对你有帮助
    """.replace("\n", "/").split("/")
    if line.strip()
)

STOP_EN = _words(
    """
    a an the and or but if while of at by for with about against between into through during before after above below
    to from up down in out on off over under again then once here there when where why how all any both each few more
    most other some such no nor not only own same so than too very s t can will just don should now is are was were be
    been being have has had having do does did doing would could may might must shall i me my we us our you your he
    him his she her it its they them their what which who whom this that these those am as also because until upon
    within without across per via cannot
    """
)

TALK_EN = _words(
    """
    based given passage provided provide provides according information mention mentioned mentions include includes
    including additionally however therefore overall note noted important state stated states summary answer question
    context text article source say says said describe described describes explain explained discuss discussed suggest
    suggests refer refers example specific specifically various several many much one two way ways thing things use
    used using make made well like able follow following certain different general generally typically often usually
    sure yes know think great really lot people person guess love good nice get go see i'm it's don't that's
    """
)
"""Words with which answers talk about their evidence, or that say next to nothing: not counted as content."""

NEGATIONS_EN = _words(
    """
    not no never none neither nor without cannot nobody nothing fail fails failed lack lacks lacking unable hardly
    don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't shouldn't hasn't haven't hadn't
    """
)

MONTHS = _words("january february march april may june july august september october november december")
VENUES = _words("arena center centre garden stadium park field hall dome coliseum forum conference division")
"""A name that ends so is where one plays, in or under, which records leave out."""
WEEKDAYS = _words("monday tuesday wednesday thursday friday saturday sunday")

EXTREMES_EN = _words(
    """
    always never every none only solely entirely completely totally exclusively fully consistently regardless
    negligible unprecedented perfectly absolutely definitely
    """
)
"""Words that leave no exception."""

META_EN = _words(
    """
    mention mentioned provide provided state stated specify specified include included describe described discuss
    discussed explain explained contain contained indicate indicated clear
    """
)
"""Said of the evidence itself: that it does not mention something denies nothing in it."""

STOP_ZH = frozenset(
    "的了着过地得之也都就便又才却而且并与和同跟及或把被将给向往从到在于以为是有个这那其他她它们自己只还再等所里上下中去来"
)
