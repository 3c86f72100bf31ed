"""What an agent keeps while it works and after: working state, episodes, hints for later.

Plain OpenAI-style messages in, messages out, so another loop can use it. Knows nothing of the
loop that drives it, of tools' inner workings or of models.
"""
