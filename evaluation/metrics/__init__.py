"""Scores: pure functions of gold and predicted columns of one length. They import nothing but types.

Knows: `gold` is a list of names (the seven labels, or the outcomes `faithful` and `hallucinated`), in `predicted`
None, `undecided` or a failure's name may stand, too. Laws: an undecided prediction is the wrong class, counted, never
dropped; a rate whose denominator is empty is None, never 0 and never NaN; beside every rate stands its coverage.
Does not know: data sets, or how scores are shown.
"""
