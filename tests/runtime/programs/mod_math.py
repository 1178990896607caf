import math, cmath
print(math.sqrt(2), math.pi, math.floor(-1.5), math.ceil(1.2), math.gcd(12, 18), math.lcm(4, 6), math.factorial(10), math.comb(5, 2), math.perm(5, 2), math.isclose(0.1 + 0.2, 0.3), math.log(8, 2), math.hypot(3, 4), math.prod([1, 2, 3]), math.inf, math.isnan(math.nan), math.trunc(2.7), math.fsum([.1] * 10), math.degrees(math.pi), math.copysign(1, -0.0), math.dist((0, 0), (3, 4)), math.isqrt(17), math.modf(2.5), math.frexp(8), math.e)
print(cmath.sqrt(-1), cmath.phase(1j))
def local():
    import math as m
    return m.sin(0), m.tau
print(local())
