"""Traces as data for fine-tuning, with or without what is the person's own."""
