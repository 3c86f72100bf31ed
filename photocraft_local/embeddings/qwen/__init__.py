"""Qwen3-VL-Embedding folders that a person placed, run by vLLM or transformers."""
