"""Many cases: a case file in, a folder with a report a case, its results and an index page out.

Knows: what is left of a run that was stopped, and who works on it: this process or a pool of Ray workers.
Does not know: how a case is checked, or how options are given.
"""
