from math import sqrt
sqrt(-1)
