from math import *
from math import sqrt as root, pi
import math as M
print(sqrt(16), root(9), pi, M.cos(0), floor(2.5))
