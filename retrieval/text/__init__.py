"""Text itself: its folded form, its tokens and sentences, and where a quote stands in it.

Pure functions of text, shared by every room. Knows Chinese and English. Does not know documents' storage, search,
claims or judges.
"""

from longproof.retrieval.text.fold import Folded, fold
from longproof.retrieval.text.locate import locate
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.text.tokens import cjk_share, is_chinese, tokens

__all__ = ["Folded", "Number", "cjk_share", "fold", "is_chinese", "locate", "sentences", "tokens"]
