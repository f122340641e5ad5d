"""What a model is told: one Markdown file an utterance.

Does not know: who sends it, or what the answer is used for.
"""
