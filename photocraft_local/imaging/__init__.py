"""Pictures as a model or a person sees them: crops, model-sized views, labelled sheets.

Owns geometry and drawing; knows files, nothing of the library, of models or of tools.
"""
