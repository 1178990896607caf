"""What a tool is, and what runs behind its name: a function, a process, a program."""
