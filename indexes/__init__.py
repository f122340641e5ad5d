"""Storing documents, and what retrieval builds from them; opening and checking both.

Does not know: what they are used for. The bytes lie in the user's data folder, not here.
"""
