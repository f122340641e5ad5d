"""Retrieval: how text is read, cut, compared, aligned and found. Knows no claim, no judge and no layout on disk."""
