"""The local page of `longproof serve`: give texts, start a check, watch it, mark findings, correct, decide.

Knows: HTTP, and the folder `serve/` in the data folder. Does not know: any rule of judging, or how a report is drawn.
"""
