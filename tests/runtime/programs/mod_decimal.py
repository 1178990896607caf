from decimal import Decimal, getcontext, ROUND_HALF_UP, localcontext, InvalidOperation
getcontext().prec = 10
print(Decimal("1") / Decimal("3"), Decimal("2.675").quantize(Decimal("0.01"), rounding=ROUND_HALF_UP), Decimal("0.1") + Decimal("0.2"), Decimal(5).sqrt(), Decimal("1E+3").normalize())
with localcontext() as c: c.prec = 3; print(Decimal(1) / 7)
try: Decimal("x")
except InvalidOperation: print("invalid")
print(Decimal("1.10").as_tuple(), f"{Decimal('1234.5'):,.2f}")
