"""`litany.toml`: its settings, their readers, their units."""
