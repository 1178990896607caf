import sys
print(sys.maxsize, sys.version_info >= (3, 11), sys.version_info.major, sys.argv, sys.byteorder, sys.getrecursionlimit() > 100, sys.platform, sys.float_info.max, sys.getsizeof([]) > 0, sys.intern("a"), sys.implementation.name, sys.maxunicode, sys.version.split()[0].count("."), sys.hash_info.width, sys.stdout.writable(), sys.stdin.readable(), sys.stdout.encoding)
import io
old = sys.stdout; sys.stdout = io.StringIO(); print("hidden"); got = sys.stdout.getvalue(); sys.stdout = old; print(repr(got))
print("err", file=sys.stderr); sys.stderr.write("x\n"); sys.stdout.flush(); sys.stdout.buffer.write(b"bytes\n"); sys.stdout.flush()
from sys import exit, stdout
stdout.write("out\n")
try: exit("msg")
except SystemExit as e: print(e.code)
