"""The door: the one way of every call, and what is decided on it."""
