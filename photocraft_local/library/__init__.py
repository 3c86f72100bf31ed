"""Photo rows: which photos there are, when and where they were taken, and on which paths.

Knows nothing of vectors' meaning, search or models.
"""
