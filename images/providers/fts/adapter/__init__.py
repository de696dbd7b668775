"""The reference provider: observations word for word in SQLite FTS5, and nothing cleverer."""
