"""The embedded default encoder: label search with soft matching, from weights in packages.

An image classifier's evidence for 1,000 classes is mapped into the space of a small sentence
model (ConSE, Norouzi et al. 2013), so that a photo and a sentence meet in one 384-d space.
It is a stopgap: it sees what its classes and a little hand-written knowledge name, nothing else.
"""
