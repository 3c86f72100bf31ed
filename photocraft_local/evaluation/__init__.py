"""Evaluation: questions with gold sets, metrics, resumable runs, the layouts of data sets.

Knows what an answer is worth; knows nothing of how a search is built (that is app's).
"""
