"""The report that people read, in Chinese or English: a page, an index of pages, a terminal screen, Markdown."""
