import sys
def depth(n=1):
    try: return depth(n + 1)
    except RecursionError: return n
print(sys.getrecursionlimit())
for n in (1, 0, -1, 5):
    try: sys.setrecursionlimit(n); print("set", n)
    except Exception as e: print(type(e).__name__, str(e).split(' depth')[0])
sys.setrecursionlimit(1000)
def deep(n):
    if n: return deep(n - 1)
    try: sys.setrecursionlimit(30)
    except RecursionError as e: print(str(e).split(' depth')[0])
deep(100)
sys.setrecursionlimit(150); print(sys.getrecursionlimit()); sys.setrecursionlimit(1000)
sys.setrecursionlimit(60)
class E(Exception): pass
try: depth(); raise E('told')
finally: print('last')
