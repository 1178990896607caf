"""The generated module: names, hostile text, what a program can reach, what a type checker says."""

from __future__ import annotations

import ast
import asyncio
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litany_stubs.declared import read_stubs
from litany_stubs.describe import describe
from litany_stubs.literals import comment, docstring, quote, tidy
from litany_stubs.module import compile_stubs, load_stubs
from litany_stubs.names import OWN_NAMES, Names
from litany_stubs.render import render, write_stubs
from litany_stubs.testing import FakeDoor
from litany_stubs.words import ToolDeclaration
from stubs_kit import corpus, declared, load

HOSTILE = (
    'quotes " \' """ \'\'\' back\\slash \\n \\" {x} %s\n\n    indented\ttab\r\nend\u202e\u0000\u200b"""\\'
    * 150
)

AWKWARD = [
    "from",
    "None",
    "invoke",
    "json",
    "Result",
    "aio",
    "a.b",
    "x-y",
    "été",
    "",
    "_private",
    "str",
    "search",
]
UNDERSCORED = {"a.b": "a_b", "x-y": "x_y"}
AWKWARD += [
    "print",
    "gi_frame",
    "fan_out",
    "UNSET",
    "Any",
    "annotations",
    "ﬁle",
    "file",
    "a b",
    "import",
    "\n",
]


def awkward_tools() -> list[ToolDeclaration]:
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    return [
        ToolDeclaration(name, HOSTILE if name == "from" else f"About {name!r}.", text) for name in AWKWARD
    ]


def test_names_that_python_cannot_spell_get_no_function_and_are_reached_by_invoke(
    fake_door: FakeDoor,
) -> None:
    module = load_stubs(render(awkward_tools()))
    spelt = {"json", "print", "file", *UNDERSCORED.values()}
    functions = {name for name in dir(module) if name not in OWN_NAMES}
    assert functions == spelt
    for name in AWKWARD:
        fake_door.answers(name, name.encode())
        assert module.invoke(name, {"text": "x"}).stdout == name
        if UNDERSCORED.get(name, name) in spelt:
            assert getattr(module, UNDERSCORED.get(name, name))(text="x").stdout == name
        if name not in spelt:
            assert f"invoke({quote(name)}" in (module.__doc__ or "")
    assert {each.name for each in fake_door.calls} == set(AWKWARD)


def test_dashes_and_dots_are_underscores_in_the_name_of_a_function(fake_door: FakeDoor) -> None:
    tools = [ToolDeclaration(name) for name in ("every.get-sum", "3d-view", "from-", "gi.frame")]
    module = load_stubs(render(tools))
    for name, function in (("every.get-sum", "every_get_sum"), ("3d-view", "tool_3d_view")):
        fake_door.answers(name, name)
        assert getattr(module, function)().stdout == name
        assert module.invoke(function).stdout == name
        assert module.fan_out(function, [{}])[0].stdout == name
        assert asyncio.run(getattr(module.aio, function)()).stdout == name
        assert f'{function}() -> Result[Any]      # the tool "{name}"' in module.search(name)
        assert f'Calls the tool "{name}".' in (getattr(module, function).__doc__ or "")
        assert f'{function}() -> Result[Any]      # the tool "{name}"' in describe(tools)
    assert {each.name for each in fake_door.calls} == {"every.get-sum", "3d-view"}
    assert hasattr(module, "from_")
    assert "gi_frame" not in dir(module)


def test_names_that_would_meet_in_one_function_get_none_and_the_reason() -> None:
    names = ["a.b", "a-b", "c-d", "c_d", "e.f"]
    stubs = {each.name: each for each in read_stubs([ToolDeclaration(name) for name in names])}
    assert {name: each.function for name, each in stubs.items() if each.no_function is None} == {
        "c_d": "c_d",
        "e.f": "e_f",
    }
    assert stubs["a.b"].no_function == "not a Python name, and a_b could be 'a-b' as well"
    assert stubs["a-b"].no_function == "not a Python name, and a_b could be 'a.b' as well"
    assert stubs["c-d"].no_function == "not a Python name, and c_d could be 'c_d' as well"


def test_every_tool_without_a_function_is_listed_with_its_reason() -> None:
    doc = load_stubs(render(awkward_tools())).__doc__ or ""
    for name, reason in [
        ("from", "a Python keyword"),
        ("a b", "not a Python name"),
        ("search", "a name of this module's own"),
        ("_private", "starts with an underscore"),
        ("gi_frame", "a name that a program may not say"),
    ]:
        line = next(line for line in doc.splitlines() if f'invoke("{name}"' in line)
        assert reason in line


def test_a_hostile_description_is_text_and_nothing_else() -> None:
    tool = ToolDeclaration("tool", HOSTILE, {"type": "object", "properties": {"a": {"description": HOSTILE}}})
    assert len(HOSTILE) > 10_000
    text = render([tool])
    assert text.isascii() or all(char.isprintable() or char == "\n" for char in text)
    doc = inspect.getdoc(load_stubs(text).tool) or ""
    assert doc.startswith(inspect.cleandoc(tidy(HOSTILE)))


@given(st.text())
def test_any_text_is_one_literal(text: str) -> None:
    assert ast.literal_eval(quote(text)) == text
    assert "\n" not in quote(text)
    assert ast.literal_eval(docstring(text, "")).strip() == tidy(text).strip()
    assert "\n" not in comment(text)
    assert comment(text).isprintable()


def test_a_lone_surrogate_in_a_docstring_is_shown_as_its_escape() -> None:
    assert ast.literal_eval(docstring("a\ud800b", "")) == "a\\ud800b"


@given(st.text(alphabet="\"\\\n 'a#"))
def test_any_text_is_one_docstring(text: str) -> None:
    source = f"def f():\n    {docstring(text, '    ')}\n    return 1\n"
    body = ast.parse(source).body
    assert len(body) == 1
    function = body[0]
    assert isinstance(function, ast.FunctionDef)
    assert len(function.body) == 2


@given(st.lists(st.sampled_from(["A", "A2", "class", "", "1"]), max_size=8))
def test_no_name_is_given_twice(wanted: list[str]) -> None:
    names = Names(OWN_NAMES)
    given_names = [names.new(each) for each in wanted]
    assert len(set(given_names)) == len(given_names)
    assert all(each.isidentifier() for each in given_names)


def test_the_same_toolset_gives_the_same_bytes_in_any_order() -> None:
    tools = corpus("forges")
    assert render(tools) == render(tools[::-1])


def test_of_two_tools_with_one_name_the_later_counts() -> None:
    text = render([ToolDeclaration("t", "first"), ToolDeclaration("t", "second")])
    assert "second" in text
    assert "first" not in text


def test_three_hundred_parameters_can_be_given(fake_door: FakeDoor) -> None:
    fake_door.answers("three_hundred", "")
    required = {f"parameter_{k}": ["", 1, True, []][k % 4] for k in range(0, 300, 7)}
    load_stubs(render([declared("three_hundred")])).three_hundred(**required)
    assert fake_door.calls_of("three_hundred") == [required]


def test_parameters_named_for_keywords_builtins_and_helpers_arrive_as_they_are(fake_door: FakeDoor) -> None:
    fake_door.answers("keywords", "").answers("shadowing", "").answers("more_taken", "")
    module = load_stubs(render([declared(name) for name in ("keywords", "shadowing", "more_taken")]))
    module.keywords(self="s", _x="u", cls="c", match="m", type="t", print=True)
    module.shadowing(
        str="s", int=1, list=[], dict={}, UNSET="u", Result="r", name="n", arguments="a", invoke="i"
    )
    module.more_taken(more="m", more_="n", other=1)
    inputs = [each.input for each in fake_door.calls]
    assert inputs[0] == {"self": "s", "_x": "u", "cls": "c", "match": "m", "type": "t", "print": True}
    assert inputs[1] == {
        "str": "s",
        "int": 1,
        "list": [],
        "dict": {},
        "UNSET": "u",
        "Result": "r",
        "name": "n",
        "arguments": "a",
        "invoke": "i",
    }
    assert inputs[2] == {"more": "m", "more_": "n", "other": 1}
    for unspelt in ("class", "from", "None", "__y", "def"):
        reason = module.keywords(**{unspelt: "x"}).refusal.reason
        assert f"keywords() got an unexpected keyword argument {unspelt!r}" in reason


def test_a_tool_that_requires_an_unspellable_parameter_has_no_function() -> None:
    stub = read_stubs([declared("keyword_required")])[0]
    assert stub.no_function == "it requires a parameter that is not a Python name"


def test_an_optional_parameter_is_sent_only_when_given_and_none_is_null(fake_door: FakeDoor) -> None:
    fake_door.answers("nullable", "")
    module = load_stubs(render([declared("nullable")]))
    module.nullable(a=None)
    module.nullable(a="x", b=module.UNSET, c=None)
    assert fake_door.calls_of("nullable") == [{"a": None}, {"a": "x", "c": None}]


def reachable(start: object, depth: int = 4) -> list[tuple[str, object]]:
    """Everything that public attribute names lead to."""
    found, left, seen = [], [("litany_tools", start, 0)], set()
    while left:
        path, each, level = left.pop()
        if id(each) in seen or level > depth:
            continue
        seen.add(id(each))
        found.append((path, each))
        for name in dir(each):
            if name.startswith("_") or (name == "mro" and isinstance(each, type)):
                continue
            try:
                left.append((f"{path}.{name}", getattr(each, name), level + 1))
            except AttributeError:
                continue
    return found


def test_no_public_name_leads_to_a_module_a_frame_or_the_door(fake_door: FakeDoor) -> None:
    fake_door.answers("create_issue", {"number": 1, "state": "open"})
    module = load_stubs(render(corpus("forges")))
    view = [module, module.aio]
    result = module.create_issue(owner="o", repo="r", title="t")
    for start in (module, result, module.ToolError(result), module.invoke("nope")):
        for path, each in reachable(start):
            if each in view:
                continue
            assert not isinstance(each, ModuleType), path
            assert not inspect.isframe(each), path
            assert not inspect.iscode(each), path
            assert each is not fake_door, path


def test_a_program_sees_what_the_module_lists_and_nothing_that_it_imports() -> None:
    module = load_stubs(render([declared("add")]))
    own = {"UNSET", "DoorError", "Result", "ToolError", "Unset", "aio", "fan_out", "invoke", "search"}
    assert set(dir(module)) == own | {"AddData", "add"}
    assert {name for name in vars(module) if not name.startswith("__")} == set(dir(module))
    assert set(dir(module.aio)) == {"add", "fan_out", "invoke"}


def test_the_module_and_what_it_gives_are_read_only(fake_door: FakeDoor) -> None:
    fake_door.answers("create_issue", "{}")
    module = load_stubs(render(corpus("forges")))
    result = module.create_issue(owner="o", repo="r", title="t")
    targets = [(module, "create_issue"), (module, "fresh"), (module.aio, "create_issue"), (result, "stdout")]
    targets += [
        (result, "fresh"),
        (module.Result, "check"),
        (module.Unset, "fresh"),
        (module.invoke("x").refusal, "gate"),
    ]
    for target, name in targets:
        with pytest.raises(AttributeError):
            setattr(target, name, 1)
        with pytest.raises(AttributeError):
            delattr(target, name)


def test_a_misspelt_tool_is_answered_with_those_that_are_there() -> None:
    module = load_stubs(render(corpus("forges")))
    for name in ("create_isue", "delete_everything"):
        assert name not in vars(module)
    with pytest.raises(AttributeError, match=r"no create_isue; did you mean create_issue"):
        getattr(module, "create_isue")  # noqa: B009 - as an import asks
    with pytest.raises(AttributeError, match=r"no delete_everything"):
        getattr(module, "delete_everything")  # noqa: B009


def test_code_for_a_hundred_tools_leaves_out_what_only_a_type_checker_reads() -> None:
    text = render(corpus("forges"))
    assert "TypedDict" in text
    assert b"TypedDict" not in compile_stubs(text)
    assert str(Path(__file__).parents[2]).encode() not in compile_stubs(text)


def test_a_program_reads_the_docstring_of_a_tool_without_its_indentation() -> None:
    doc = load_stubs(render([declared("edit_file")])).edit_file.__doc__
    assert doc.splitlines()[2:4] == ["Args:", "    path: Path of the file, relative to the root."]


def test_named_types_are_there_at_run_time_as_dicts() -> None:
    module = load_stubs(render([declared("create_issue")]))
    assert module.CreateIssueData is dict


def test_search_finds_a_tool_by_words_and_shows_its_signature() -> None:
    module = load_stubs(render([*corpus("forges"), *awkward_tools()]))
    assert module.search("pull request review").startswith("create_pull_request_review(owner: str")
    assert '# the tool "gitea.create_hook"' in module.search("hook webhook")
    assert "invoke('from'" in module.search("from")
    assert "No granted tool matches" in module.search("zzzz")
    assert len(module.search("repository", limit=2).splitlines()) <= 5


def test_the_written_module_is_usable_as_it_is(tmp_path: Path) -> None:
    target = write_stubs(corpus("files"), tmp_path / "new" / "folder")
    code = "import litany_tools, sys; print(litany_tools.read_text_file.__doc__.splitlines()[0]); "
    code += "print('asyncio' in sys.modules or 'threading' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=target.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[0] == "Read a file as text. Handles several encodings."
    assert list(target.parent.glob("*.tmp")) == []


def test_the_client_imports_nothing_heavy() -> None:
    code = "import sys; before = set(sys.modules); import litany_stubs.client, litany_stubs.module; "
    code += "print(' '.join(sorted(set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    heavy = {
        "asyncio",
        "subprocess",
        "inspect_",
        "jsonschema_rs",
        "msgpack",
        "trio",
        "hypothesis",
        "pytest",
        "difflib",
    }
    assert not loaded & heavy
    assert not {each for each in loaded if each.startswith("litany_stubs.")} - {
        *(
            "litany_stubs.client",
            "litany_stubs.finding",
            "litany_stubs.module",
            "litany_stubs.result",
            "litany_stubs.values",
        ),
        "litany_stubs.words",
    }


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy --strict says of every module of the corpus and of one program, in one run."""
    folder = tmp_path_factory.mktemp("typed")
    groups = ("files", "forges", "data", "office", "web", "payments", "systems", "odd")
    files = [load(render(corpus(group)), folder, f"tools_{group}") for group in groups]
    files.append(load(render(awkward_tools()), folder, "tools_awkward"))
    files.append(load(render([]), folder, "tools_none"))
    program = folder / "program.py"
    program.write_text(
        "import tools_odd as t\n"
        "import tools_payments as p\n"
        "async def main() -> None:\n"
        "    (await t.aio.nullable(a=None)).check()\n"
        "    await t.aio.nullable(a=1)  # wrong 1\n"
        "t.nullable(a='x', b={'x': 1}, c=None)\n"
        "t.nullable(a='x', b={'y': 1})  # wrong 2\n"
        "t.tuples(a=('x', 1))\n"
        "t.tuples(a=['x', 1], d=['y'])\n"
        "t.tuples(a=('x', 'y'))  # wrong 3\n"
        "t.one_of_objects(shape={'kind': 'circle', 'r': 1})\n"
        "t.one_of_objects(shape={'kind': 'circle', 'side': 1})  # wrong 4\n"
        "t.json_value(v={'a': [1, {'b': None}]})\n"
        "t.json_value(v={1})  # wrong 5\n"
        "t.root_ref(name='a', parent={'name': 'b', 'children': [{'name': 'c'}]})\n"
        "t.root_ref(name='a', parent={'children': []})  # wrong 6\n"
        "t.open_top(name='a', other=1)\n"
        "t.open_top(name='a', other='1')  # wrong 7\n"
        "t.nope()  # wrong 8\n"
        "p.create_customer(name='a', address='')\n"
        "p.create_customer()  # wrong 9\n"
        "data = p.retrieve_balance().data\n"
        "if data is not None:\n"
        "    amount: int = data['available'][0]['amount']\n"
        "    data['nope']  # wrong 10\n"
        "for each in t.fan_out(t.output_scalar, [{}]):\n"
        "    text: str | None = each.data\n"
        "    number: int | None = each.data  # wrong 11\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-pretty", "--config-file", "", "--cache-dir", str(folder / "cache"), *map(str, files), str(program)],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Success" in done.stdout or "Found" in done.stdout, done.stderr
    return done.stdout


def test_every_module_of_the_corpus_type_checks_strictly(checked: str) -> None:
    assert [line for line in checked.splitlines() if line.startswith("tools_")] == []


def test_right_calls_type_check_and_each_wrong_one_is_found(checked: str) -> None:
    lines = {int(line.split(":")[1]) for line in checked.splitlines() if ": error:" in line}
    assert lines == {5, 7, 10, 12, 14, 16, 18, 19, 21, 25, 28}
