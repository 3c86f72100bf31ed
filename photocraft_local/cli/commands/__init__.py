"""One file a command: ``configure(parser)`` declares its arguments, ``run(args, console)``
does it and gives the exit code. A command is imported only when it is the one that was asked for.
"""
