"""An operator's rules over calls: by tool, by argument, by command line, by path."""
