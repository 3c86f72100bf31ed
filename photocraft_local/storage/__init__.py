"""What lies on disk below the library: SQLite, the write lock, files of rows. Knows no photos."""
