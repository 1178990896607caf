"""The Model Context Protocol, both ways: litany as a server, and servers as tools of a workspace."""
