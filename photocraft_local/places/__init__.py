"""Where things are, offline: coordinates to names, names to areas, distances and local time.

Knows nothing of photos, databases of photos or questions. Modules are imported where they are
used, so that importing this package costs nothing.
"""
