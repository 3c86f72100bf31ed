"""What an agent can do with a library: one file a tool, a JSON schema each, and the registry.

A tool's failure is an observation that says what went wrong and the way out. Knows nothing of
prompts, of the loop or of how memory works.
"""
