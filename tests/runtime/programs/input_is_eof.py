try: input("prompt> ")
except EOFError as e: print("eof", e)
import sys
print(repr(sys.stdin.read()), list(sys.stdin), repr(sys.stdin.readline()))
