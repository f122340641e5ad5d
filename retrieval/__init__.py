"""How text is read, cut, folded, compared, aligned and found.

Does not know: claims, judges, or how anything is laid out on disk.
"""
