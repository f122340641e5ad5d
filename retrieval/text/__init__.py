"""Text itself: its normal form, its tokens, numbers and sentences, and where a quote stands in it.

Pure functions of text, shared by every room. Knows Chinese and English. Does not know documents' storage, search,
claims or judges.
"""
