"""The Qwen-VL families as a backbone, whatever engine runs them: prompts, calls, replies."""
