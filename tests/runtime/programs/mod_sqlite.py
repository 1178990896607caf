import sqlite3
con = sqlite3.connect(":memory:"); con.row_factory = sqlite3.Row; cur = con.cursor()
cur.execute("create table t(id integer primary key, n text, v real)"); cur.executemany("insert into t(n, v) values (?, ?)", [("a", 1.5), ("b", None)]); con.commit()
print([dict(r) for r in con.execute("select * from t where n = :n", {"n": "a"})], cur.lastrowid, cur.execute("select count(*) from t").fetchone()[0], [d[0] for d in con.execute("select id, n from t").description])
with con: con.execute("update t set v = 2 where n = 'b'")
try: con.execute("select zz from t")
except sqlite3.OperationalError as e: print(e)
try:
    with con: con.execute("insert into t(id) values (1)")
except sqlite3.IntegrityError as e: print(e)
con.create_function("twice", 1, lambda x: x * 2); print(con.execute("select twice(n) from t").fetchall()[0][0])
class Agg:
    def __init__(self): self.s = 0
    def step(self, v): self.s += v
    def finalize(self): return self.s
con.create_aggregate("mysum", 1, Agg); print(con.execute("select mysum(v) from t").fetchone()[0], con.total_changes, con.in_transaction); con.close()
with sqlite3.connect("f.db") as c: c.execute("create table q(x)"); c.execute("insert into q values (?)", (b"b",))
c.close(); print(sqlite3.connect("f.db").execute("select x from q").fetchall(), sqlite3.connect("file:f.db?mode=ro", uri=True).execute("select 1").fetchone())
c2 = sqlite3.connect("f.db"); c2.execute("attach 'g.db' as g"); c2.execute("create table g.h(y)"); print(c2.execute("select name from g.sqlite_master").fetchall(), [l for l in c2.iterdump()][:2])
class Con(sqlite3.Connection):
    def q(self, s): return self.execute(s).fetchall()
print(sqlite3.connect(":memory:", factory=Con).q("select 7"), isinstance(c2, sqlite3.Connection), type(c2).__name__)
