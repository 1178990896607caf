import base64, binascii
print(base64.b64encode(b"hello"), base64.b64decode("aGVsbG8="), base64.urlsafe_b64encode(b"\xff\xfe"), base64.b32encode(b"a"), base64.b16encode(b"\x0f"), base64.b85encode(b"abc"), binascii.hexlify(b"ab"), binascii.unhexlify("6162"), binascii.crc32(b"x"))
try: base64.b64decode("a")
except binascii.Error as e: print(e)
