"""How documents, and what retrieval builds from them, are stored, opened and checked.

Does not know: what they are used for. The bytes lie in the user's data folder, not here.
"""
