"""The transformers backend put to the test on a GPU that has no vLLM: the same tokens as the CPU,
kept prefixes, pictures, memory, speed.

``scripts/gpu_check.sh`` is its command line. Needs torch and transformers; what else is absent on a
machine is reported, not failed.
"""
