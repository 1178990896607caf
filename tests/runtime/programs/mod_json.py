import json
class Enc(json.JSONEncoder):
    def default(self, o): return sorted(o) if isinstance(o, set) else super().default(o)
print(json.dumps({"b": 1, "a": [1, 2.5, None, True, "é"]}, sort_keys=True), json.dumps([1], indent=2), json.loads('{"x": [1, {"y": null}]}'), json.dumps({3, 1}, cls=Enc), json.dumps("é", ensure_ascii=False), json.dumps({"a": 1}, separators=(",", ":")), json.loads("[1.5]", parse_float=str), json.loads('{"a": 1}', object_hook=lambda d: list(d.items())))
try: json.loads("{bad")
except json.JSONDecodeError as e: print(e.lineno, e.colno, e)
try: json.dumps(object)
except TypeError as e: print(e)
with open("x.json", "w") as f: json.dump({"k": [1]}, f)
with open("x.json") as f: print(json.load(f))
print(json.dumps(1, default=str), json.dumps({"o": object}, default=lambda o: "obj"))
