"""The ``ChatModel`` protocol and its implementations. Knows nothing of photos or tools."""
