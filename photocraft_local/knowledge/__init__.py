"""Local knowledge: saved pages, Markdown, text and PDF of the person, as passages to look up.

Owns the readers, the store and its pictures (ids that begin with ``k``). What a file says is
untrusted: it is read in a process of its own, and nothing that it points to outside this
machine is fetched. Knows nothing of tools and prompts.
"""
