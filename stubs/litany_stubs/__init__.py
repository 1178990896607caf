"""What a program imports: declarations, schema to Python types, the rendering of `litany_tools`, its client."""
