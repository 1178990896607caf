import zlib, gzip, bz2, lzma, io
d = b"data" * 100
print(zlib.decompress(zlib.compress(d)) == d, gzip.decompress(gzip.compress(d)) == d, bz2.decompress(bz2.compress(d)) == d, lzma.decompress(lzma.compress(d)) == d)
with gzip.open("f.gz", "wt") as f: f.write("text\nmore")
with gzip.open("f.gz", "rt") as f: print(f.read())
with bz2.open("f.bz2", "wb") as f: f.write(d)
with lzma.open("f.xz", "wb") as f: f.write(d)
print(bz2.open("f.bz2").read() == d, lzma.open("f.xz").read() == d)
c = zlib.compressobj(); print(zlib.decompress(c.compress(d) + c.flush()) == d)
try: zlib.decompress(b"bad")
except zlib.error as e: print("zlib.error")
