"""A workspace: its repository, its agents, how it is made."""
