"""The embedded default encoder, from weights in packages: things seen directly, and soft words.

An object detector says which of 80 everyday things a photo shows, a classifier which of 1,000
classes; a query that names one is decided by that. For all other words the classes' evidence is
mapped into the space of a small sentence model (ConSE, Norouzi et al. 2013), so that a photo and
a sentence meet there. It sees what its classes and a little hand-written knowledge name.
"""
