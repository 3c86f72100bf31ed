"""The command line: arguments, printing, progress, exit codes.

Knows how to ask ``PhotoSearch`` and how to show what it says; holds no logic of search.
"""
