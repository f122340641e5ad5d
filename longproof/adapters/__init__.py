"""Longproof inside other people's pipelines: one module a framework.

Knows: nothing itself; no framework is imported before a function that needs it is called.
Does not know: any rule of judging.
"""
