"""What a call leaves on disk, how it is read back, and how it is shown."""
