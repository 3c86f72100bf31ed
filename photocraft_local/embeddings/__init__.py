"""The ``Encoder`` protocol, the encoders, the on-disk vector space and the indexing pipeline.

Knows nothing of search.
"""
