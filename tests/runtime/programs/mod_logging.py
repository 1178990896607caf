import logging, io, sys
s = io.StringIO(); h = logging.StreamHandler(s); h.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
log = logging.getLogger("app.x"); log.setLevel(logging.DEBUG); log.addHandler(h); log.propagate = False
log.debug("d %s", 1); log.info("i %(k)s", {"k": "v"}); log.warning("w"); log.error("e")
try: 1 / 0
except ZeroDivisionError: log.exception("exc")
print(s.getvalue().splitlines()[:6], s.getvalue().splitlines()[-1])
class L(logging.Handler):
    def __init__(self): super().__init__(); self.out = []; self._n = 0
    def emit(self, r): self.out.append(self.format(r)); self._n += 1
l = L(); logging.getLogger("z").addHandler(l); logging.getLogger("z").warning("hi"); print(l.out, l._n)
class Fm(logging.Formatter):
    def format(self, record): return "[" + super().format(record) + "]"
h2 = logging.StreamHandler(sys.stdout); h2.setFormatter(Fm("{levelname}-{message}", style="{")); g = logging.getLogger("fm"); g.addHandler(h2); g.propagate = False; g.error("styled")
logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s", level=logging.INFO); logging.info("root"); logging.getLogger(__name__).info("named")
log.removeHandler(h); f = logging.FileHandler("x.log"); log.addHandler(f); log.info("to file"); f.close(); print(open("x.log").read())
print(logging.getLevelName(20), log.isEnabledFor(10), log.name, logging.LoggerAdapter(log, {}).logger is log)
