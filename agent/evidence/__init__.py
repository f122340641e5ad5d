"""How lines of evidence are shown and cited, and how a model looks for them: by searching, by reading all.

Does not know: how sources are stored or indexed, or who judges by the lines.
"""
