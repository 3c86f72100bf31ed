"""Exact search: filter expressions over time-sorted columns, and vectors in a memory-mapped store.

Knows photos by id and UID only; nothing of tools, prompts or language models.
"""
