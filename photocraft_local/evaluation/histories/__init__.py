"""Made-up photo histories: libraries composed of labelled photos, and questions whose right
photos are known.

Knows what is true of each photo and what its file states; nothing of how a search is built.
"""
