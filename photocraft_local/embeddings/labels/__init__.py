"""The embedded default encoder: label search with soft matching, from weights in packages.

An image classifier's evidence for 1,000 classes is mapped into the space of a small sentence
model (ConSE, Norouzi et al. 2013), so that a photo and a sentence meet in one space. Beside it stands what was seen directly: 80 things
by an object detector, the 1,000 classes by name.
It is a stopgap: it sees what its classes and a little hand-written knowledge name, nothing else.
"""
