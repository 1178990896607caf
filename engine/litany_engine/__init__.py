"""What a program reaches: workspace, records, tools, the door, control, the acts, the command line."""
