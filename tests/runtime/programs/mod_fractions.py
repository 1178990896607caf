from fractions import Fraction
import numbers
print(Fraction(1, 3) + Fraction(1, 6), Fraction("0.125"), Fraction(3, 4).numerator, Fraction(0.5), Fraction(10, 4).limit_denominator(3), isinstance(Fraction(1), numbers.Rational), float(Fraction(1, 8)))
