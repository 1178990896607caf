import csv, io
buf = io.StringIO(); w = csv.writer(buf, quoting=csv.QUOTE_MINIMAL); w.writerow(["a", "b,c", 'd"e']); w.writerows([[1, 2, 3]]); print(repr(buf.getvalue()))
print(list(csv.reader(["x,y", '"q,r",s'])), [dict(r) for r in csv.DictReader(["n,v", "a,1", "b,2"])])
d = csv.DictWriter(out := io.StringIO(), ["n", "v"], extrasaction="ignore"); d.writeheader(); d.writerow({"n": 1, "v": 2, "z": 3}); print(out.getvalue())
with open("t.csv", "w", newline="") as f: csv.writer(f, delimiter=";").writerow([1, "x;y"])
with open("t.csv", newline="") as f: print(list(csv.reader(f, delimiter=";")))
print(csv.Sniffer().sniff("a;b;c\n1;2;3").delimiter, csv.list_dialects())
class D(csv.excel): delimiter = "|"
csv.register_dialect("pipe", D); print(list(csv.reader(["a|b"], "pipe")))
