"""The modules a program may import, and the names each of them has there: the one table.

The table is written by hand and read by a reviewer: a name is here because somebody looked at what it does
with a name, a callable, a path or a format string it is given. Nothing is ever filtered from what a module
happens to contain. What a listed name does wrong is mended in `stand_ins.py` (another object under the same
name) or in `mends.py` (the library itself, before the first fork).

A name with `@3.12`, or `@3.11.4`, exists from that Python version on.
"""

from __future__ import annotations

import sys

MODULES: dict[str, str] = {
    "__future__": """
        absolute_import annotations barry_as_FLUFL division generator_stop generators nested_scopes
        print_function unicode_literals with_statement""",
    # -- numbers -----------------------------------------------------------------------------------
    "math": """
        acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc
        exp exp2 expm1 fabs factorial floor fma@3.13 fmod frexp fsum gamma gcd hypot inf isclose isfinite
        isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod
        radians remainder sin sinh sqrt sumprod@3.12 tan tanh tau trunc ulp""",
    "cmath": """
        acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log log10
        nan nanj phase pi polar rect sin sinh sqrt tan tanh tau""",
    "numbers": "Complex Integral Number Rational Real",
    "statistics": """
        NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean kde@3.13
        kde_random@3.13 linear_regression mean median median_grouped median_high median_low mode multimode
        pstdev pvariance quantiles stdev variance""",
    "random": """
        Random SystemRandom betavariate binomialvariate@3.12 choice choices expovariate gammavariate gauss
        getrandbits getstate lognormvariate normalvariate paretovariate randbytes randint random randrange
        sample seed setstate shuffle triangular uniform vonmisesvariate weibullvariate""",
    "decimal": """
        BasicContext Clamped Context ConversionSyntax Decimal DecimalException DecimalTuple DefaultContext
        DivisionByZero DivisionImpossible DivisionUndefined ExtendedContext FloatOperation Inexact
        InvalidContext InvalidOperation MAX_EMAX MAX_PREC MIN_EMIN MIN_ETINY Overflow ROUND_05UP
        ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP
        Rounded Subnormal Underflow getcontext localcontext setcontext""",
    "fractions": "Fraction",
    # -- functions and containers ------------------------------------------------------------------
    "itertools": """
        accumulate batched@3.12 chain combinations combinations_with_replacement compress count cycle
        dropwhile filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee
        zip_longest""",
    "functools": """
        WRAPPER_ASSIGNMENTS WRAPPER_UPDATES cache cached_property cmp_to_key lru_cache partial
        partialmethod reduce singledispatch singledispatchmethod total_ordering update_wrapper wraps""",
    "operator": """
        abs add and_ attrgetter call concat contains countOf delitem eq floordiv ge getitem gt iadd iand
        iconcat ifloordiv ilshift imatmul imod imul index indexOf inv invert ior ipow irshift is_ is_not
        isub itemgetter itruediv ixor le length_hint lshift lt matmul methodcaller mod mul ne neg not_ or_
        pos pow rshift setitem sub truediv truth xor""",
    "collections": "ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque namedtuple",
    "collections.abc": """
        AsyncGenerator AsyncIterable AsyncIterator Awaitable Buffer@3.12 Callable Collection Container
        Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView
        MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized ValuesView""",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "array": "ArrayType array typecodes",
    "copy": "Error copy deepcopy replace@3.13",
    "graphlib": "CycleError TopologicalSorter",
    "weakref": """
        ProxyType ReferenceType WeakKeyDictionary WeakMethod WeakSet WeakValueDictionary finalize
        getweakrefcount getweakrefs proxy ref""",
    "struct": "Struct calcsize error iter_unpack pack pack_into unpack unpack_from",
    # -- text --------------------------------------------------------------------------------------
    "string": """
        Formatter Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits
        octdigits printable punctuation whitespace""",
    "re": """
        A ASCII DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern PatternError@3.13 RegexFlag
        S U UNICODE VERBOSE X compile error escape findall finditer fullmatch match purge search split sub
        subn""",
    "textwrap": "TextWrapper dedent fill indent shorten wrap",
    "pprint": "PrettyPrinter isreadable isrecursive pformat pp pprint saferepr",
    "reprlib": "Repr recursive_repr repr",
    "difflib": """
        Differ HtmlDiff IS_CHARACTER_JUNK IS_LINE_JUNK Match SequenceMatcher context_diff diff_bytes
        get_close_matches ndiff restore unified_diff""",
    "unicodedata": """
        bidirectional category combining decimal decomposition digit east_asian_width is_normalized lookup
        mirrored name normalize numeric unidata_version""",
    "html": "escape unescape",
    "html.parser": "HTMLParser",
    "html.entities": "codepoint2name entitydefs html5 name2codepoint",
    "shlex": "join quote shlex split",
    "keyword": "iskeyword issoftkeyword kwlist softkwlist",
    "ipaddress": """
        AddressValueError IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface IPv6Network
        NetmaskValueError collapse_addresses get_mixed_type_key ip_address ip_interface ip_network
        summarize_address_range""",
    "colorsys": "hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb",
    # -- data formats ------------------------------------------------------------------------------
    "json": "JSONDecodeError JSONDecoder JSONEncoder dump dumps load loads",
    "csv": """
        Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC
        QUOTE_NOTNULL@3.12 QUOTE_STRINGS@3.12 Sniffer excel excel_tab field_size_limit get_dialect
        list_dialects reader register_dialect unix_dialect unregister_dialect writer""",
    "tomllib": "TOMLDecodeError load loads",
    "configparser": """
        BasicInterpolation ConfigParser DEFAULTSECT DuplicateOptionError DuplicateSectionError Error
        ExtendedInterpolation Interpolation InterpolationDepthError InterpolationError
        InterpolationMissingOptionError InterpolationSyntaxError MissingSectionHeaderError NoOptionError
        NoSectionError ParsingError RawConfigParser SectionProxy""",
    "xml": "",
    "xml.etree": "",
    "xml.etree.ElementTree": """
        Comment Element ElementTree PI ParseError ProcessingInstruction QName SubElement TreeBuilder XML
        XMLID XMLParser XMLPullParser canonicalize dump fromstring fromstringlist indent iselement
        iterparse parse register_namespace tostring tostringlist""",
    "urllib": "",
    "urllib.parse": """
        DefragResult ParseResult ParseResultBytes SplitResult SplitResultBytes parse_qs parse_qsl quote
        quote_from_bytes quote_plus unquote unquote_plus unquote_to_bytes urldefrag urlencode urljoin
        urlparse urlsplit urlunparse urlunsplit""",
    "base64": """
        a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode b32hexencode b64decode
        b64encode b85decode b85encode decodebytes encodebytes standard_b64decode standard_b64encode
        urlsafe_b64decode urlsafe_b64encode z85decode@3.13 z85encode@3.13""",
    "binascii": """
        Error Incomplete a2b_base64 a2b_hex a2b_qp a2b_uu b2a_base64 b2a_hex b2a_qp b2a_uu crc32 crc_hqx
        hexlify unhexlify""",
    "codecs": """
        BOM_UTF8 BOM_UTF16 BOM_UTF16_BE BOM_UTF16_LE BOM_UTF32 BOM_UTF32_BE BOM_UTF32_LE decode encode
        getincrementaldecoder getincrementalencoder iterdecode iterencode""",
    "mimetypes": "guess_all_extensions guess_extension guess_type",
    "ast": """
        AST Add And AnnAssign Assert Assign AsyncFor AsyncFunctionDef AsyncWith Attribute AugAssign Await
        BinOp BitAnd BitOr BitXor BoolOp Break Call ClassDef Compare Constant Continue Del Delete Dict
        DictComp Div Eq ExceptHandler Expr Expression FloorDiv For FormattedValue FunctionDef GeneratorExp
        Global Gt GtE If IfExp Import ImportFrom In Interactive Invert Is IsNot JoinedStr LShift Lambda
        List ListComp Load Lt LtE MatMult Match MatchAs MatchClass MatchMapping MatchOr MatchSequence
        MatchSingleton MatchStar MatchValue Mod Module Mult Name NamedExpr NodeTransformer NodeVisitor
        Nonlocal Not NotEq NotIn Or Pass Pow RShift Raise Return Set SetComp Slice Starred Store Sub
        Subscript Try TryStar Tuple UAdd USub UnaryOp While With Yield YieldFrom alias arg arguments
        boolop cmpop comprehension copy_location dump excepthandler expr expr_context
        fix_missing_locations get_docstring get_source_segment increment_lineno iter_child_nodes
        iter_fields keyword literal_eval match_case mod operator parse pattern stmt unaryop unparse walk
        withitem""",
    # -- digests and secrets -----------------------------------------------------------------------
    "hashlib": """
        algorithms_available algorithms_guaranteed blake2b blake2s file_digest md5 new pbkdf2_hmac sha1
        sha224 sha256 sha384 sha3_224 sha3_256 sha3_384 sha3_512 sha512 shake_128 shake_256""",
    "hmac": "HMAC compare_digest digest new",
    "secrets": "SystemRandom choice compare_digest randbelow randbits token_bytes token_hex token_urlsafe",
    "uuid": "NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 SafeUUID UUID uuid3 uuid4 uuid5",
    # -- compression and archives ------------------------------------------------------------------
    "zlib": """
        DEFLATED DEF_BUF_SIZE DEF_MEM_LEVEL MAX_WBITS ZLIB_VERSION Z_BEST_COMPRESSION Z_BEST_SPEED
        Z_DEFAULT_COMPRESSION Z_DEFAULT_STRATEGY Z_FILTERED Z_FINISH Z_FULL_FLUSH Z_HUFFMAN_ONLY
        Z_NO_COMPRESSION Z_NO_FLUSH Z_SYNC_FLUSH adler32 compress compressobj crc32 decompress
        decompressobj error""",
    "gzip": "BadGzipFile GzipFile compress decompress open",
    "bz2": "BZ2Compressor BZ2Decompressor BZ2File compress decompress open",
    "lzma": """
        CHECK_CRC32 CHECK_CRC64 CHECK_NONE CHECK_SHA256 FILTER_DELTA FILTER_LZMA1 FILTER_LZMA2
        FORMAT_ALONE FORMAT_AUTO FORMAT_RAW FORMAT_XZ LZMACompressor LZMADecompressor LZMAError LZMAFile
        PRESET_DEFAULT PRESET_EXTREME compress decompress is_check_supported open""",
    "zipfile": """
        BadZipFile LargeZipFile Path ZIP_BZIP2 ZIP_DEFLATED ZIP_LZMA ZIP_STORED ZipFile ZipInfo is_zipfile""",
    "tarfile": """
        CompressionError DEFAULT_FORMAT ExtractError GNU_FORMAT HeaderError PAX_FORMAT ReadError
        StreamError TarError TarFile TarInfo USTAR_FORMAT data_filter@3.11.4 is_tarfile open
        tar_filter@3.11.4""",
    # -- files -------------------------------------------------------------------------------------
    "io": """
        BufferedIOBase BufferedRWPair BufferedRandom BufferedReader BufferedWriter BytesIO
        DEFAULT_BUFFER_SIZE IOBase IncrementalNewlineDecoder RawIOBase SEEK_CUR SEEK_END SEEK_SET StringIO
        TextIOBase TextIOWrapper UnsupportedOperation open""",
    "os": """
        DirEntry F_OK O_RDONLY PathLike R_OK SEEK_CUR SEEK_END SEEK_SET W_OK X_OK access altsep chdir
        chmod cpu_count curdir devnull error extsep fsdecode fsencode fspath get_terminal_size
        getcwd getcwdb getpid linesep link listdir lstat makedirs mkdir name pardir pathsep
        readlink remove removedirs rename renames replace rmdir scandir sep stat stat_result strerror
        symlink truncate unlink urandom utime walk""",
    "os.path": """
        abspath altsep basename commonpath commonprefix curdir dirname exists expanduser expandvars extsep
        getatime getctime getmtime getsize isabs isdir isfile islink ismount join lexists normcase
        normpath pardir pathsep realpath relpath samefile sep split splitdrive splitext splitroot@3.12""",
    "pathlib": "Path PosixPath PurePath PurePosixPath PureWindowsPath",
    "glob": "escape glob iglob translate@3.13",
    "fnmatch": "filter fnmatch fnmatchcase translate",
    "shutil": """
        Error SameFileError SpecialFileError copy copy2 copyfile copyfileobj copymode copystat copytree
        get_terminal_size ignore_patterns make_archive move rmtree unpack_archive""",
    "tempfile": """
        NamedTemporaryFile SpooledTemporaryFile TemporaryDirectory TemporaryFile gettempdir gettempprefix
        mkdtemp mktemp""",
    "stat": """
        S_IFDIR S_IFLNK S_IFMT S_IFREG S_IMODE S_IRGRP S_IROTH S_IRUSR S_IRWXG S_IRWXO S_IRWXU S_ISDIR
        S_ISLNK S_ISREG S_IWGRP S_IWOTH S_IWUSR S_IXGRP S_IXOTH S_IXUSR ST_ATIME ST_CTIME ST_MODE ST_MTIME
        ST_SIZE filemode""",
    "errno": """
        E2BIG EACCES EAGAIN EBADF EBUSY EEXIST EFBIG EINTR EINVAL EIO EISDIR ELOOP EMFILE ENAMETOOLONG
        ENOENT ENOMEM ENOSPC ENOTDIR ENOTEMPTY EPERM EPIPE EROFS ETIMEDOUT EXDEV errorcode""",
    "sqlite3": """
        Binary Blob Connection Cursor DataError DatabaseError Date Error IntegrityError InterfaceError
        InternalError NotSupportedError OperationalError PARSE_COLNAMES PARSE_DECLTYPES ProgrammingError
        Row Time Timestamp Warning adapt apilevel complete_statement connect paramstyle register_adapter
        register_converter sqlite_version sqlite_version_info threadsafety""",
    # -- time --------------------------------------------------------------------------------------
    "time": """
        altzone asctime ctime daylight get_clock_info gmtime localtime mktime monotonic monotonic_ns
        perf_counter perf_counter_ns process_time process_time_ns sleep strftime strptime struct_time
        thread_time thread_time_ns time time_ns timezone tzname""",
    "datetime": "MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo",
    "zoneinfo": "ZoneInfo ZoneInfoNotFoundError available_timezones",
    "calendar": """
        Calendar FRIDAY HTMLCalendar IllegalMonthError IllegalWeekdayError MONDAY SATURDAY SUNDAY THURSDAY
        TUESDAY TextCalendar WEDNESDAY calendar day_abbr day_name firstweekday isleap leapdays month
        month_abbr month_name monthcalendar monthrange prcal prmonth setfirstweekday timegm weekday
        weekheader Month@3.12 Day@3.12""",
    "timeit": "default_timer repeat timeit",
    # -- classes and types -------------------------------------------------------------------------
    "enum": """
        CONFORM CONTINUOUS EJECT Enum EnumCheck Flag FlagBoundary IntEnum IntFlag KEEP NAMED_FLAGS
        ReprEnum STRICT StrEnum UNIQUE auto member nonmember property unique verify""",
    "dataclasses": """
        Field FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field fields
        is_dataclass make_dataclass replace""",
    "abc": "ABC abstractclassmethod abstractmethod abstractproperty abstractstaticmethod",
    "typing": """
        AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator
        Awaitable BinaryIO Callable ChainMap ClassVar Collection Concatenate Container ContextManager
        Coroutine Counter DefaultDict Deque Dict Final FrozenSet Generator Generic Hashable IO ItemsView
        Iterable Iterator KeysView List Literal LiteralString Mapping MappingView Match MutableMapping
        MutableSequence MutableSet NamedTuple Never NewType NoReturn NotRequired Optional OrderedDict
        ParamSpec ParamSpecArgs ParamSpecKwargs Pattern Protocol ReadOnly@3.13 Required Reversible Self
        Sequence Set Sized SupportsAbs SupportsBytes SupportsComplex SupportsFloat SupportsIndex
        SupportsInt SupportsRound TYPE_CHECKING Text TextIO Tuple Type TypeAlias TypeAliasType@3.12
        TypeGuard TypeIs@3.13 TypeVar TypeVarTuple TypedDict Union Unpack ValuesView assert_never
        assert_type cast dataclass_transform final get_args get_origin get_type_hints is_typeddict
        no_type_check overload override@3.12 reveal_type runtime_checkable""",
    "types": """
        AsyncGeneratorType BuiltinFunctionType BuiltinMethodType CoroutineType EllipsisType FunctionType
        GeneratorType GenericAlias LambdaType MappingProxyType MethodType ModuleType NoneType
        NotImplementedType SimpleNamespace TracebackType UnionType""",
    "contextlib": """
        AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator AsyncExitStack
        ContextDecorator ExitStack aclosing asynccontextmanager chdir closing contextmanager nullcontext
        redirect_stderr redirect_stdout suppress""",
    "contextvars": "Context ContextVar Token copy_context",
    "inspect": """
        cleandoc isabstract isawaitable iscoroutine iscoroutinefunction isclass isfunction isgenerator
        isgeneratorfunction""",
    # -- doing several things at once --------------------------------------------------------------
    "asyncio": """
        ALL_COMPLETED Barrier@3.11 BoundedSemaphore BrokenBarrierError CancelledError Condition Event
        FIRST_COMPLETED FIRST_EXCEPTION Future InvalidStateError LifoQueue Lock PriorityQueue Queue
        QueueEmpty QueueFull QueueShutDown@3.13 Runner Semaphore Task TaskGroup Timeout TimeoutError
        all_tasks as_completed create_task current_task ensure_future gather get_event_loop
        get_running_loop iscoroutine iscoroutinefunction isfuture new_event_loop run
        run_coroutine_threadsafe set_event_loop shield sleep timeout timeout_at to_thread wait wait_for
        wrap_future""",
    "concurrent": "",
    "concurrent.futures": """
        ALL_COMPLETED BrokenExecutor CancelledError Executor FIRST_COMPLETED FIRST_EXCEPTION Future
        InvalidStateError ThreadPoolExecutor TimeoutError as_completed wait""",
    "threading": """
        Barrier BoundedSemaphore BrokenBarrierError Condition Event Lock RLock Semaphore TIMEOUT_MAX
        Thread ThreadError Timer active_count current_thread enumerate get_ident get_native_id local
        main_thread""",
    "queue": "Empty Full LifoQueue PriorityQueue Queue ShutDown@3.13 SimpleQueue",
    "sched": "scheduler",
    # -- the program and its surroundings ----------------------------------------------------------
    "sys": """
        api_version argv byteorder copyright exit flags float_info float_repr_style get_int_max_str_digits
        getdefaultencoding getfilesystemencoding getrecursionlimit getrefcount getsizeof getswitchinterval
        hash_info hexversion implementation int_info intern maxsize maxunicode platform
        set_int_max_str_digits setrecursionlimit stderr stdin stdout thread_info version version_info""",
    "argparse": """
        Action ArgumentDefaultsHelpFormatter ArgumentError ArgumentParser ArgumentTypeError
        BooleanOptionalAction HelpFormatter MetavarTypeHelpFormatter Namespace ONE_OR_MORE OPTIONAL PARSER
        REMAINDER RawDescriptionHelpFormatter RawTextHelpFormatter SUPPRESS ZERO_OR_MORE""",
    "logging": """
        BASIC_FORMAT CRITICAL DEBUG ERROR FATAL FileHandler Filter Formatter Handler INFO LogRecord Logger
        LoggerAdapter NOTSET NullHandler StreamHandler WARN WARNING addLevelName basicConfig
        captureWarnings critical debug disable error exception fatal getHandlerByName@3.12
        getHandlerNames@3.12 getLevelName getLevelNamesMapping getLogger info log makeLogRecord warning""",
    "warnings": "catch_warnings deprecated@3.13 filterwarnings formatwarning resetwarnings simplefilter warn",
    "traceback": """
        TracebackException format_exc format_exception format_exception_only format_tb print_exc
        print_exception print_tb""",
    "platform": "python_implementation python_version python_version_tuple",
}
"""Module → the names a program sees in it. A module whose names are empty is there for its submodules."""

TOOLS_MODULE = "litany_tools"
"""The stub module; its names differ from program to program."""

SUBSTITUTES = {
    "builtins": "builtins are available by their names",
    "ctypes": "call a tool from litany_tools for native code",
    "http": "call a tool from litany_tools that fetches",
    "http.client": "call a tool from litany_tools that fetches",
    "httpx": "call a tool from litany_tools that fetches",
    "aiohttp": "call a tool from litany_tools that fetches",
    "requests": "call a tool from litany_tools that fetches",
    "urllib.request": "call a tool from litany_tools that fetches; urllib.parse is available",
    "socket": "call a tool from litany_tools; a program has no network",
    "ssl": "call a tool from litany_tools; a program has no network",
    "importlib": "write an import statement",
    "multiprocessing": "use concurrent.futures.ThreadPoolExecutor or asyncio; a program is one process",
    "pickle": "use json, or copy.deepcopy for copies",
    "marshal": "use json",
    "shelve": "use sqlite3 or json",
    "dbm": "use sqlite3",
    "subprocess": "call a tool from litany_tools that runs commands",
    "pty": "call a tool from litany_tools that runs commands",
    "signal": "use a timeout: asyncio.timeout, or threading.Timer",
    "gc": "del the names you no longer need",
    "resource": "sys.getsizeof tells one object's size",
    "code": "write the statements themselves",
    "unittest": "use assert statements",
    "pytest": "use assert statements",
    "yaml": "use json or tomllib",
    "toml": "use tomllib",
    "simplejson": "use json",
    "dateutil": "use datetime and zoneinfo",
    "pytz": "use zoneinfo",
    "regex": "use re",
    "attr": "use dataclasses",
    "attrs": "use dataclasses",
    "pydantic": "use dataclasses",
    "tools": "import litany_tools",
    "functions": "import litany_tools",
    "sandbox_tools": "import litany_tools",
    "mcp": "import litany_tools",
    "lxml": "use xml.etree.ElementTree",
    "bs4": "use html.parser",
    "xml.dom.minidom": "use xml.etree.ElementTree",
}
"""Modules that programs ask for and do not get, and what to write instead."""


ENVIRONMENT_HINT = "a program's environment is empty; pass values in the program text or through a tool"

NAME_HINTS = {
    f"os.{name}": ENVIRONMENT_HINT
    for name in ("environ", "environb", "getenv", "getenvb", "putenv", "unsetenv")
}
"""Names that programs ask for and do not get, and what to write instead. Reading one is refused before the
program runs, wherever the text shows whose name it is."""


def exists(entry: str, version: tuple[int, ...] = sys.version_info[:3]) -> bool:
    """Whether an entry of the table (`name`, `name@3.12` or `name@3.11.4`) exists in this Python version."""
    _, _, since = entry.partition("@")
    return not since or version >= tuple(int(part) for part in since.split("."))


def names_of(module: str) -> frozenset[str]:
    """The names of a module of the table, submodules included, for the running Python version."""
    listed = {entry.partition("@")[0] for entry in MODULES[module].split() if exists(entry)}
    children = {m[len(module) + 1 :] for m in MODULES if m.startswith(module + ".")}
    return frozenset(listed | {c for c in children if "." not in c})


NAMES = {module: names_of(module) for module in MODULES}
