import sys
try: sys.exit(4)
finally: print("cleanup")
