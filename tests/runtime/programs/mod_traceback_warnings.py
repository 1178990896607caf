import traceback, warnings, sys
def f(): raise ValueError("deep")
try: f()
except ValueError as e:
    t = traceback.format_exc().splitlines(); print(t[0], t[-1], len(t) > 3)
    print(traceback.format_exception_only(type(e), e), len(traceback.format_tb(e.__traceback__)), e.__traceback__.tb_lineno, traceback.format_exception(e)[-1].strip())
    traceback.print_exc(file=sys.stdout, limit=0)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always"); warnings.warn("careful", UserWarning); warnings.warn("old", DeprecationWarning)
    print([(str(x.message), x.category.__name__) for x in w])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try: warnings.warn("bad")
    except UserWarning as e: print("raised", e)
