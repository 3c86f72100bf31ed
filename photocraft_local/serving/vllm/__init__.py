"""A Qwen-VL backbone on vLLM: the server process and what it is started with, the client."""
