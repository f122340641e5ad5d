"""How far a panel of judges may be trusted without labels, and what that means for a long text.

Does not know: who asks judges, what is done about a doubtful conviction (policy), or how any of it is shown.
"""
