"""Making labelled data: LongNovel's, PROBE's and HaluEval's constructions.

Knows: how each makes its texts and labels, what is checked before a label is believed, and the files of a made set.
Does not know: how checking works inside, or how accuracy is measured.
"""
