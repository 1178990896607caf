import hashlib, hmac, secrets, uuid, zlib
print(hashlib.sha256(b"x").hexdigest(), hashlib.md5(b"x").hexdigest(), hashlib.new("sha1", b"x").digest()[:3], hashlib.blake2b(b"x", digest_size=8).hexdigest(), hmac.new(b"k", b"m", "sha256").hexdigest(), hmac.compare_digest("a", "a"), len(secrets.token_hex(8)), secrets.choice([1]), hashlib.pbkdf2_hmac("sha256", b"p", b"s", 10).hex()[:8])
h = hashlib.sha1(); h.update(b"a"); h.update(b"b"); print(h.hexdigest(), h.name, h.digest_size, "sha256" in hashlib.algorithms_guaranteed)
print(uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"), len(str(uuid.uuid4())), uuid.UUID("12345678123456781234567812345678").version, zlib.crc32(b"a"))
