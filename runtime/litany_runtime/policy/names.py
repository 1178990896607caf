"""Which names a program may write, as tables that can be read at a glance.

An attribute name is a constant in the syntax tree, so nearly every question about it is answered here, before
the program runs. Three answers exist: allowed (the node is left alone and costs nothing), looked at (the
node is rewritten so that a guard sees the object first, `guards.py`), refused.

The rule behind the lists: what an operator or a builtin does anyway (`a.__add__(b)` is `a + b`) is harmless;
what leads from an object to the machinery that made it (its class's bases, its function's globals, its
frame) is not.
"""

from __future__ import annotations

RESERVED_PREFIX = "_litany_"
"""Names that begin so belong to the guards. No binding form accepts them, nor does a read."""

PROTOCOL_METHODS = frozenset(
    """
    __init__ __new__ __post_init__ __repr__ __str__ __bytes__ __format__ __hash__ __bool__ __call__
    __lt__ __le__ __eq__ __ne__ __gt__ __ge__
    __len__ __length_hint__ __getitem__ __setitem__ __delitem__ __missing__ __contains__ __iter__ __next__
    __reversed__
    __enter__ __exit__ __await__ __aiter__ __anext__ __aenter__ __aexit__
    __add__ __sub__ __mul__ __matmul__ __truediv__ __floordiv__ __mod__ __divmod__ __pow__
    __lshift__ __rshift__ __and__ __xor__ __or__
    __radd__ __rsub__ __rmul__ __rmatmul__ __rtruediv__ __rfloordiv__ __rmod__ __rdivmod__ __rpow__
    __rlshift__ __rrshift__ __rand__ __rxor__ __ror__
    __iadd__ __isub__ __imul__ __imatmul__ __itruediv__ __ifloordiv__ __imod__ __ipow__
    __ilshift__ __irshift__ __iand__ __ixor__ __ior__
    __neg__ __pos__ __abs__ __invert__ __int__ __float__ __complex__ __index__
    __round__ __trunc__ __floor__ __ceil__
    __get__ __set__ __delete__ __fspath__ __sizeof__ __copy__ __deepcopy__ __replace__
    """.split()
)
"""Methods a program may define, assign, and call by name: each does what an operator or a builtin does."""

SPECIAL_NAMES = frozenset(
    """
    __LazyLoader__ __MutableMapping__ __Printer__ __abc_tpflags__ __abs__ __abstractmethods__
    __adapt__ __add__ __aenter__ __aexit__ __aiter__ __all__ __and__ __anext__ __annotate__
    __annotations__ __args__ __array__ __array_finalize__ __array_function__ __array_interface__
    __array_namespace__ __array_priority__ __array_struct__ __array_ufunc__ __array_wrap__
    __arrow_array__ __arrow_c_array__ __arrow_c_schema__ __arrow_c_stream__
    __asyncio_running_event_loop__ __author__ __await__ __base__ __bases__ __basicsize__ __bool__
    __bound__ __breakpointhook__ __buffer__ __build_class__ __builtin__ __builtins__ __bytes__
    __cached__ __calc___package__ __call__ __callable_proto_members_only__ __callback__ __cantrace__
    __cause__ __ceil__ __cinit__ __class__ __class_getitem__ __classcell__ __classdict__
    __classdictcell__ __closure__ __code__ __complex__ __concat__ __conditional_annotations__
    __conform__ __constraints__ __contains__ __context__ __contravariant__ __copy__ __copyright__
    __covariant__ __create_fn__ __credits__ __ctype_be__ __ctype_le__ __ctypes_from_outparam__
    __cuda_array_interface__ __dataclass_HAS_DEFAULT_FACTORY__ __dataclass_builtins_object__
    __dataclass_fields__ __dataclass_params__ __dataclass_return_type__ __dataclass_self__
    __dataclass_transform__ __dataframe__ __date__ __dealloc__ __debug__ __deepcopy__ __default__
    __defaults__ __del__ __delattr__ __delete__ __delitem__ __deprecated__ __dict__ __dictoffset__
    __dictrefoffset__ __dir__ __displayhook__ __divmod__ __dlpack__ __dlpack_device__ __doc__
    __docformat__ __enter__ __eq__ __excepthook__ __exit__ __file__ __final__ __firstlineno__
    __flags__ __float__ __floor__ __floordiv__ __format__ __forward_arg__ __forward_code__
    __forward_evaluated__ __forward_is_argument__ __forward_is_class__ __forward_module__
    __forward_value__ __fspath__ __func__ __future__ __ge__ __get__ __get_pydantic_core_schema__
    __getattr__ __getattribute__ __getformat__ __getinitargs__ __getitem__ __getitem_inner__
    __getnewargs__ __getnewargs_ex__ __getslice__ __getstate__ __globals__ __gt__ __hash__ __iadd__
    __iand__ __iconcat__ __ifloordiv__ __ilshift__ __imatmul__ __imod__ __import__ __importlib__
    __imul__ __index__ __infer_variance__ __init__ __init_subclass__ __initializing__
    __instancecheck__ __instancehook__ __int__ __interactivehook__ __inv__ __invert__ __ior__
    __ipow__ __irshift__ __isabstractmethod__ __issubclass__ __isub__ __itemsize__ __iter__
    __itruediv__ __ixor__ __kwdefaults__ __lazy_modules__ __le__ __len__ __length_hint__
    __libmpdec_version__ __lltrace__ __loader__ __lshift__ __lt__ __main__ __match_args__ __matmul__
    __members__ __metadata__ __missing__ __mod__ __module__ __mp_main__ __mro__ __mro_entries__
    __mul__ __mutable_keys__ __name__ __ne__ __neg__ __new__ __new_member__ __newobj__ __newobj_ex__
    __next__ __no_type_check__ __non_callable_proto_members__ __not__ __notes__ __objclass__
    __optional_keys__ __or__ __order__ __orig_bases__ __orig_class__ __origin__ __origname__
    __override__ __package__ __parameters__ __partialmethod__ __path__ __pos__ __post_init__ __pow__
    __prepare__ __protocol_attrs__ __pycache__ __pyx_capi__ __pyx_vtable__ __qualname__ __radd__
    __rand__ __rdivmod__ __readonly_keys__ __reduce__ __reduce_cython__ __reduce_ex__
    __release_buffer__ __replace__ __repr__ __required_keys__ __reversed__ __rfloordiv__ __rlshift__
    __rmatmul__ __rmod__ __rmul__ __ror__ __round__ __rpow__ __rrshift__ __rshift__ __rsub__
    __rtruediv__ __rxor__ __safe_for_unpickling__ __self__ __self_class__ __set__ __set_name__
    __setattr__ __setitem__ __setslice__ __setstate__ __setstate_cython__ __signature__ __sizeof__
    __slotnames__ __slots__ __slotsname__ __spec__ __static_attributes__ __stderr__ __stdin__
    __stdout__ __str__ __sub__ __subclasscheck__ __subclasses__ __subclasshook__ __supertype__
    __suppress_context__ __test__ __text_signature__ __thisclass__ __total__ __tp_del__
    __traceback__ __truediv__ __trunc__ __type_params__ __typing_is_unpacked_typevartuple__
    __typing_prepare_subst__ __typing_subst__ __typing_unpacked_tuple_args__
    __unittest_expecting_failure__ __unittest_skip__ __unittest_skip_why__ __unpacked__
    __unraisablehook__ __validate_parameters__ __value__ __vectorcalloffset__ __version__
    __warningregistry__ __weaklistoffset__ __weakref__ __weakrefoffset__ __wrapped__ __xor__
    """.split()
)
"""Dunder names that some interpreter reviewed here, its library or a well-known package gives a meaning:
taken from the library's text and the interpreter's own strings. Any other (`__tablename__`) is a name of
the program's own."""

HOOKS = frozenset({"__del__", "__init_subclass__", "__set_name__"})
"""Methods that the interpreter calls of its own accord, which a `def` in a class body may define
(`hooks.py`)."""

CLASS_BODY_NAMES = frozenset({"__name__"})
"""Dunder names that a class body may bind and a module may not."""

HOOK_METHODS = frozenset("__getattr__ __setattr__ __delattr__ __dir__ __getstate__ __setstate__".split())
"""Methods a program may define on its classes but not read as plain attributes: they take a name, or hand
out an object's whole state."""

CLASS_NAMES = frozenset("__slots__ __match_args__ __hash__ __doc__ __test__".split())
"""Dunder names with a meaning in a class body; `classes.py` looks at the values of the first two."""

MODULE_NAMES = frozenset(
    "__all__ __version__ __author__ __license__ __date__ __email__ __doc__ __copyright__".split()
)
"""Dunder names a program may bind at will: words about the program, read by nobody."""

READABLE_NAMES = frozenset("__name__ __file__ __doc__ __debug__ __class__ __qualname__ __module__".split())
"""Dunder names a program may read as variables."""

BINDABLE_DUNDERS = PROTOCOL_METHODS | HOOK_METHODS | CLASS_NAMES | MODULE_NAMES
READABLE_DUNDERS = BINDABLE_DUNDERS | READABLE_NAMES

PLAIN_ATTRIBUTES = (PROTOCOL_METHODS - {"__init__", "__get__", "__set__", "__delete__"}) | frozenset(
    """
    __name__ __qualname__ __doc__ __module__ __wrapped__ __version__ __author__ __all__
    __cause__ __context__ __suppress_context__ __traceback__ __notes__
    __members__ __slots__ __match_args__ __abstractmethods__ __isabstractmethod__
    __getnewargs__ __total__ __required_keys__ __optional_keys__ __forward_arg__ __metadata__
    __supertype__ __bound__ __constraints__ __stdin__ __stdout__ __stderr__
    """.split()
)
"""Dunder attributes left alone on every object."""

LOOKED_AT_DUNDERS = frozenset(
    """
    __annotations__ __bases__ __class__ __dataclass_fields__ __delattr__ __delete__ __dict__ __get__
    __getattr__ __init__ __mro__ __set__ __set_name__ __setattr__
    """.split()
)
"""Dunder attributes whose object is looked at when the program runs."""

STORABLE_DUNDERS = (
    (PROTOCOL_METHODS - {"__new__", "__init__"})
    | {"__init__", "__name__", "__qualname__", "__doc__", "__wrapped__", "__version__"}
    | {"__cause__", "__context__", "__suppress_context__", "__isabstractmethod__"}
)
"""Dunder attributes a program may assign; on classes that are not its own the interpreter refuses."""

INNARDS = frozenset(
    """
    tb_frame tb_next tb_lasti
    f_back f_builtins f_code f_generator f_globals f_lasti f_lineno f_locals f_trace f_trace_lines
    f_trace_opcodes
    co_argcount co_branches co_cellvars co_code co_consts co_exceptiontable co_filename co_firstlineno
    co_flags
    co_freevars co_kwonlyargcount co_lines co_linetable co_lnotab co_name co_nlocals co_positions
    co_posonlyargcount co_qualname co_stacksize co_varnames
    gi_code gi_frame gi_running gi_suspended gi_state gi_yieldfrom
    cr_await cr_code cr_frame cr_origin cr_running cr_suspended cr_state
    ag_await ag_code ag_frame ag_running ag_suspended ag_state
    """.split()
)
"""Attributes of frames, code, tracebacks, generators, coroutines: the way from a value to its machinery."""

LOOKED_AT = {
    "format": "a format string reads attributes for whoever wrote it",
    "format_map": "a format string reads attributes for whoever wrote it",
    "obj": "an AttributeError carries the object it was raised for",
    "mro": "a class's bases lead out of the program",
    "parser": "a path's parser is a module",
    "pathmod": "a path's flavour holds a module",
    "co_names": "a function's code leads into the interpreter; only what compile() made tells its names",
    "get_stack": "a task's stack is made of frames",
    "gen": "a context manager's generator holds its frame",
    "set_authorizer": "the authorizer keeps a database's files in the worktree",
    "enable_load_extension": "an extension is native code",
    "load_extension": "an extension is native code",
    "setconfig": "a database's safety settings are the operator's",
    "add_reader": "an event loop's descriptors are the runtime's",
    "remove_reader": "an event loop's descriptors are the runtime's",
    "add_writer": "an event loop's descriptors are the runtime's",
    "remove_writer": "an event loop's descriptors are the runtime's",
    "add_signal_handler": "signals are the runtime's",
    "remove_signal_handler": "signals are the runtime's",
    "opener": "an opener hands out descriptors",
}
"""Public attribute names whose object is looked at when the program runs, and why. Deliberately few: on the
program's own objects they mean what the program says, after one set look-up."""

LOOKED_AT_WHEN_SET = frozenset({"add_reader", "remove_reader", "add_writer", "remove_writer"})
"""Names whose setting is looked at too: the runtime calls them on the program's event loop."""

CALLS_REFUSED = {
    "breakpoint": "print what you want to see",
    "help": "print(thing.__doc__)",
    "__import__": "write an import statement",
    "__build_class__": "write a class statement",
    "__builtins__": "builtins are available by their names",
    "__loader__": "write an import statement",
    "__spec__": "use __name__",
}
"""Builtins a program does not have, and what to write instead."""

BINDING_BUILTINS = frozenset({"eval", "exec", "globals", "locals", "vars"})
"""Builtins by which a program binds names that its own text does not show."""

METHODS_REFUSED = {
    "__getattribute__": "define __getattr__, which is called for missing attributes only",
    "__class_getitem__": "inherit from typing.Generic",
    "__reduce__": "define __copy__ or __deepcopy__ for copying, or a to_dict method",
    "__reduce_ex__": "define __copy__ or __deepcopy__ for copying, or a to_dict method",
    "__instancecheck__": "use abc.ABC with register(), or a function that tests",
    "__subclasscheck__": "use abc.ABC with register(), or a function that tests",
    "__subclasshook__": "use abc.ABC with register(), or typing.Protocol with runtime_checkable",
    "__prepare__": "use a class decorator",
    "__mro_entries__": "inherit from the class itself",
    "__class__": "compare type(x), or define a method",
    "__dict__": "define __slots__ or ordinary attributes",
    "__module__": "leave it as it is",
    "__name__": "use another variable; a class body may bind it",
    "__annotations__": "annotate the names themselves",
}
"""Special names a program may not define, and what to write instead."""

ATTRIBUTE_HINTS = {
    "__globals__": "pass what the function needs as arguments",
    "__code__": "call the function",
    "__closure__": "keep the state in an object",
    "__defaults__": "pass the argument",
    "__kwdefaults__": "pass the argument",
    "__subclasses__": "keep a list of your classes, filled by a decorator",
    "__base__": "name the class",
    "__self__": "keep the object itself",
    "__func__": "name the function on its class: Class.method",
    "__builtins__": "builtins are available by their names",
    "__getattribute__": "use getattr(obj, name)",
    "__reduce__": "use copy.copy(obj), or json for data",
    "__reduce_ex__": "use copy.copy(obj), or json for data",
    "__origin__": "use typing.get_origin(tp)",
    "__args__": "use typing.get_args(tp)",
    "__dir__": "use dir(obj)",
    "__getstate__": "use vars(obj)",
    "__setstate__": "assign the attributes",
    "__set_name__": "pass the name to the constructor",
    "__init_subclass__": "use a class decorator",
    "__class_getitem__": "write Class[item]",
    "tb_frame": "use traceback.format_exc() for text, tb_lineno for the line",
    "tb_next": "use traceback.format_exc()",
}
"""What to write instead of a refused attribute; `guards` and `transformer` fall back to a general hint."""

GENERAL_ATTRIBUTE_HINT = "use the object's public attributes and methods"

REVIEWED_PRIVATE = frozenset(
    """
    _name _value _data _items _count _size _lock _queue _index _key _keys _values _result _results _state
    _id _ids
    _max _min _total _sum _start _stop _end _step _head _tail _root _left _right _next _prev _first _last _top
    _width _height _depth _length _weight _radius _area _x _y _z _a _b _c _n _i _k _v
    _balance _amount _price _cost _rate _owner _title _text _label _kind _type _color _history _log _logs
    _events _listeners _observers _subscribers _children _parent _nodes _edges _graph _node
    _tree _heap _stack _list _dict _map _table _rows _cols _columns _matrix _grid _cells _cache _store
    _storage
    _users _entries _records _registry _config _settings _options _params _message _status _level _score
    _scores
    _age _email _address _city _year _month _day _hour _minute _second _date _timestamp _capacity _limit
    _check _validate _run _load _add _remove _get _init _format _delete _max_size _maxsize _counter _source
    _inner _outer
    _file _path _prefix _hash _ip _timeout _closed _open _tasks _task _parser
    _buffer _pos _position _tokens _token _current _line _lines _words _word _seed _rng
    """.split()
)
"""Private attribute names that programs use all the time and that were found harmless on every library object
that carries them (`tests/runtime/policy/test_private_names.py` lists the carriers and fails when a Python
version brings one that was not reviewed). They are left alone everywhere, at no cost."""
