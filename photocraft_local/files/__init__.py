"""Photo files: walk, content identity, header metadata, decode to upright sRGB.

Knows nothing of the database, of models or of the GPU. Every file is untrusted: a format is
decided by content, sizes are checked before memory is asked for, and whatever is wrong with a
file is a ``PhotoError`` that names it or a flag of ``flags.FLAGS``. ``docs/formats.md`` says
which file proves each format. Paths are bytes: a file name need not be UTF-8.
"""
