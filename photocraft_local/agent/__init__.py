"""The agent: the loop, its interrupts, trajectories, prompts as files, the rule-based planner.

Knows how an episode runs; knows nothing of how its parts are built (that is app.py's).
"""
