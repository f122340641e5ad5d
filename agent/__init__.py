"""How claims are made, asked about, judged, counted and reported.

Does not know: LangGraph, or how evidence was found.
"""
