"""Checkpoints of a few MB with the real architecture of the Qwen-VL families and random weights.

``folder.write`` makes one; scripts/make_tiny_checkpoint.py is its command line. Needs torch and
transformers (the engine environment) and nothing of photocraft_local.
"""
