"""A run as one page that can be mailed: figures, plots drawn here, the worst failures.

Knows result rows and traces; everything that it shows counts as untrusted.
"""
