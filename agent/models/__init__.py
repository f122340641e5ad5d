"""The seam to language models: how a model is reached, paid for, limited and recorded.

Does not know: claims, judges, or what an answer means.
"""
