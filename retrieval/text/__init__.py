"""Text itself: its normal form, its tokens, numbers and sentences, and where a quote stands in it.

Pure functions of text, shared by every room. Knows Chinese and English. Does not know documents' storage, search,
claims or judges.
"""

from longproof.retrieval.text.locate import locate
from longproof.retrieval.text.normalise import Folded, fold, without_surrogates
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.text.tokens import cjk_share, is_chinese, tokens

__all__ = [
    "Folded",
    "cjk_share",
    "fold",
    "is_chinese",
    "locate",
    "sentences",
    "tokens",
    "without_surrogates",
]
