"""Patterns over simple commands: words with globs, matched one word against one word.

    git status **          `git status` with any further words
    rm **                  any `rm`
    git push ** --force    a push whose last word is --force

`*`, `?` and `[…]` match within one word, `**` as a word of its own any number of words. Words are split as a
shell would, so a word may be quoted. Case counts.

Against what is not known a pattern answers twice: `matches` says that the command surely is what the pattern
says, which an allow rule needs; `may_match` that it could be, which is enough for a rule that denies or asks.
The program's name is looked at in the same two ways: `rm` surely is only `rm`, and could be `/bin/rm`.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litany_engine.rules.globs import glob

if TYPE_CHECKING:
    from litany_engine.rules.command_line import Command, CommandLine
    from litany_engine.rules.shell_reader import Word

MAX_PATTERN_WORDS = 64
"""Words of one pattern."""

_ANY_WORDS = "**"


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """One pattern.

    Attributes:
        words: its words; `**` stands for any number of words.
    """

    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> CommandPattern:
        """Read a pattern.

        Raises:
            ValueError: it is no pattern; what is wrong with it.
        """
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise ValueError(f"{text!r} cannot be split into words: {error}") from None
        if not words or not words[0]:
            raise ValueError('a command pattern names a program first, such as "git status **"')
        if len(words) > MAX_PATTERN_WORDS:
            raise ValueError(f"a command pattern has at most {MAX_PATTERN_WORDS} words")
        if joined := next((each for each in words if _ANY_WORDS in each and each != _ANY_WORDS), None):
            raise ValueError(f"{joined!r}: '**' stands as a word of its own; within a word write '*'")
        return cls(words)

    def matches(self, command: Command) -> bool:
        """Whether the command surely is what the pattern says."""
        return _walk(self.words, command, sure=True)

    def may_match(self, line: CommandLine) -> bool:
        """Whether anything that the line might run could be what the pattern says."""
        return line.opaque or any(
            _walk(self.words, each, sure=False)
            for commands in (line.commands, line.perhaps)
            for each in commands
        )


def _walk(pattern: tuple[str, ...], command: Command, *, sure: bool) -> bool:
    """Match words by the set of places in the pattern that the words so far can have led to."""
    places = _spread(pattern, {0})
    for index, word in enumerate(command):
        following: set[int] = set()
        for place in places:
            if place == len(pattern):
                continue
            if pattern[place] == _ANY_WORDS:
                following.add(place)  # a run of any words takes whatever the word becomes
            elif not (sure and word.many) and _word(pattern[place], word, sure=sure, first=index == 0):
                following.add(place + 1)
            if word.many and not sure:
                following.update(range(place, len(pattern) + 1))
        if not following:
            return False
        places = _spread(pattern, following)
    return len(pattern) in places


def _spread(pattern: tuple[str, ...], places: set[int]) -> set[int]:
    """The places with those behind a `**`, which may stand for no word."""
    found = set(places)
    for place in sorted(places):
        while place < len(pattern) and pattern[place] == _ANY_WORDS:
            place += 1  # noqa: PLW2901 - the walk to the first word that is not `**`
            found.add(place)
    return found


def _word(pattern: str, word: Word, *, sure: bool, first: bool) -> bool:
    if word.text is None:
        # Any one word is what a lone star asks for, known or not; but no name that nobody knows is allowed.
        return not sure or (pattern == "*" and not first)
    names = [word.text, word.text.rpartition("/")[2]] if first and not sure else [word.text]
    return any(glob(pattern, each) for each in names)
