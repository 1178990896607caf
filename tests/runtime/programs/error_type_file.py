open("missing/file")
