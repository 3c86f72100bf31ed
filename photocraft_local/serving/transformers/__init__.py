"""A Qwen-VL model in this process, by transformers: for machines without vLLM."""
