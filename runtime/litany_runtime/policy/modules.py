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
        LinearRegression NormalDist StatisticsError correlation covariance fmean geometric_mean
        harmonic_mean kde@3.13 kde_random@3.13 linear_regression mean median median_grouped
        median_high median_low mode multimode pstdev pvariance quantiles stdev variance""",
    "random": """
        Random SystemRandom betavariate binomialvariate@3.12 choice choices expovariate gammavariate gauss
        getrandbits getstate lognormvariate normalvariate paretovariate randbytes randint random randrange
        sample seed setstate shuffle triangular uniform vonmisesvariate weibullvariate""",
    "decimal": """
        BasicContext Clamped Context ConversionSyntax Decimal DecimalException DecimalTuple
        DefaultContext DivisionByZero DivisionImpossible DivisionUndefined ExtendedContext
        FloatOperation HAVE_CONTEXTVAR HAVE_THREADS Inexact InvalidContext InvalidOperation MAX_EMAX
        MAX_PREC MIN_EMIN MIN_ETINY Overflow ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR
        ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP Rounded Subnormal Underflow getcontext
        localcontext setcontext""",
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
        AsyncGenerator AsyncIterable AsyncIterator Awaitable Buffer@3.12 ByteString Callable
        Collection Container Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping
        MappingView MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized ValuesView""",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "array": "ArrayType array typecodes",
    "copy": "Error copy deepcopy replace@3.13",
    "graphlib": "CycleError TopologicalSorter",
    "weakref": """
        CallableProxyType ProxyType ProxyTypes ReferenceType WeakKeyDictionary WeakMethod WeakSet
        WeakValueDictionary finalize getweakrefcount getweakrefs proxy ref""",
    "struct": "Struct calcsize error iter_unpack pack pack_into unpack unpack_from",
    # -- text --------------------------------------------------------------------------------------
    "string": """
        Formatter Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits
        octdigits printable punctuation whitespace""",
    "re": """
        A ASCII DEBUG DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern PatternError@3.13
        RegexFlag S U UNICODE VERBOSE X compile error escape findall finditer fullmatch match purge
        search split sub subn""",
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
        AddressValueError IPV4LENGTH IPV6LENGTH IPv4Address IPv4Interface IPv4Network IPv6Address
        IPv6Interface IPv6Network NetmaskValueError collapse_addresses get_mixed_type_key ip_address
        ip_interface ip_network summarize_address_range v4_int_to_packed v6_int_to_packed""",
    "colorsys": "hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb",
    # -- data formats ------------------------------------------------------------------------------
    "json": "JSONDecodeError JSONDecoder JSONEncoder detect_encoding dump dumps load loads",
    "json.decoder": "JSONDecodeError JSONDecoder",
    "json.encoder": "JSONEncoder",
    "csv": """
        Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC
        QUOTE_NOTNULL@3.12 QUOTE_STRINGS@3.12 Sniffer excel excel_tab field_size_limit get_dialect
        list_dialects reader register_dialect unix_dialect unregister_dialect writer""",
    "tomllib": "TOMLDecodeError load loads",
    "configparser": """
        BasicInterpolation ConfigParser DEFAULTSECT DuplicateOptionError DuplicateSectionError Error
        ExtendedInterpolation Interpolation InterpolationDepthError InterpolationError
        InterpolationMissingOptionError InterpolationSyntaxError MAX_INTERPOLATION_DEPTH
        MissingSectionHeaderError MultilineContinuationError@3.13 NoOptionError NoSectionError
        ParsingError RawConfigParser SectionProxy UNNAMED_SECTION@3.13""",
    "xml": "",
    "xml.etree": "",
    "xml.etree.ElementTree": """
        Comment Element ElementTree PI ParseError ProcessingInstruction QName SubElement TreeBuilder
        VERSION XML XMLID XMLParser XMLPullParser canonicalize dump fromstring fromstringlist indent
        iselement iterparse parse register_namespace tostring tostringlist""",
    "urllib": "",
    "urllib.parse": """
        DefragResult ParseResult ParseResultBytes SplitResult SplitResultBytes parse_qs parse_qsl quote
        quote_from_bytes quote_plus unquote unquote_plus unquote_to_bytes urldefrag urlencode urljoin
        urlparse urlsplit urlunparse urlunsplit""",
    "http": "HTTPMethod HTTPStatus",
    "email": "message_from_binary_file message_from_bytes message_from_file message_from_string",
    "email.charset": "BASE64 Charset QP SHORTEST add_alias add_charset add_codec",
    "email.encoders": "encode_7or8bit encode_base64 encode_noop encode_quopri",
    "email.errors": """
        BoundaryError CharsetError CloseBoundaryNotFoundDefect FirstHeaderLineIsContinuationDefect
        HeaderDefect HeaderMissingRequiredValue HeaderParseError HeaderWriteError@3.13
        InvalidBase64CharactersDefect InvalidBase64LengthDefect InvalidBase64PaddingDefect
        InvalidDateDefect InvalidHeaderDefect InvalidMultipartContentTransferEncodingDefect
        MalformedHeaderDefect MessageDefect MessageError MessageParseError
        MisplacedEnvelopeHeaderDefect MissingHeaderBodySeparatorDefect MultipartConversionError
        MultipartInvariantViolationDefect NoBoundaryInMultipartDefect NonASCIILocalPartDefect
        NonPrintableDefect ObsoleteHeaderDefect StartBoundaryNotFoundDefect UndecodableBytesDefect""",
    "email.generator": "BytesGenerator DecodedGenerator Generator",
    "email.header": "Header decode_header make_header",
    "email.headerregistry": "Address Group",
    "email.message": "EmailMessage MIMEPart Message",
    "email.mime": "",
    "email.mime.application": "MIMEApplication",
    "email.mime.audio": "MIMEAudio",
    "email.mime.base": "MIMEBase",
    "email.mime.image": "MIMEImage",
    "email.mime.message": "MIMEMessage",
    "email.mime.multipart": "MIMEMultipart",
    "email.mime.nonmultipart": "MIMENonMultipart",
    "email.mime.text": "MIMEText",
    "email.parser": "BytesFeedParser BytesHeaderParser BytesParser FeedParser HeaderParser Parser",
    "email.policy": "HTTP SMTP SMTPUTF8 compat32 default strict",
    "email.utils": """
        collapse_rfc2231_value decode_params decode_rfc2231 encode_rfc2231 format_datetime formataddr
        formatdate getaddresses localtime make_msgid mktime_tz parseaddr parsedate
        parsedate_to_datetime parsedate_tz quote unquote""",
    "base64": """
        a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode b32hexencode
        b64decode b64encode b85decode b85encode decode decodebytes encode encodebytes
        standard_b64decode standard_b64encode urlsafe_b64decode urlsafe_b64encode z85decode@3.13
        z85encode@3.13""",
    "binascii": """
        Error Incomplete a2b_base64 a2b_hex a2b_qp a2b_uu b2a_base64 b2a_hex b2a_qp b2a_uu crc32 crc_hqx
        hexlify unhexlify""",
    "codecs": """
        BOM BOM_BE BOM_LE BOM_UTF16 BOM_UTF16_BE BOM_UTF16_LE BOM_UTF32 BOM_UTF32_BE BOM_UTF32_LE
        BOM_UTF8 decode encode getdecoder getencoder getincrementaldecoder getincrementalencoder
        getreader getwriter iterdecode iterencode lookup open""",
    "mimetypes": "add_type guess_all_extensions guess_extension guess_file_type@3.13 guess_type",
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
        withitem ParamSpec@3.12 TypeAlias@3.12 TypeVar@3.12 TypeVarTuple@3.12 type_param@3.12""",
    # -- digests and secrets -----------------------------------------------------------------------
    "hashlib": """
        algorithms_available algorithms_guaranteed blake2b blake2s file_digest md5 new pbkdf2_hmac
        scrypt sha1 sha224 sha256 sha384 sha3_224 sha3_256 sha3_384 sha3_512 sha512 shake_128
        shake_256""",
    "hmac": "HMAC compare_digest digest new",
    "secrets": "SystemRandom choice compare_digest randbelow randbits token_bytes token_hex token_urlsafe",
    "uuid": """
        NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 RESERVED_FUTURE RESERVED_MICROSOFT
        RESERVED_NCS RFC_4122 SafeUUID UUID uuid1 uuid3 uuid4 uuid5""",
    # -- compression and archives ------------------------------------------------------------------
    "zlib": """
        DEFLATED DEF_BUF_SIZE DEF_MEM_LEVEL MAX_WBITS ZLIB_RUNTIME_VERSION ZLIB_VERSION
        Z_BEST_COMPRESSION Z_BEST_SPEED Z_BLOCK Z_DEFAULT_COMPRESSION Z_DEFAULT_STRATEGY Z_FILTERED
        Z_FINISH Z_FIXED Z_FULL_FLUSH Z_HUFFMAN_ONLY Z_NO_COMPRESSION Z_NO_FLUSH Z_PARTIAL_FLUSH Z_RLE
        Z_SYNC_FLUSH Z_TREES adler32 compress compressobj crc32 decompress decompressobj error""",
    "gzip": "BadGzipFile GzipFile compress decompress open",
    "bz2": "BZ2Compressor BZ2Decompressor BZ2File compress decompress open",
    "lzma": """
        CHECK_CRC32 CHECK_CRC64 CHECK_ID_MAX CHECK_NONE CHECK_SHA256 CHECK_UNKNOWN FILTER_ARM
        FILTER_ARMTHUMB FILTER_DELTA FILTER_IA64 FILTER_LZMA1 FILTER_LZMA2 FILTER_POWERPC FILTER_SPARC
        FILTER_X86 FORMAT_ALONE FORMAT_AUTO FORMAT_RAW FORMAT_XZ LZMACompressor LZMADecompressor
        LZMAError LZMAFile MF_BT2 MF_BT3 MF_BT4 MF_HC3 MF_HC4 MODE_FAST MODE_NORMAL PRESET_DEFAULT
        PRESET_EXTREME compress decompress is_check_supported open""",
    "zipfile": """
        BadZipFile BadZipfile LargeZipFile Path ZIP_BZIP2 ZIP_DEFLATED ZIP_LZMA ZIP_STORED ZipFile
        ZipInfo error is_zipfile""",
    "tarfile": """
        AREGTYPE AbsoluteLinkError@3.11.4 AbsolutePathError@3.11.4 BLKTYPE CHRTYPE CONTTYPE
        CompressionError DEFAULT_FORMAT DIRTYPE ENCODING ExtractError FIFOTYPE FilterError@3.11.4
        GNU_FORMAT HeaderError LNKTYPE LinkOutsideDestinationError@3.11.4
        OutsideDestinationError@3.11.4 PAX_FORMAT REGTYPE ReadError SYMTYPE SpecialFileError@3.11.4
        StreamError TarError TarFile TarInfo USTAR_FORMAT data_filter@3.11.4
        fully_trusted_filter@3.11.4 is_tarfile open tar_filter@3.11.4""",
    # -- files -------------------------------------------------------------------------------------
    "io": """
        BlockingIOError BufferedIOBase BufferedRWPair BufferedRandom BufferedReader BufferedWriter
        BytesIO DEFAULT_BUFFER_SIZE IOBase IncrementalNewlineDecoder RawIOBase SEEK_CUR SEEK_END
        SEEK_SET StringIO TextIOBase TextIOWrapper UnsupportedOperation open text_encoding""",
    "os": """
        DirEntry EX_CANTCREAT EX_CONFIG EX_DATAERR EX_IOERR EX_NOHOST EX_NOINPUT EX_NOPERM EX_NOUSER
        EX_OK EX_OSERR EX_OSFILE EX_PROTOCOL EX_SOFTWARE EX_TEMPFAIL EX_UNAVAILABLE EX_USAGE F_OK
        O_RDONLY PathLike R_OK SEEK_CUR SEEK_END SEEK_SET W_OK X_OK access altsep chdir chmod
        cpu_count curdir devnull environ error extsep fdatasync fsdecode fsencode fspath fsync
        get_terminal_size getcwd getcwdb getegid getenv geteuid getgid getpid getppid getuid isatty
        linesep link listdir lstat makedirs mkdir name pardir pathsep process_cpu_count@3.13 readlink
        remove removedirs rename renames replace rmdir scandir sched_getaffinity sched_yield sep stat
        stat_result strerror symlink terminal_size times times_result truncate unlink urandom utime
        walk""",
    "os.path": """
        abspath altsep basename commonpath commonprefix curdir defpath devnull dirname exists
        expanduser expandvars extsep getatime getctime getmtime getsize isabs isdir isfile
        isjunction@3.12 islink ismount join lexists normcase normpath pardir pathsep realpath relpath
        samefile samestat sep split splitdrive splitext splitroot@3.12""",
    "pathlib": "Path PosixPath PurePath PurePosixPath PureWindowsPath UnsupportedOperation@3.13",
    "glob": "escape glob has_magic iglob translate@3.13",
    "fnmatch": "filter fnmatch fnmatchcase translate",
    "filecmp": "DEFAULT_IGNORES clear_cache cmp cmpfiles dircmp",
    "shutil": """
        COPY_BUFSIZE Error ExecError ReadError RegistryError SameFileError SpecialFileError copy copy2
        copyfile copyfileobj copymode copystat copytree disk_usage get_archive_formats
        get_terminal_size get_unpack_formats ignore_patterns make_archive move rmtree unpack_archive
        which""",
    "tempfile": """
        NamedTemporaryFile SpooledTemporaryFile TMP_MAX TemporaryDirectory TemporaryFile gettempdir
        gettempdirb gettempprefix gettempprefixb mkdtemp mktemp template""",
    "stat": """
        FILE_ATTRIBUTE_ARCHIVE FILE_ATTRIBUTE_COMPRESSED FILE_ATTRIBUTE_DEVICE
        FILE_ATTRIBUTE_DIRECTORY FILE_ATTRIBUTE_ENCRYPTED FILE_ATTRIBUTE_HIDDEN
        FILE_ATTRIBUTE_INTEGRITY_STREAM FILE_ATTRIBUTE_NORMAL FILE_ATTRIBUTE_NOT_CONTENT_INDEXED
        FILE_ATTRIBUTE_NO_SCRUB_DATA FILE_ATTRIBUTE_OFFLINE FILE_ATTRIBUTE_READONLY
        FILE_ATTRIBUTE_REPARSE_POINT FILE_ATTRIBUTE_SPARSE_FILE FILE_ATTRIBUTE_SYSTEM
        FILE_ATTRIBUTE_TEMPORARY FILE_ATTRIBUTE_VIRTUAL SF_APPEND SF_ARCHIVED SF_IMMUTABLE SF_NOUNLINK
        SF_SNAPSHOT ST_ATIME ST_CTIME ST_DEV ST_GID ST_INO ST_MODE ST_MTIME ST_NLINK ST_SIZE ST_UID
        S_ENFMT S_IEXEC S_IFBLK S_IFCHR S_IFDIR S_IFDOOR S_IFIFO S_IFLNK S_IFMT S_IFPORT S_IFREG
        S_IFSOCK S_IFWHT S_IMODE S_IREAD S_IRGRP S_IROTH S_IRUSR S_IRWXG S_IRWXO S_IRWXU S_ISBLK
        S_ISCHR S_ISDIR S_ISDOOR S_ISFIFO S_ISGID S_ISLNK S_ISPORT S_ISREG S_ISSOCK S_ISUID S_ISVTX
        S_ISWHT S_IWGRP S_IWOTH S_IWRITE S_IWUSR S_IXGRP S_IXOTH S_IXUSR UF_APPEND UF_COMPRESSED
        UF_HIDDEN UF_IMMUTABLE UF_NODUMP UF_NOUNLINK UF_OPAQUE filemode""",
    "errno": """
        E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF EBADFD
        EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED
        ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT EEXIST EFAULT EFBIG
        EHOSTDOWN EHOSTUNREACH EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR EISNAM
        EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC
        ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL
        ENETDOWN ENETRESET ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC
        ENOKEY ENOLCK ENOLINK ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR
        ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY
        ENOTUNIQ ENXIO EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT
        EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO ERESTART ERFKILL EROFS ESHUTDOWN ESOCKTNOSUPPORT
        ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH
        EUSERS EWOULDBLOCK EXDEV EXFULL errorcode""",
    "sqlite3": """
        Binary Blob Connection Cursor DataError DatabaseError Date Error IntegrityError InterfaceError
        InternalError LEGACY_TRANSACTION_CONTROL@3.12 NotSupportedError OperationalError
        PARSE_COLNAMES PARSE_DECLTYPES ProgrammingError Row Time Timestamp Warning adapt apilevel
        complete_statement connect paramstyle register_adapter register_converter sqlite_version
        sqlite_version_info threadsafety""",
    # -- time --------------------------------------------------------------------------------------
    "time": """
        CLOCK_BOOTTIME CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW CLOCK_PROCESS_CPUTIME_ID CLOCK_REALTIME
        CLOCK_TAI CLOCK_THREAD_CPUTIME_ID altzone asctime clock_getres clock_gettime clock_gettime_ns
        ctime daylight get_clock_info gmtime localtime mktime monotonic monotonic_ns perf_counter
        perf_counter_ns process_time process_time_ns sleep strftime strptime struct_time thread_time
        thread_time_ns time time_ns timezone tzname""",
    "datetime": "MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo",
    "zoneinfo": "InvalidTZPathWarning TZPATH ZoneInfo ZoneInfoNotFoundError available_timezones",
    "calendar": """
        APRIL@3.12 AUGUST@3.12 Calendar DECEMBER@3.12 Day@3.12 EPOCH FEBRUARY@3.12 FRIDAY HTMLCalendar
        IllegalMonthError IllegalWeekdayError JANUARY@3.12 JULY@3.12 JUNE@3.12 MARCH@3.12 MAY@3.12
        MONDAY Month@3.12 NOVEMBER@3.12 OCTOBER@3.12 SATURDAY SEPTEMBER@3.12 SUNDAY THURSDAY TUESDAY
        TextCalendar WEDNESDAY calendar day_abbr day_name error firstweekday format formatstring
        isleap leapdays month month_abbr month_name monthcalendar monthrange prcal prmonth prweek
        setfirstweekday timegm week weekday weekheader""",
    "timeit": "Timer default_number default_repeat default_timer repeat timeit",
    # -- classes and types -------------------------------------------------------------------------
    "enum": """
        CONFORM CONTINUOUS EJECT Enum EnumCheck Flag FlagBoundary IntEnum IntFlag KEEP NAMED_FLAGS
        ReprEnum STRICT StrEnum UNIQUE auto member nonmember property unique verify""",
    "dataclasses": """
        Field FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field fields
        is_dataclass make_dataclass replace""",
    "abc": "ABC ABCMeta abstractclassmethod abstractmethod abstractproperty abstractstaticmethod",
    "typing": """
        AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable
        AsyncIterator Awaitable BinaryIO ByteString Callable ChainMap ClassVar Collection Concatenate
        Container ContextManager Coroutine Counter DefaultDict Deque Dict Final FrozenSet Generator
        Generic Hashable IO ItemsView Iterable Iterator KeysView List Literal LiteralString Mapping
        MappingView Match MutableMapping MutableSequence MutableSet NamedTuple Never NewType
        NoDefault@3.13 NoReturn NotRequired Optional OrderedDict ParamSpec ParamSpecArgs
        ParamSpecKwargs Pattern Protocol ReadOnly@3.13 Required Reversible Self Sequence Set Sized
        SupportsAbs SupportsBytes SupportsComplex SupportsFloat SupportsIndex SupportsInt
        SupportsRound TYPE_CHECKING Text TextIO Tuple Type TypeAlias TypeAliasType@3.12 TypeGuard
        TypeIs@3.13 TypeVar TypeVarTuple TypedDict Union Unpack ValuesView assert_never assert_type
        cast clear_overloads dataclass_transform final get_args get_origin get_overloads
        get_protocol_members@3.13 get_type_hints is_protocol@3.13 is_typeddict no_type_check
        no_type_check_decorator overload override@3.12 reveal_type runtime_checkable""",
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
        AGEN_CLOSED@3.12 AGEN_CREATED@3.12 AGEN_RUNNING@3.12 AGEN_SUSPENDED@3.12 BoundArguments
        CORO_CLOSED CORO_CREATED CORO_RUNNING CORO_SUSPENDED FullArgSpec GEN_CLOSED GEN_CREATED
        GEN_RUNNING GEN_SUSPENDED Parameter Signature cleandoc getasyncgenstate@3.12 getcoroutinestate
        getdoc getfullargspec getgeneratorstate getmembers getmro isabstract isasyncgen
        isasyncgenfunction isawaitable isbuiltin isclass iscode iscoroutine iscoroutinefunction
        isdatadescriptor isframe isfunction isgenerator isgeneratorfunction isgetsetdescriptor
        ismemberdescriptor ismethod ismethoddescriptor ismethodwrapper ismodule isroutine istraceback
        signature unwrap""",
    # -- doing several things at once --------------------------------------------------------------
    "asyncio": """
        ALL_COMPLETED Barrier@3.11 BoundedSemaphore BrokenBarrierError CancelledError Condition Event
        FIRST_COMPLETED FIRST_EXCEPTION Future IncompleteReadError InvalidStateError LifoQueue
        LimitOverrunError Lock PriorityQueue Queue QueueEmpty QueueFull QueueShutDown@3.13 Runner
        Semaphore Task TaskGroup Timeout TimeoutError all_tasks as_completed create_task current_task
        ensure_future gather get_event_loop get_running_loop iscoroutine iscoroutinefunction isfuture
        new_event_loop run run_coroutine_threadsafe set_event_loop shield sleep timeout timeout_at
        to_thread wait wait_for wrap_future""",
    "asyncio.exceptions": """
        BrokenBarrierError CancelledError IncompleteReadError InvalidStateError LimitOverrunError
        TimeoutError""",
    "concurrent": "",
    "concurrent.futures": """
        ALL_COMPLETED BrokenExecutor CancelledError Executor FIRST_COMPLETED FIRST_EXCEPTION Future
        InvalidStateError ThreadPoolExecutor TimeoutError as_completed wait""",
    "threading": """
        Barrier BoundedSemaphore BrokenBarrierError Condition Event Lock RLock Semaphore TIMEOUT_MAX
        Thread ThreadError Timer activeCount active_count currentThread current_thread enumerate
        get_ident get_native_id local main_thread stack_size""",
    "queue": "Empty Full LifoQueue PriorityQueue Queue ShutDown@3.13 SimpleQueue",
    "sched": "scheduler",
    # -- the program and its surroundings ----------------------------------------------------------
    "sys": """
        api_version argv byteorder copyright exc_info exception executable exit flags float_info
        float_repr_style get_int_max_str_digits getdefaultencoding getfilesystemencodeerrors
        getfilesystemencoding getrecursionlimit getrefcount getsizeof getswitchinterval hash_info
        hexversion implementation int_info intern is_finalizing maxsize maxunicode platform
        set_int_max_str_digits setrecursionlimit setswitchinterval stderr stdin stdlib_module_names
        stdout thread_info version version_info""",
    "argparse": """
        Action ArgumentDefaultsHelpFormatter ArgumentError ArgumentParser ArgumentTypeError
        BooleanOptionalAction FileType HelpFormatter MetavarTypeHelpFormatter Namespace ONE_OR_MORE
        OPTIONAL PARSER REMAINDER RawDescriptionHelpFormatter RawTextHelpFormatter SUPPRESS
        ZERO_OR_MORE""",
    "getopt": "GetoptError error getopt gnu_getopt",
    "logging": """
        BASIC_FORMAT BufferingFormatter CRITICAL DEBUG ERROR FATAL FileHandler Filter Formatter
        Handler INFO LogRecord Logger LoggerAdapter NOTSET NullHandler StreamHandler WARN WARNING
        addLevelName basicConfig captureWarnings critical debug disable error exception fatal
        getHandlerByName@3.12 getHandlerNames@3.12 getLevelName getLevelNamesMapping getLogger info
        log makeLogRecord root shutdown warn warning""",
    "logging.handlers": """
        BaseRotatingHandler BufferingHandler MemoryHandler QueueHandler QueueListener
        RotatingFileHandler TimedRotatingFileHandler WatchedFileHandler""",
    "warnings": """
        WarningMessage catch_warnings deprecated@3.13 filterwarnings formatwarning resetwarnings
        simplefilter warn""",
    "traceback": """
        FrameSummary TracebackException extract_tb format_exc format_exception format_exception_only
        format_list format_tb print_exc print_exception print_list print_tb""",
    "platform": """
        architecture machine node platform processor python_implementation python_version
        python_version_tuple release system uname version""",
    "atexit": "register unregister",
    "gc": "collect disable enable get_count get_stats get_threshold isenabled",
    "resource": "RUSAGE_CHILDREN RUSAGE_SELF RUSAGE_THREAD getpagesize getrusage struct_rusage",
    "importlib": "import_module",
    "importlib.util": "find_spec",
    "doctest": """
        ELLIPSIS IGNORE_EXCEPTION_DETAIL NORMALIZE_WHITESPACE SKIP TestResults run_docstring_examples
        testmod""",
    "unittest": """
        FunctionTestCase IsolatedAsyncioTestCase SkipTest TestCase TestLoader TestResult TestSuite
        TextTestResult TextTestRunner addModuleCleanup defaultTestLoader doModuleCleanups
        enterModuleContext expectedFailure main skip skipIf skipUnless""",
}
"""Module → the names a program sees in it. A module whose names are empty is there for its submodules."""

TOOLS_MODULE = "litany_tools"
"""The stub module; its names differ from program to program."""


def exists(entry: str, version: tuple[int, ...] = sys.version_info[:3]) -> bool:
    """Whether an entry of the table (`name`, `name@3.12` or `name@3.11.4`) exists in this Python version."""
    _, _, since = entry.partition("@")
    return not since or version >= tuple(int(part) for part in since.split("."))


def since(module: str, name: str) -> str:
    """The Python version with which a name of the table comes, when the running one is older; else ""."""
    for entry in MODULES.get(module, "").split():
        listed, _, version = entry.partition("@")
        if listed == name and not exists(entry):
            return version
    return ""


def names_of(module: str) -> frozenset[str]:
    """The names of a module of the table, submodules included, for the running Python version."""
    listed = {entry.partition("@")[0] for entry in MODULES[module].split() if exists(entry)}
    children = {m[len(module) + 1 :] for m in MODULES if m.startswith(module + ".")}
    return frozenset(listed | {c for c in children if "." not in c})


NAMES = {module: names_of(module) for module in MODULES}
