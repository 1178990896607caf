"""What a program imports: declarations, JSON Schema to Python types, the rendering of `litany_tools`, its client."""
