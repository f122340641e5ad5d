"""The report that people read: a page, an index of pages, a terminal screen, Markdown.

Knows: what a reader sees first, in Chinese or English, and how a text is shown without being obeyed.
Does not know: how anything was judged.
"""
