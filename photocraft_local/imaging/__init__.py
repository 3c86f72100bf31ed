"""Pictures as a model or a person sees them: crops, model-ready numbers, labelled sheets.

Owns geometry and drawing; knows files, nothing of the library, of models or of tools.
"""
