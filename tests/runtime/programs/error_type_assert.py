assert 1 == 2, "no"
