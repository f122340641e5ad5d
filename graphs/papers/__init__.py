"""The papers' methods: a file a paper, each with its protocols and the small graphs that run them.

Built from the product's nodes, and from nodes of a paper's own where it has them. docs/protocols.md says where each
number stands in its paper, and where we differ. Nothing of the product depends on anything in here.
"""
