quit(True)
