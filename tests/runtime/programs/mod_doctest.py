"""The program's own text.

>>> 1 + 1
2
"""

import doctest
from functools import lru_cache


def add(a, b):
    """Add.

    >>> add(1, 2)
    3
    >>> add("a", 1)
    Traceback (most recent call last):
        ...
    TypeError: can only concatenate str (not "int") to str
    >>> for n in range(2):
    ...     print(add(n, 1))
    1
    2
    >>> x = add(2, 2)
    >>> x
    4
    """
    return a + b


class Box:
    """A box.

    >>> Box([1]).items
    [1]
    """

    def __init__(self, items):
        self.items = items

    @property
    def size(self):
        """
        >>> Box([1, 2]).size
        2
        """
        return len(self.items)

    @staticmethod
    def make():
        """
        >>> print("a\\n\\nb")
        a
        <BLANKLINE>
        b
        """

    class Inner:
        """
        >>> list(range(20))  # doctest: +ELLIPSIS
        [0, 1, ..., 19]
        """


@lru_cache
def cached(n):
    """
    >>> cached(3)
    9
    >>> print("a   b")  # doctest: +NORMALIZE_WHITESPACE
    a b
    >>> undefined + 1  # doctest: +SKIP
    5
    >>> int("x")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: something else
    """
    return n * n


class Plain:
    def __eq__(self, other):
        return False


result = doctest.testmod()
print(result, result.failed, result.attempted)
print(doctest.testmod(verbose=False) == result)


def wrong():
    """
    >>> 1
    2
    >>> raise ValueError("no")
    """


import contextlib, io

out = io.StringIO()
with contextlib.redirect_stdout(out):
    result = doctest.testmod()
print(result)
print([line for line in out.getvalue().splitlines() if not line.startswith(("File", "Traceback", "*", "    ", " "))])
with contextlib.redirect_stdout(out):
    doctest.run_docstring_examples(add, globals())
    doctest.run_docstring_examples(wrong, {})
print(out.getvalue().count("Failed example"))
