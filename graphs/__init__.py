"""What happens after what: settings, protocols, state, nodes and the graphs themselves.

Does not know: how any step does its work.
"""
