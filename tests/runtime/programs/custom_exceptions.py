class AppError(Exception):
    """Base."""
class CodeError(AppError):
    def __init__(self, code, msg="m"): super().__init__(msg); self.code = code
    def __str__(self): return f"[{self.code}] {super().__str__()}"
try: raise CodeError(5)
except AppError as e: print(e, e.code, e.args, repr(e), type(e).__mro__[1].__name__)
e = ValueError("x"); e.add_note("a note"); print(e.__notes__)
try: raise CodeError
except TypeError as t: print("needs code")
try: raise e.with_traceback(None)
except ValueError as v: print(v is e)
raise CodeError(7, "final")
