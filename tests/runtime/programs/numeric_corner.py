print(0.1 + 0.2 == 0.3, 1e400, -7 // 2, -7 % 2, 7 % -3, divmod(-7, 2), 5 / 2, 2 ** 100, 2 ** -2, (-8) ** (1 / 3), 1_000, 0b11, 0o17, 0xff, 1e3, 3 + 4j, abs(3 + 4j), (1 + 2j).conjugate(), int("-12"), int(" 5 "), float("inf"), round(0.5), round(1.5), round(2.675, 2), bool("False"), True + True, ~0, 6 ^ 3, 1 << 70, int(3.99), complex("1+2j"), sum([0.1] * 3), 10 ** 15 + 0.3, 1e16, 123456789.123456789, float("1e-7"), 5 .real, (0).__class__.__name__)
try: int("x")
except ValueError as e: print(e)
try: 1 / 0
except ZeroDivisionError as e: print(e)
try: 1 + "a"
except TypeError as e: print(e)
try: 10.0 ** 400
except OverflowError as e: print(e)
try: "a" < 1
except TypeError as e: print(e)
