import array, struct
a = array.array("i", [1, 2, 3]); a.append(4); print(a, a[1], a.tobytes()[:4], sum(a), a.typecode, a.itemsize)
p = struct.pack(">Ih", 1, -2); print(p, struct.unpack(">Ih", p), struct.calcsize("<q"), struct.Struct("<H").pack(7), list(struct.iter_unpack("<H", b"\x01\x00\x02\x00")))
try: struct.pack("B", 300)
except struct.error as e: print("struct.error")
