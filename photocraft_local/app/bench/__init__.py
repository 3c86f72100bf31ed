"""How fast this machine does what the package does: stages, floors, a plot."""
