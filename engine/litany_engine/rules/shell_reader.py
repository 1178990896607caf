"""The part of the shell's grammar that is read with certainty; all else is said to be unread.

A recursive descent over one text. It finds simple commands wherever they stand: in lists, pipes, subshells,
groups, conditions, loops, substitutions and here-documents. What it has no rule for raises `OpaqueError`
instead of being guessed at: a guess here is a command that nobody sees.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_NESTING = 16
"""Levels of substitutions and groups, and of command lines in arguments; deeper ones are opaque."""

MAX_COMMANDS = 2000
"""Commands in one line, possible ones counted; beyond it the line is opaque."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    Attributes:
        text: what it is once quotes are taken away; None when only running would tell.
        many: it may become several words, or none.
    """

    text: str | None
    many: bool = False


Command = tuple[Word, ...]


class OpaqueError(Exception):
    """The line cannot be read; the message says why, for an operator."""


@dataclass(slots=True)
class Found:
    """What reading has found so far.

    Attributes:
        commands: simple commands.
        perhaps: commands that others might run.
        doubt: why it is not certain what happens.
        dormant: a substitution stands quoted somewhere, as text.
        evaluates: something evaluates text as arithmetic, where such a substitution would wake.
    """

    commands: list[Command] = field(default_factory=list)
    perhaps: list[Command] = field(default_factory=list)
    doubt: str = ""
    dormant: bool = False
    evaluates: bool = False

    def doubts(self, why: str) -> None:
        """Keep the first reason for doubt."""
        self.doubt = self.doubt or why

    def count(self) -> None:
        """Stop at a number of commands that nobody writes."""
        if len(self.commands) + len(self.perhaps) > MAX_COMMANDS:
            raise OpaqueError(f"it has more than {MAX_COMMANDS} commands")


_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!_-]", re.ASCII)
_BRACED_PARAMETER = re.compile(
    r"\{[#!]?([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])([-:+=?%#/^,][^$`'\"{}\\\[]*)?\}", re.ASCII
)
_ARITHMETIC = re.compile(r"\(\([A-Za-z0-9_ \t+*/%<>=!&|^~?:,()-]*\)\)", re.ASCII)
_REDIRECTION = re.compile(r"[0-9]*(<<<|<<-|<<|<>|<&|>&|>>|>\||<|>)|(&>>|&>)", re.ASCII)
_DUPLICATE = re.compile(r"[0-9]+-?|-", re.ASCII)
_GLOB = re.compile(r"[*?]|\[.*\]", re.DOTALL)
_BRACES = re.compile(r"\{.*(,|\.\.).*\}", re.DOTALL)
_SUBSTITUTION = re.compile(r"\$\(|`")

_SKIPPED = frozenset({"!", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}"})
"""Reserved words that stand before a command, or alone: what follows is a command like any other."""

_UNREAD = frozenset({"case", "esac", "select", "function", "coproc", "[[", "]]", "in"})
"""Reserved words whose grammar is not known here."""

_KNOWN, _ONE, _MANY = 0, 1, 2


class Reader:
    """Reads one text; what is found goes to `found`."""

    def __init__(self, text: str, found: Found, depth: int) -> None:
        if depth > MAX_NESTING:
            raise OpaqueError(f"it is nested deeper than {MAX_NESTING} levels")
        if "\0" in text:
            raise OpaqueError("it holds a NUL character")
        self.text = text
        self.at = 0
        self.found = found
        self.depth = depth
        self.here: list[tuple[str, bool, bool]] = []

    def whole(self) -> None:
        """Read the text as a command line."""
        self.commands_until(closer="")
        if self.here:
            raise OpaqueError("a here-document has no end")

    def commands_until(self, closer: str) -> None:
        """Commands up to the closer (`)`), or to the end of the text."""
        while True:
            self.blanks()
            char = self.peek()
            if not char:
                if closer:
                    raise OpaqueError(f"a {closer!r} is missing")
                return
            if char == ")":
                if not closer:
                    raise OpaqueError("a ')' closes nothing")
                self.at += 1
                return
            if char == "\n":
                self.at += 1
                self.here_documents()
            elif char in ";|" or (char == "&" and not self.redirects()):
                self.operator()
            elif char == "(":
                self.nested("(")
            else:
                self.command()

    def operator(self) -> None:
        """What stands between two commands."""
        if self.text.startswith(";;", self.at):
            raise OpaqueError("';;' belongs to a grammar that is not read here")
        double = self.text[self.at : self.at + 2] in {"&&", "||", "|&"}
        self.at += 2 if double else 1

    def nested(self, opener: str) -> None:
        """A subshell or substitution; the reader stands at its opener."""
        if self.text.startswith("((", self.at):
            raise OpaqueError("'((' is arithmetic or a doubled subshell")
        self.at += len(opener)
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise OpaqueError(f"it is nested deeper than {MAX_NESTING} levels")
        waiting = len(self.here)
        self.commands_until(closer=")")
        if len(self.here) > waiting:
            raise OpaqueError("a here-document begins in brackets and ends outside of them")
        self.depth -= 1

    def command(self) -> None:
        """One simple command, up to what ends it."""
        words: list[Word] = []
        began = True  # still where reserved words and assignments are known
        after_reserved = False
        while True:
            self.blanks()
            char = self.peek()
            if self.redirects():
                self.redirection()
                continue
            if not char or char in "\n;|&)":
                break
            if char == "(":
                if after_reserved:
                    break  # a subshell
                raise OpaqueError("'(' after a word: a function, an array or a pattern")
            start = self.at
            word = self.word()
            raw = self.text[start : self.at]
            after_reserved = began and raw in _SKIPPED
            if began and raw in _UNREAD:
                raise OpaqueError(f"{raw!r} is not read here")
            if after_reserved:
                continue
            if began and raw == "for":
                self.for_words()
                continue
            if began and _ASSIGNMENT.match(raw):
                self.found.doubts(f"it sets {raw.partition('=')[0]}, which may change what a name runs")
                continue
            began = False
            words.append(word)
        if words:
            if words[0].text is None:
                self.found.doubts("the name of a command is made when it runs")
            self.found.commands.append(tuple(words))
            self.found.count()

    def for_words(self) -> None:
        """`for NAME in WORDS`: the words belong to no command, but what they substitute does."""
        self.blanks()
        name = _NAME.match(self.text, self.at)
        if name is None:
            raise OpaqueError("'for' without a name")
        self.at = name.end()
        self.found.doubts(f"it sets {name[0]}, which may change what a name runs")
        while True:
            self.blanks()
            char = self.peek()
            if not char or char in "\n;":
                return
            if char in "&|()<>":
                raise OpaqueError(f"{char!r} in the words of 'for'")
            self.word()

    # -- words

    def word(self) -> Word:
        """One word; substitutions in it are read as commands."""
        parts: list[str] = []
        bare = ""  # what stands outside of quotes, where globs and braces mean something
        kind = _KNOWN
        start = self.at
        while True:
            char = self.peek()
            if not char or char in " \t\n;&|()<>":
                if char and char in "<>" and self.text.startswith("(", self.at + 1):
                    self.nested(char + "(")
                    kind = max(kind, _ONE)
                    continue
                break
            if char == "\\":
                self.at += 2
                if self.at > len(self.text):
                    raise OpaqueError("it ends in a backslash")
                escaped = self.text[self.at - 1]
                parts.append("" if escaped == "\n" else escaped)
            elif char == "'":
                end = self.text.find("'", self.at + 1)
                if end < 0:
                    raise OpaqueError("a quote is not closed")
                parts.append(self.text[self.at + 1 : end])
                self.at = end + 1
            elif char == '"':
                kind = max(kind, self.double_quotes(parts))
            elif char in "$`":
                if self.expansion(parts, quoted=False):
                    kind = _MANY
            else:
                if char == "~" and self.at == start:
                    kind = max(kind, _ONE)
                parts.append(char)
                bare += char
                self.at += 1
        if _GLOB.search(bare) or _BRACES.search(bare):
            kind = _MANY
        text = "".join(parts)
        if _SUBSTITUTION.search(text):
            self.found.dormant = True
        return Word(text if kind == _KNOWN else None, kind == _MANY)

    def double_quotes(self, parts: list[str]) -> int:
        """The inside of double quotes."""
        kind = _KNOWN
        self.at += 1
        while (char := self.peek()) != '"':
            if not char:
                raise OpaqueError("a double quote is not closed")
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in {"$", "`", '"', "\\", "\n"}:
                escaped = self.text[self.at + 1]
                parts.append("" if escaped == "\n" else escaped)
                self.at += 2
            elif char in "$`":
                start = self.at
                if self.expansion(parts, quoted=True):
                    kind = max(kind, _MANY if "@" in self.text[start : self.at] else _ONE)
            else:
                parts.append(char)
                self.at += 1
        self.at += 1
        return kind

    def expansion(self, parts: list[str], *, quoted: bool) -> bool:
        """A `$` or a backtick; True when it stands for something that only running tells."""
        if self.peek() == "`":
            self.backticks(quoted=quoted)
            return True
        following = self.text[self.at + 1 : self.at + 2]
        if following == "(":
            self.at += 1
            if found := _ARITHMETIC.match(self.text, self.at):
                self.at = found.end()
                self.found.evaluates = self.found.evaluates or _NAME.search(found[0]) is not None
            else:
                self.nested("(")
            return True
        if following == "{":
            found = _BRACED_PARAMETER.match(self.text, self.at + 1)
            if found is None:
                raise OpaqueError("'${' with more in it than is read here")
            self.at = found.end()
            # An offset (`${x:n}`) is arithmetic.
            self.found.evaluates = self.found.evaluates or ":" in found[0]
            return True
        if following == "[" or (following in {"'", '"'} and not quoted):
            raise OpaqueError(f"'${following}' is not read here")
        if found := _PARAMETER.match(self.text, self.at + 1):
            self.at = found.end()
            return True
        parts.append("$")
        self.at += 1
        return False

    def backticks(self, *, quoted: bool) -> None:
        """The older form of substitution, with an escaping of its own."""
        end = self.at + 1
        while end < len(self.text) and self.text[end] != "`":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise OpaqueError("a backtick is not closed")
        escapable = r"\\([$`\\\"])" if quoted else r"\\([$`\\])"
        inside = re.sub(escapable, r"\1", self.text[self.at + 1 : end])
        self.at = end + 1
        Reader(inside, self.found, self.depth + 1).whole()

    # -- redirections and here-documents

    def redirects(self) -> bool:
        """Whether a redirection starts here (`2>`, `<<`, `&>`); `<(` is a word."""
        found = _REDIRECTION.match(self.text, self.at)
        if found is None:
            return False
        return not (found[0] in {"<", ">"} and self.text.startswith("(", found.end()))

    def redirection(self) -> None:
        """A redirection; every one that opens a file is a doubt."""
        found = _REDIRECTION.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        operator = found[1] or found[2]
        self.blanks()
        start = self.at
        if operator in {"<<", "<<-"}:
            self.here.append((*self.delimiter(), operator == "<<-"))
            return
        word = self.word()
        if self.at == start:
            raise OpaqueError(f"{operator!r} without a target")
        if operator == "<<<" or word.text == "/dev/null":
            return
        if operator in {"<&", ">&"} and word.text is not None and _DUPLICATE.fullmatch(word.text):
            return
        self.found.doubts(f"it opens a file ({operator})")

    def delimiter(self) -> tuple[str, bool]:
        """The end word of a here-document, and whether it was quoted: then its text is only text."""
        start = self.at
        word = self.word()
        raw = self.text[start : self.at]
        if not word.text:
            raise OpaqueError("a here-document whose end word is not plain")
        return word.text, any(each in raw for each in "'\"\\")

    def here_documents(self) -> None:
        """The texts of the here-documents announced on the line that has just ended."""
        waiting, self.here = self.here, []
        for end, quoted, tabs in waiting:
            lines: list[str] = []
            while True:
                if self.at >= len(self.text):
                    raise OpaqueError("a here-document has no end")
                stop = self.text.find("\n", self.at)
                line = self.text[self.at :] if stop < 0 else self.text[self.at : stop]
                self.at = len(self.text) if stop < 0 else stop + 1
                if (line.lstrip("\t") if tabs else line) == end:
                    break
                if not quoted and line.endswith("\\"):
                    raise OpaqueError("a here-document joins lines, which may hide its end")
                lines.append(line)
            if not quoted:
                Reader("\n".join(lines), self.found, self.depth + 1).here_text()

    def here_text(self) -> None:
        """The text of a here-document in which substitutions are made."""
        while char := self.peek():
            if char == "\\":
                self.at += 2
            elif char in "$`":
                self.expansion([], quoted=True)
            else:
                self.at += 1

    # -- characters

    def blanks(self) -> None:
        """Spaces, tabs, joined lines, and a comment where one may stand."""
        while True:
            if self.peek() in {" ", "\t"}:
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif self.peek() == "#" and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|()"):
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def peek(self) -> str:
        """The character the reader stands at, "" at the end."""
        return self.text[self.at : self.at + 1]
