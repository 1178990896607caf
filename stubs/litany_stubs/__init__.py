"""What a program imports: declarations, schema to Python types, the `litany_tools` text and its client."""
