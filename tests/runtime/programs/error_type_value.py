int("q")
