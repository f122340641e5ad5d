"""Retrieval: loading and chunking text, lexical and dense indexes, alignment of a response with its source.

Does not know: claims, judges, or how anything is laid out on disk.
"""
