class E(Exception): pass
try: 1 / 0
except ZeroDivisionError as z: raise E("wrapped") from z
