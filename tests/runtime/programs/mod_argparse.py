import argparse
p = argparse.ArgumentParser(prog="p", description="d", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
p.add_argument("pos", type=int); p.add_argument("-v", "--verbose", action="store_true"); p.add_argument("--n", type=float, default=1.5, help="num"); p.add_argument("--c", choices=["a", "b"]); p.add_argument("rest", nargs="*"); p.add_argument("--app", action="append"); p.add_argument("-q", action="count", default=0); p.add_argument("--kv", action="extend", nargs="+")
a = p.parse_args(["3", "-v", "--n", "2", "x", "y", "--app", "1", "--app", "2", "-qq", "--kv", "a", "b"]); print(a, vars(a)["n"], a.pos, getattr(a, "rest"))
print(p.parse_known_args(["1", "--zz"]), p.format_usage())
sp = argparse.ArgumentParser(prog="s"); sub = sp.add_subparsers(dest="cmd", required=True); x = sub.add_parser("x"); x.set_defaults(func=lambda ns: "ran x"); x.add_argument("--k"); ns = sp.parse_args(["x", "--k", "1"]); print(ns.cmd, ns.func(ns))
class Up(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None): setattr(namespace, self.dest, values.upper())
p2 = argparse.ArgumentParser(); p2.add_argument("--u", action=Up); g = p2.add_mutually_exclusive_group(); g.add_argument("--a1"); print(p2.parse_args(["--u", "q"]).u, argparse.Namespace(z=1))
try: p.parse_args(["notint"])
except SystemExit as e: print("exit", e.code)
p.parse_args([])
