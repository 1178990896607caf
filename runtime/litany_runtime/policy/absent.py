"""What programs ask for and do not get, and what to write instead: modules, and names of modules.

A name listed here is known not to be offered, so it is refused before the program runs, wherever the text
shows whose name it is. Every public name of a module here is either in `modules.py` or in this file; a test
compares both with the library.
"""

from __future__ import annotations

import fnmatch

COMMANDS = "call a tool from litany_tools that runs commands"
FETCH = "call a tool from litany_tools that fetches"
NETWORK = "call a tool from litany_tools; a program has no network"
ONE_PROCESS = "use concurrent.futures.ThreadPoolExecutor or asyncio; a program is one process"
OPEN_A_PATH = "use open(path); a program has no descriptors of its own"
ASSERTS = "use unittest, or assert statements"
WORKTREE = "a program imports the modules listed here only; read files with open()"
WRITE_TESTS = "write a function or an object of your own and pass it in"

SUBSTITUTES = {
    "aifc": "read the file's bytes with open(path, 'rb') and struct",
    "aiohttp": FETCH,
    "antigravity": "print the text yourself",
    "asynchat": NETWORK,
    "asyncio.subprocess": COMMANDS,
    "asyncore": NETWORK,
    "attr": "use dataclasses",
    "attrs": "use dataclasses",
    "audioop": "read the file's bytes with open(path, 'rb') and struct",
    "bdb": "print what you want to see",
    "bs4": "use html.parser",
    "builtins": "builtins are available by their names",
    "cgi": "a program runs in no web server",
    "cgitb": "a program runs in no web server",
    "chunk": "read the file's bytes with open(path, 'rb') and struct",
    "cmd": "a program has no terminal; its input is in its text or in files",
    "code": "write the statements themselves",
    "codeop": "write the statements themselves",
    "compileall": WORKTREE,
    "concurrent.futures.process": ONE_PROCESS,
    "copyreg": "define __copy__ or __deepcopy__ on your class",
    "cProfile": "use time.perf_counter or timeit",
    "crypt": "use hashlib.pbkdf2_hmac, hashlib.scrypt or secrets",
    "ctypes": "call a tool from litany_tools for native code",
    "curses": "a program has no terminal; print its output",
    "dateutil": "use datetime and zoneinfo",
    "dbm": "use sqlite3",
    "dis": "time the code with timeit",
    "distutils": "a program installs nothing; the operator adds packages",
    "encodings": "use codecs and str.encode(encoding)",
    "ensurepip": "a program installs nothing; the operator adds packages",
    "faulthandler": "use traceback.format_exc() in an except block",
    "fcntl": "use threading.Lock; a program's files are its own while it runs",
    "fileinput": "use open(path) for each file; input() finds the end of its input",
    "ftplib": NETWORK,
    "functions": "import litany_tools",
    "genericpath": "use os.path",
    "getpass": "a program has no terminal and no user; pass values in its text or through a tool",
    "gettext": "keep the texts in a dict",
    "grp": "os.getgid() tells the group's number",
    "http.client": f"{FETCH}; http.HTTPStatus tells the codes",
    "http.cookiejar": FETCH,
    "http.cookies": FETCH,
    "http.server": "call a tool from litany_tools; a program serves no network",
    "httpx": FETCH,
    "idlelib": "a program has no display; print its output",
    "imaplib": NETWORK,
    "imghdr": "read the file's bytes with open(path, 'rb') and struct",
    "imp": "write an import statement",
    "importlib.abc": "write an import statement",
    "importlib.machinery": "write an import statement",
    "importlib.metadata": "sys.version tells Python's version; packages have none here",
    "importlib.resources": "read files of the worktree with open()",
    "lib2to3": "use ast",
    "linecache": "use open(path).readlines()",
    "locale": "write numbers as f'{x:,.2f}'; names of days and months are English",
    "logging.config": "use logging.basicConfig, or handlers of logging and logging.handlers",
    "lxml": "use xml.etree.ElementTree",
    "mailbox": "use email, and open() for each message",
    "mailcap": "use mimetypes",
    "marshal": "use json",
    "mcp": "import litany_tools",
    "mmap": "read the file with open(); memoryview takes slices without copies",
    "modulefinder": WORKTREE,
    "msilib": "this is not Windows",
    "msvcrt": "this is not Windows",
    "multiprocessing": ONE_PROCESS,
    "netrc": "pass values in the program text or through a tool",
    "nis": "a program has one user",
    "nntplib": NETWORK,
    "nt": "use posix paths: os and pathlib",
    "ntpath": "use pathlib.PureWindowsPath",
    "nturl2path": "use pathlib.PureWindowsPath",
    "opcode": "use ast",
    "optparse": "use argparse",
    "ossaudiodev": "read the file's bytes with open(path, 'rb') and struct",
    "parser": "use ast",
    "pdb": "print what you want to see",
    "pickle": "use json, or copy.deepcopy for copies",
    "pickletools": "use json",
    "pipes": COMMANDS,
    "pkgutil": "write an import statement",
    "plistlib": "use json.dumps, or xml.etree.ElementTree for XML",
    "poplib": NETWORK,
    "posix": "use os",
    "posixpath": "use os.path",
    "profile": "use time.perf_counter or timeit",
    "pstats": "use time.perf_counter or timeit",
    "psutil": "resource.getrusage and time.process_time tell what the program uses",
    "pty": COMMANDS,
    "pwd": "os.getuid() tells the user's number, os.path.expanduser('~') the home",
    "py_compile": WORKTREE,
    "pyclbr": "print what you want to see",
    "pydantic": "use dataclasses",
    "pydoc": "print(thing.__doc__), or inspect.getdoc and inspect.signature",
    "pydoc_data": "print(thing.__doc__), or inspect.getdoc and inspect.signature",
    "pyexpat": "use xml.etree.ElementTree.XMLPullParser",
    "pytest": ASSERTS,
    "pytz": "use zoneinfo",
    "quopri": "use binascii.a2b_qp and b2a_qp",
    "readline": "a program has no terminal; its input is in its text or in files",
    "regex": "use re",
    "requests": FETCH,
    "rlcompleter": "print what you want to see",
    "runpy": WORKTREE,
    "sandbox_tools": "import litany_tools",
    "select": "use asyncio or threads",
    "selectors": "use asyncio or threads",
    "shelve": "use sqlite3 or json",
    "signal": "use a timeout: asyncio.timeout, or threading.Timer",
    "simplejson": "use json",
    "site": WORKTREE,
    "smtpd": NETWORK,
    "smtplib": NETWORK,
    "sndhdr": "read the file's bytes with open(path, 'rb') and struct",
    "socket": NETWORK,
    "socketserver": NETWORK,
    "spwd": "a program has one user",
    "sre_compile": "use re",
    "sre_constants": "use re",
    "sre_parse": "use re",
    "ssl": NETWORK,
    "stringprep": "use unicodedata",
    "subprocess": COMMANDS,
    "sunau": "read the file's bytes with open(path, 'rb') and struct",
    "symtable": "print what you want to see",
    "sysconfig": "sys.version and platform.python_version() tell the version",
    "syslog": "use logging",
    "tabnanny": "use ast.parse, which names the line of a fault",
    "telnetlib": NETWORK,
    "termios": "a program has no terminal; print its output",
    "this": "print the text yourself",
    "tkinter": "a program has no display; print its output",
    "token": "use ast",
    "tokenize": "use ast.parse, or re.finditer for words",
    "toml": "use tomllib",
    "tools": "import litany_tools",
    "trace": "print what you want to see",
    "tracemalloc": "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss tells the peak, in KiB",
    "tty": "a program has no terminal; print its output",
    "turtle": "a program has no display; print its output",
    "turtledemo": "a program has no display; print its output",
    "unittest.mock": WRITE_TESTS,
    "urllib.error": f"{FETCH}; urllib.parse is available",
    "urllib.request": f"{FETCH}; urllib.parse is available",
    "urllib.response": f"{FETCH}; urllib.parse is available",
    "urllib3": FETCH,
    "uu": "use binascii.a2b_uu and b2a_uu",
    "venv": "a program installs nothing; the operator adds packages",
    "wave": "read the file's bytes with open(path, 'rb') and struct",
    "webbrowser": FETCH,
    "winreg": "this is not Windows",
    "winsound": "this is not Windows",
    "wsgiref": "call a tool from litany_tools; a program serves no network",
    "xdrlib": "use json",
    "xml.dom": "use xml.etree.ElementTree (ET.indent for a readable text)",
    "xml.parsers": "use xml.etree.ElementTree.XMLPullParser",
    "xml.sax": "use xml.etree.ElementTree.iterparse; html.escape(text) for escaping",
    "xmlrpc": FETCH,
    "yaml": "use json or tomllib",
    "zipapp": WORKTREE,
    "zipimport": WORKTREE,
}
"""Modules that programs ask for and do not get, and what to write instead. What is said of a package holds
for what is inside it."""

_CLASSES_OF_FUNCTIONS = "use callable(x), inspect.isfunction(x) or inspect.isbuiltin(x)"
_FRAMES = "use traceback.format_exc() in an except block; pass what a function needs as arguments"
_SOURCE = "a program's text is not kept; inspect.getdoc and inspect.signature tell of a function"
_METACLASS = "inherit from the class; a metaclass runs code while classes are made"
_LEGACY_CHECKS = "it is a detail of the library; use its documented functions"
_OTHER_USERS = "a program has one user and no other processes"
_SCHEDULING = "how the program is scheduled is the operator's"
_LOOPS = "use asyncio.run(main()), or await at the top level"

_ABSENT: dict[str, tuple[tuple[str, str], ...]] = {
    "os": (
        ("system popen", COMMANDS),
        (
            """
            execl execle execlp execlpe execv execve execvp execvpe spawn* posix_spawn* POSIX_SPAWN_*
            startfile""",
            COMMANDS,
        ),
        ("fork forkpty register_at_fork openpty login_tty pidfd_open CLONE_* unshare setns", ONE_PROCESS),
        (
            """
            wait wait3 wait4 waitid waitid_result waitpid waitstatus_to_exitcode W* CLD_* P_*
            PIDFD_NONBLOCK""",
            ONE_PROCESS,
        ),
        ("kill killpg abort", "use sys.exit(code); a program is one process"),
        ("_exit", "use sys.exit(code)"),
        ("putenv unsetenv", "assign or delete os.environ[name]"),
        ("environb getenvb supports_bytes_environ", "use os.environ, a mapping of text"),
        (
            "get_exec_path confstr confstr_names sysconf sysconf_names defpath ctermid ttyname",
            "there are no commands to run here",
        ),
        ("open openat", "use open(path, mode); mode 'x' fails when the file exists"),
        ("read readv pread preadv", "use open(path, 'rb').read()"),
        ("write writev pwrite pwritev", "use open(path, 'wb'), print, or sys.stdout.buffer.write(data)"),
        (
            """
            close closerange dup dup2 pipe pipe2 fdopen fchdir fchmod fchown fpathconf fstat fstatvfs
            ftruncate lockf lseek get_blocking set_blocking get_inheritable set_inheritable
            copy_file_range sendfile splice posix_fadvise posix_fallocate memfd_create eventfd
            eventfd_read eventfd_write timerfd_* tcgetpgrp tcsetpgrp device_encoding O_* F_LOCK F_TEST
            F_TLOCK F_ULOCK RWF_* SPLICE_* MFD_* EFD_* TFD_* POSIX_FADV_* SEEK_DATA SEEK_HOLE posix_openpt
            grantpt unlockpt ptsname""",
            OPEN_A_PATH,
        ),
        ("supports_dir_fd supports_effective_ids supports_fd supports_follow_symlinks", OPEN_A_PATH),
        ("fwalk", "use os.walk"),
        ("getrandom GRND_*", "use os.urandom or secrets"),
        ("uname uname_result", "use platform.system() and platform.machine()"),
        ("umask", "use os.chmod on the file"),
        (
            "chown lchown chroot mkfifo mknod major minor makedev",
            "files belong to the program's user; os.chmod sets their mode",
        ),
        ("getxattr listxattr setxattr removexattr XATTR_*", "keep such data in a file of its own"),
        ("statvfs statvfs_result pathconf pathconf_names ST_*", "use shutil.disk_usage(path)"),
        ("sync", "use os.fsync(file.fileno())"),
        (
            "getlogin getgroups getgrouplist initgroups NGROUPS_MAX",
            "os.getuid() and os.getgid() tell the numbers",
        ),
        (
            """
            getpgid getpgrp getsid setpgid setpgrp setsid getresgid getresuid setegid seteuid setgid
            setgroups setregid setresgid setresuid setreuid setuid""",
            _OTHER_USERS,
        ),
        ("nice getpriority setpriority PRIO_* sched_* SCHED_* getloadavg", _SCHEDULING),
        ("RTLD_*", "call a tool from litany_tools for native code"),
        ("TMP_MAX tmpnam tempnam tmpfile", "use tempfile"),
        ("GenericAlias Mapping MutableMapping", "import it from types or collections.abc"),
        ("getcwdu", "use os.getcwd()"),
    ),
    "os.path": (
        ("sameopenfile", "use os.path.samefile(a, b)"),
        ("isdevdrive supports_unicode_filenames", _LEGACY_CHECKS),
        ("walk", "use os.walk"),
    ),
    "sys": (
        (
            "modules meta_path path_hooks path_importer_cache builtin_module_names",
            "import the module by its name",
        ),
        ("path", WORKTREE),
        ("_getframe _current_frames _current_exceptions _getframemodulename", _FRAMES),
        (
            "settrace gettrace setprofile getprofile call_tracing monitoring",
            "print what you want to see, or time it with timeit",
        ),
        ("excepthook unraisablehook", "use try/except around the program's main function"),
        ("displayhook breakpointhook", "print what you want to see"),
        ("addaudithook audit", "tool calls are recorded by litany itself"),
        ("last_type last_value last_traceback last_exc", "use sys.exc_info() in an except block"),
        (
            "prefix exec_prefix base_prefix base_exec_prefix platlibdir pycache_prefix orig_argv _MEIPASS",
            "a program starts no other Python",
        ),
        ("warnoptions dont_write_bytecode", "use warnings.simplefilter"),
        (
            """
            get_asyncgen_hooks set_asyncgen_hooks get_coroutine_origin_tracking_depth
            set_coroutine_origin_tracking_depth""",
            _LOOPS,
        ),
        ("getdlopenflags setdlopenflags", "call a tool from litany_tools for native code"),
        (
            """
            abiflags activate_stack_trampoline deactivate_stack_trampoline is_stack_trampoline_active
            getallocatedblocks getunicodeinternedsize _debugmallocstats _clear_type_cache""",
            "sys.getsizeof and resource.getrusage tell of memory",
        ),
        ("maxint", "use sys.maxsize; an int has no limit"),
        ("setdefaultencoding", "text is UTF-8; open(path, encoding=…) names another"),
        ("setcheckinterval getcheckinterval", "use sys.setswitchinterval"),
    ),
    "tempfile": (
        ("mkstemp", "use tempfile.NamedTemporaryFile(delete=False), or mkdtemp() and open()"),
        ("tempdir", "use tempfile.gettempdir()"),
    ),
    "shutil": (
        ("chown", "files belong to the program's user"),
        ("register_archive_format unregister_archive_format", "use zipfile or tarfile"),
        ("register_unpack_format unregister_unpack_format", "use zipfile or tarfile"),
    ),
    "io": (
        ("FileIO open_code", "use open(path, 'rb', buffering=0)"),
        ("OpenWrapper", "use open"),
    ),
    "inspect": (
        (
            """
            stack trace currentframe getframeinfo getinnerframes getouterframes getargs getargvalues
            formatargvalues FrameInfo Traceback ArgInfo Arguments getlineno""",
            _FRAMES,
        ),
        (
            """
            getsource getsourcefile getsourcelines getfile getabsfile getcomments findsource getblock
            indentsize BlockFinder EndOfBlock ClassFoundException""",
            _SOURCE,
        ),
        ("getmodule getmodulename modulesbyfile", "the class's or function's __module__ tells its name"),
        (
            "getattr_static getmembers_static classify_class_attrs Attribute",
            "use inspect.getmembers or getattr",
        ),
        (
            """
            getclosurevars ClosureVars getcallargs getgeneratorlocals getcoroutinelocals getasyncgenlocals""",
            "use inspect.signature(f).bind(…)",
        ),
        ("getargspec", "use inspect.signature or inspect.getfullargspec"),
        ("getclasstree walktree", "use inspect.getmro on a class of your own"),
        ("get_annotations formatannotation formatannotationrelativeto", "use typing.get_type_hints(obj)"),
        ("markcoroutinefunction", "write async def"),
        ("CO_* BufferFlags TPFLAGS_IS_ABSTRACT iskeyword", _LEGACY_CHECKS),
    ),
    "types": (
        (
            "CodeType FrameType CellType CapsuleType",
            "a program does not make code, frames or cells; write a function",
        ),
        (
            """
            ClassMethodDescriptorType GetSetDescriptorType MemberDescriptorType MethodDescriptorType
            MethodWrapperType WrapperDescriptorType""",
            _CLASSES_OF_FUNCTIONS,
        ),
        ("new_class prepare_class resolve_bases get_original_bases", "write a class statement"),
        ("coroutine", "write async def"),
        ("DynamicClassAttribute", "use enum.property or property"),
    ),
    "typing": (
        ("ForwardRef", "write the type, or its name in quotes as an annotation"),
        ("io re", "import typing.IO and typing.Pattern"),
    ),
    "collections": (
        (
            """
            Mapping MutableMapping Sequence MutableSequence Set MutableSet Iterable Iterator Callable
            Hashable Sized Container Generator Awaitable Coroutine ByteString Collection Reversible
            KeysView ItemsView ValuesView MappingView AsyncIterable AsyncIterator AsyncGenerator""",
            "import it from collections.abc",
        ),
    ),
    "enum": (
        (
            "EnumMeta EnumType EnumDict",
            "inherit from enum.Enum; a metaclass runs code while classes are made",
        ),
        (
            """
            global_enum global_enum_repr global_flag_repr global_str pickle_by_enum_name
            pickle_by_global_name show_flag_values bin""",
            "name the members: Color.RED",
        ),
    ),
    "abc": (("get_cache_token update_abstractmethods", "define the methods in a class statement"),),
    "copy": (("dispatch_table", "define __copy__ or __deepcopy__ on your class"),),
    "re": (
        ("Scanner", "use re.finditer with named groups"),
        ("template TEMPLATE T", "use re.compile"),
    ),
    "reprlib": (("aRepr", "make one: reprlib.Repr()"),),
    "string": (
        ("letters lowercase uppercase", "use string.ascii_letters, ascii_lowercase or ascii_uppercase"),
        ("maketrans", "use str.maketrans"),
        ("join", "use ''.join(parts)"),
    ),
    "time": (
        ("clock", "use time.perf_counter() or time.process_time()"),
        ("clock_settime clock_settime_ns", "the clock is the operator's"),
        ("pthread_getcpuclockid", "use time.thread_time()"),
        ("tzset", "use zoneinfo"),
    ),
    "zoneinfo": (("reset_tzpath", "zoneinfo.ZoneInfo(name) finds the operator's time zones"),),
    "calendar": (
        (
            "LocaleTextCalendar LocaleHTMLCalendar different_locale",
            "use calendar.TextCalendar or HTMLCalendar",
        ),
        ("January February c mdays", _LEGACY_CHECKS),
    ),
    "timeit": (("reindent template dummy_src_name", "use timeit.timeit(lambda: work())"),),
    "codecs": (
        (
            "register unregister register_error",
            "give an existing encoding and errors='replace', 'ignore' or 'backslashreplace'",
        ),
        (
            """
            *_decode *_encode charmap_build make_encoding_map make_identity_dict lookup_error
            strict_errors ignore_errors replace_errors backslashreplace_errors namereplace_errors
            xmlcharrefreplace_errors""",
            "use bytes.decode(encoding) and str.encode(encoding)",
        ),
        (
            """
            Codec CodecInfo IncrementalDecoder IncrementalEncoder BufferedIncrementalDecoder
            BufferedIncrementalEncoder StreamReader StreamReaderWriter StreamRecoder StreamWriter
            EncodedFile""",
            "use codecs.getreader, getwriter, getincrementaldecoder or io.TextIOWrapper",
        ),
        ("BOM32_BE BOM32_LE BOM64_BE BOM64_LE", "use codecs.BOM_UTF16 or BOM_UTF32"),
    ),
    "mimetypes": (
        (
            """
            MimeTypes common_types encodings_map init inited knownfiles read_mime_types suffix_map
            types_map""",
            "use mimetypes.guess_type and add_type",
        ),
    ),
    "hmac": (("trans_36 trans_5C digest_size", _LEGACY_CHECKS),),
    "secrets": (("DEFAULT_ENTROPY", "give the number of bytes"),),
    "uuid": (("getnode main", "a program knows of no network card; use uuid.uuid4()"),),
    "gzip": (
        ("READ WRITE FTEXT FHCRC FEXTRA FNAME FCOMMENT READ_BUFFER_SIZE write32u", "use mode 'rb' or 'wb'"),
    ),
    "zipfile": (
        ("PyZipFile", "use ZipFile"),
        ("ZipExtFile CompleteDirs FastLookup", "use ZipFile.open and zipfile.Path"),
    ),
    "tarfile": (("ExFileObject", "use TarFile.extractfile"),),
    "sqlite3": (
        ("SQLITE_*", "an error's sqlite_errorname tells its name"),
        ("PrepareProtocol adapters converters", "use register_adapter and register_converter"),
        ("enable_callback_tracebacks", "print in the function that is called"),
        ("version version_info", "use sqlite3.sqlite_version"),
        ("OptimizedUnicode enable_shared_cache", _LEGACY_CHECKS),
    ),
    "configparser": (
        ("SafeConfigParser", "use ConfigParser"),
        (
            "LegacyInterpolation ConverterMapping",
            "use ExtendedInterpolation, or converters= of ConfigParser",
        ),
    ),
    "xml.etree.ElementTree": (("C14NWriterTarget HTML_EMPTY", "use canonicalize or tostring"),),
    "urllib.parse": (
        ("split* unwrap to_bytes ResultBase clear_cache", "use urlsplit and urlunsplit"),
        ("uses_* non_hierarchical scheme_chars DefragResultBytes", "use urlsplit"),
    ),
    "unicodedata": (("UCD ucd_3_2_0", "use the module's functions"),),
    "base64": (("main test MAX* bytes_types encodestring decodestring", "use b64encode and b64decode"),),
    "html.parser": (("HTMLParseError unescape", "use html.unescape; the parser raises no error"),),
    "weakref": (("KeyedRef", "use WeakValueDictionary"),),
    "pathlib": (("WindowsPath", "use pathlib.PureWindowsPath"),),
    "glob": (("glob0 glob1", "use glob.glob"),),
    "contextlib": (("nested", "write with a, b: or use ExitStack"),),
    "itertools": (
        ("izip imap ifilter", "use zip, map or filter"),
        ("izip_longest", "use itertools.zip_longest"),
    ),
    "functools": (("RLock GenericAlias recursive_repr get_cache_token namedtuple", _LEGACY_CHECKS),),
    "fractions": (("gcd", "use math.gcd"),),
    "asyncio": (
        ("create_subprocess_exec create_subprocess_shell SubprocessProtocol SubprocessTransport", COMMANDS),
        (
            """
            open_connection open_unix_connection start_server start_unix_server Server AbstractServer
            Protocol BaseProtocol BufferedProtocol DatagramProtocol StreamReaderProtocol BaseTransport
            DatagramTransport ReadTransport Transport WriteTransport StreamReader StreamWriter
            SendfileNotAvailableError""",
            NETWORK,
        ),
        (
            """
            AbstractEventLoop BaseEventLoop EventLoop SelectorEventLoop ProactorEventLoop
            DefaultEventLoopPolicy AbstractEventLoopPolicy WindowsSelectorEventLoopPolicy
            WindowsProactorEventLoopPolicy get_event_loop_policy set_event_loop_policy Handle TimerHandle
            create_eager_task_factory eager_task_factory _get_running_loop _set_running_loop _enter_task
            _leave_task _register_task _unregister_task""",
            _LOOPS,
        ),
        ("*ChildWatcher get_child_watcher set_child_watcher", ONE_PROCESS),
        ("async", "use asyncio.create_task"),
        ("coroutine", "write async def"),
    ),
    "concurrent.futures": (("ProcessPoolExecutor process", ONE_PROCESS),),
    "threading": (
        ("excepthook ExceptHookArgs __excepthook__", "use try/except in the thread's function"),
        (
            "settrace gettrace setprofile getprofile settrace_all_threads setprofile_all_threads",
            "print what you want to see",
        ),
        ("_shutdown _main_thread _DummyThread", "use threading.main_thread() and Thread.join()"),
    ),
    "argparse": (
        ("_StoreAction _HelpAction _SubParsersAction _ArgumentGroup", "inherit from argparse.Action"),
    ),
    "logging": (
        ("config", SUBSTITUTES["logging.config"]),
        ("setLogRecordFactory getLogRecordFactory", "add a Filter that sets attributes of the record"),
        ("setLoggerClass getLoggerClass Manager PlaceHolder RootLogger", "use logging.getLogger(name)"),
        (
            """
            lastResort raiseExceptions logThreads logProcesses logMultiprocessing logAsyncioTasks
            currentframe""",
            "use handlers and formatters",
        ),
        ("Filterer PercentStyle StrFormatStyle StringTemplateStyle", "use Filter, and Formatter(style=…)"),
        ("_nameToLevel _levelToName _levelNames", "use logging.getLevelNamesMapping()"),
    ),
    "warnings": (
        ("showwarning filters defaultaction onceregistry", "use warnings.catch_warnings(record=True)"),
        ("warn_explicit", "use warnings.warn"),
    ),
    "traceback": (
        ("walk_stack walk_tb clear_frames", "use traceback.extract_tb(e.__traceback__)"),
        (
            "extract_stack format_stack print_stack StackSummary",
            "use traceback.format_exc() in an except block",
        ),
        ("print_last", "use traceback.print_exc() in an except block"),
        ("BUILTIN_EXCEPTION_LIMIT", _LEGACY_CHECKS),
    ),
    "platform": (
        (
            """
            mac_ver win32_ver win32_edition win32_is_iot java_ver ios_ver IOSVersionInfo android_ver
            AndroidVer""",
            "platform.system() is 'Linux'",
        ),
        (
            """
            libc_ver freedesktop_os_release python_branch python_build python_revision python_compiler
            system_alias""",
            "platform.python_version() tells Python's version",
        ),
        ("uname_result", "use platform.uname()"),
        ("linux_distribution dist", "platform.system() is 'Linux'"),
    ),
    "__future__": (("all_feature_names", "name the feature"),),
    "json.encoder": (("ESCAPE_DCT INFINITY py_encode_*", "use json.dumps"),),
    "csv": (("__doc__ __version__", "sys.version tells Python's version"),),
    "xml": (("dom parsers sax", SUBSTITUTES["xml.dom"]),),
    "asyncio.exceptions": (("SendfileNotAvailableError", NETWORK),),
    "stat": (("SF_* UF_*", "a program's files have no such flags"),),
    "logging.handlers": (
        ("SocketHandler DatagramHandler SysLogHandler SMTPHandler HTTPHandler DEFAULT_* SYSLOG_*", NETWORK),
        ("NTEventLogHandler", "use logging.FileHandler"),
        ("ST_*", _LEGACY_CHECKS),
    ),
    "unittest": (
        ("mock", WRITE_TESTS),
        ("TestProgram IsolatedAsyncioTestProgram", "use unittest.main(exit=False)"),
        (
            "makeSuite findTestCases getTestCaseNames",
            "use unittest.defaultTestLoader.loadTestsFromTestCase(cls)",
        ),
        ("installHandler registerResult removeHandler removeResult", "a stop is the runtime's to handle"),
    ),
    "doctest": (
        (
            "testfile DocFileTest DocFileSuite DocFileCase",
            "put the examples in a docstring, or use unittest",
        ),
        (
            """
            DocTest* DocTestSuite DocTestCase DebugRunner Example OutputChecker UnexpectedException debug*
            register_optionflag script_from_examples set_unittest_reportflags testsource master Tester""",
            "use doctest.testmod()",
        ),
        (
            """
            COMPARISON_FLAGS DONT_ACCEPT_BLANKLINE DONT_ACCEPT_TRUE_FOR_1 FAIL_FAST REPORT*
            OPTIONFLAGS_BY_NAME *_MARKER pdb""",
            "use ELLIPSIS, NORMALIZE_WHITESPACE, IGNORE_EXCEPTION_DETAIL or SKIP",
        ),
    ),
    "getopt": (("do_longs do_shorts long_has_args short_has_arg", "use getopt.getopt"),),
    "filecmp": (("BUFSIZE demo", _LEGACY_CHECKS),),
    "gc": (
        (
            "get_objects get_referents get_referrers garbage callbacks",
            "keep a list of the objects that you need",
        ),
        ("is_tracked is_finalized", "use weakref.ref to learn of an object's end"),
        ("freeze unfreeze get_freeze_count set_threshold", "use gc.disable() and gc.enable()"),
        ("set_debug get_debug DEBUG_*", "use gc.get_stats()"),
    ),
    "resource": (
        ("setrlimit getrlimit prlimit RLIMIT_* RLIM_INFINITY", "limits are the operator's"),
        ("error", "use OSError"),
    ),
    "importlib": (
        ("__import__", "use importlib.import_module(name)"),
        ("reload invalidate_caches", "a program's modules do not change while it runs"),
        ("abc machinery", SUBSTITUTES["importlib.abc"]),
        ("metadata", SUBSTITUTES["importlib.metadata"]),
        ("resources", SUBSTITUTES["importlib.resources"]),
    ),
    "importlib.util": (
        (
            """
            LazyLoader MAGIC_NUMBER module_from_spec spec_from_loader spec_from_file_location
            cache_from_source decode_source resolve_name set_loader set_package module_for_loader
            source_from_cache source_hash""",
            WORKTREE,
        ),
    ),
    "email": (("contentmanager iterators feedparser base64mime quoprimime", "use EmailMessage's methods"),),
    "email.policy": (("Compat32 EmailPolicy Policy", "use email.policy.default.clone(name=value)"),),
    "email.headerregistry": (("*Header BaseHeader HeaderRegistry", "set msg[name] = text"),),
    "email.charset": (("*DEFAULT* RFC2047_*", _LEGACY_CHECKS),),
    "ast": (
        ("main", "use ast.parse and ast.dump"),
        ("Num Str Bytes NameConstant Ellipsis", "use ast.Constant"),
        ("Index ExtSlice slice Suite Param AugLoad AugStore", "a node's slice is the expression itself"),
        ("PyCF_*", "use ast.parse"),
        ("TypeIgnore FunctionType type_ignore", "use ast.parse without type comments"),
        ("compile", "use ast.parse; ast.literal_eval(text) for data"),
    ),
    "random": (
        ("jumpahead", "use random.Random(seed)"),
        ("BPF LOG4 NV_MAGICCONST RECIP_BPF SG_MAGICCONST TWOPI", _LEGACY_CHECKS),
    ),
    "colorsys": (("ONE_THIRD ONE_SIXTH TWO_THIRD", _LEGACY_CHECKS),),
    "sched": (("Event", "scheduler.queue lists the events"),),
}
"""Module → groups of names, and what to write instead of them. A name may end or begin with `*`."""

NAME_HINTS: dict[str, dict[str, str]] = {}
_PATTERNS: dict[str, list[tuple[str, str]]] = {}
for _module, _groups in _ABSENT.items():
    NAME_HINTS[_module] = {}
    _PATTERNS[_module] = []
    for _names, _hint in _groups:
        for _name in _names.split():
            if "*" in _name:
                _PATTERNS[_module].append((_name, _hint))
            else:
                NAME_HINTS[_module][_name] = _hint


def absent_names() -> list[tuple[str, str, str]]:
    """Module, names and hint of each group, in the order of the modules: for the manual."""
    return [
        (module, " ".join(names.split()), hint)
        for module in sorted(_ABSENT)
        for names, hint in _ABSENT[module]
    ]


def name_hint(module: str, name: str) -> str | None:
    """What to write instead of a module's name that is known not to be offered; None for another name."""
    hint = NAME_HINTS.get(module, {}).get(name)
    if hint is None:
        for pattern, said in _PATTERNS.get(module, ()):
            if fnmatch.fnmatchcase(name, pattern):
                return said
    return hint
