"""What judges are shown: sources in blocks and lines, places, questions, search and scan.

Does not know: what happens next to a claim (policy), or what judges say.
"""
