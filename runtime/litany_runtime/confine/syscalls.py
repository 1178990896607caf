"""Every system call that a confined program may make, with its numbers and the reason it is there.

The filters (`seccomp.py`) are made from these tables alone. What is not in `ALLOWED` is refused: with EPERM,
so that the program sees a PermissionError, or with ENOSYS above the newest number known, so that a newer libc
takes its older path. A call whose arguments decide has tests; all of them must pass.

Only the low 32 bits of an argument are compared unless a test says otherwise, because that is all the kernel
reads of a command, a mode or a pid; a comparison of 64 bits is how TIOCSTI slipped through other filters.
"""

from __future__ import annotations

import errno
from typing import NamedTuple

OWN_PID = -1
"""Stands in a test's values for the pid of the process that loads the filter."""


class OneOf(NamedTuple):
    """The argument is one of the values."""

    argument: int
    values: tuple[int, ...]


class Masked(NamedTuple):
    """The bits of the argument under the mask have this value."""

    argument: int
    mask: int
    value: int = 0


class NotAllOf(NamedTuple):
    """At least one of these bits of the argument is clear."""

    argument: int
    bits: int


class Null(NamedTuple):
    """The argument, all 64 bits of it, is zero: a pointer that is not given."""

    argument: int


Condition = OneOf | Masked | NotAllOf | Null


class Call(NamedTuple):
    """One allowed system call.

    Attributes:
        name: as the kernel names it.
        x86_64: its number there; None where the architecture has no such call.
        aarch64: its number there.
        why: what of Python needs it.
        tests: all must pass, else the call fails with `refusal`.
        refusal: errno of a call that fails a test.
        late: the tests hold for the program only: the zygote forks, signals its children, sets limits.
        private_root: allowed only where the program has a root of its own: Landlock does not see the call,
            and without mounts it would reach every file that the user owns.
    """

    name: str
    x86_64: int | None
    aarch64: int | None
    why: str
    tests: tuple[Condition, ...] = ()
    refusal: int = errno.EPERM
    late: bool = False
    private_root: bool = False


class Setup(NamedTuple):
    """A call that the zygote makes, or a child before the program is there, and the program never."""

    name: str
    x86_64: int
    aarch64: int
    why: str


class Absent(NamedTuple):
    """A call refused with another errno than EPERM, so that the caller takes another path."""

    name: str
    x86_64: int | None
    aarch64: int | None
    why: str
    refusal: int


NEWEST_NUMBER = 470
"""Newest number that these tables were reviewed against (Linux 6.18); those above it are ENOSYS."""

_O = "open, list and leave files that Landlock allows"
_F = "change the tree where Landlock allows"
_IO = "read and write what is open"
_POLL = "wait for descriptors: select, selectors, asyncio"
_ID = "say who it is; os.get*"
_SIG = "signal handlers, KeyboardInterrupt on a stop"
_TIME = "tell the time and sleep"
_MEM = "allocate memory"
_THREAD = "threads and their locks"
_SOCK = "use the socket to the door, and asyncio's self-pipe"

# A set-uid file left in the worktree would run as the worktree's owner when anybody on the host starts it,
# and started by root that owner is root. The bits can be set by every call that takes a mode.
_NO_SETID = 0o6000

# What pthread_create asks for (glibc; musl adds CLONE_DETACHED, which the kernel ignores): VM, FS, FILES,
# SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID. Anything else is a process or a namespace.
_THREAD_FLAGS = 0x3D0F00
_ALL_BUT_DETACHED = 0xFFFFFFFF & ~0x400000

_PROT_EXEC = 0x4
_MAP_SHARED = 0x1
_MAP_ANONYMOUS = 0x20
_MAP_GROWSDOWN = 0x100
_MAP_HUGETLB = 0x40000

_MADVICE = (0, 1, 2, 3, 4, 8, 14, 15, 16, 17)  # no KSM merging (a side channel), no page poisoning
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030)  # dup, flags, locks; not F_SETOWN, which aims signals
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIO(N)CLEX
_SOCKET_OPTIONS = (3, 4, 7, 8, 30, 38, 39)  # TYPE, ERROR, SNDBUF, RCVBUF, ACCEPTCONN, PROTOCOL, DOMAIN

ALLOWED: tuple[Call, ...] = (
    # Files.
    Call("open", 2, None, _O, (Masked(2, _NO_SETID),)),
    Call("openat", 257, 56, _O, (Masked(3, _NO_SETID),)),
    Call("access", 21, None, _O),
    Call("faccessat", 269, 48, _O),
    Call("faccessat2", 439, 439, _O),
    Call("stat", 4, None, _O),
    Call("lstat", 6, None, _O),
    Call("fstat", 5, 80, _O),
    Call("newfstatat", 262, 79, _O),
    Call("statx", 332, 291, _O),
    Call("statfs", 137, 43, "shutil.disk_usage"),
    Call("fstatfs", 138, 44, "os.fstatvfs"),
    Call("getdents64", 217, 61, _O),
    Call("readlink", 89, None, _O),
    Call("readlinkat", 267, 78, _O),
    Call("getcwd", 79, 17, _O),
    Call("chdir", 80, 49, _O),
    Call("fchdir", 81, 50, "shutil.rmtree"),
    Call("mkdir", 83, None, _F, (Masked(1, _NO_SETID),)),
    Call("mkdirat", 258, 34, _F, (Masked(2, _NO_SETID),)),
    Call("rmdir", 84, None, _F),
    Call("unlink", 87, None, _F),
    Call("unlinkat", 263, 35, _F),
    Call("rename", 82, None, _F),
    Call("renameat", 264, 38, _F),
    Call("renameat2", 316, 276, _F),
    Call("link", 86, None, _F),
    Call("linkat", 265, 37, _F),
    Call("symlink", 88, None, _F),
    Call("symlinkat", 266, 36, _F),
    Call("truncate", 76, 45, "os.truncate, where Landlock allows"),
    Call("chmod", 90, None, "shutil.copymode", (Masked(1, _NO_SETID),), private_root=True),
    Call("fchmod", 91, 52, "os.fchmod", (Masked(1, _NO_SETID),), private_root=True),
    Call("fchmodat", 268, 53, "os.chmod", (Masked(2, _NO_SETID),), private_root=True),
    Call("utimensat", 280, 88, "os.utime, shutil.copystat", private_root=True),
    Call("umask", 95, 166, "tempfile, os.umask"),
    # What is open.
    Call("read", 0, 63, _IO),
    Call("write", 1, 64, _IO),
    Call("readv", 19, 65, _IO),
    Call("writev", 20, 66, _IO),
    Call("pread64", 17, 67, _IO),
    Call("pwrite64", 18, 68, _IO),
    Call("preadv", 295, 69, _IO),
    Call("pwritev", 296, 70, _IO),
    Call("preadv2", 327, 286, _IO),
    Call("pwritev2", 328, 287, _IO),
    Call("lseek", 8, 62, _IO),
    Call("close", 3, 57, _IO),
    Call("close_range", 436, 436, "os.closerange"),
    Call("dup", 32, 23, _IO),
    Call("dup2", 33, None, _IO),
    Call("dup3", 292, 24, _IO),
    Call("pipe", 22, None, "os.pipe"),
    Call("pipe2", 293, 59, "os.pipe"),
    Call("fcntl", 72, 25, "blocking mode, inheritance, file locks", (OneOf(1, _FCNTL),)),
    Call("ioctl", 16, 29, "isatty on every open(), blocking mode", (OneOf(1, _IOCTL),), errno.ENOTTY),
    Call("flock", 73, 32, "fcntl.flock"),
    Call("fsync", 74, 82, _IO),
    Call("fdatasync", 75, 83, _IO),
    Call("ftruncate", 77, 46, _IO),
    Call("fallocate", 285, 47, "os.posix_fallocate"),
    Call("fadvise64", 221, 223, "os.posix_fadvise"),
    Call("sendfile", 40, 71, "shutil.copyfile"),
    Call("copy_file_range", 326, 285, "os.copy_file_range"),
    # Waiting.
    Call("poll", 7, None, _POLL),
    Call("ppoll", 271, 73, _POLL),
    Call("select", 23, None, _POLL),
    Call("pselect6", 270, 72, _POLL),
    Call("epoll_create", 213, None, _POLL),
    Call("epoll_create1", 291, 20, _POLL),
    Call("epoll_ctl", 233, 21, _POLL),
    Call("epoll_wait", 232, None, _POLL),
    Call("epoll_pwait", 281, 22, _POLL),
    Call("eventfd2", 290, 19, "os.eventfd"),
    # The socket to the door. No socket(): the only new ones are pairs, which reach nobody else. No sendmsg
    # and recvmsg: they pass descriptors. No setsockopt: it loads packet filters.
    Call("socketpair", 53, 199, _SOCK, (OneOf(0, (1,)),)),
    Call("sendto", 44, 206, _SOCK, (Null(4),)),
    Call("recvfrom", 45, 207, _SOCK),
    Call("shutdown", 48, 210, _SOCK),
    Call("getsockname", 51, 204, _SOCK),
    Call("getpeername", 52, 205, _SOCK),
    Call("getsockopt", 55, 209, _SOCK, (OneOf(1, (1,)), OneOf(2, _SOCKET_OPTIONS))),
    # Memory. RLIMIT_DATA counts private writable memory; shared anonymous memory and growing stacks would
    # not be counted, and huge pages are a pool of the host's.
    Call(
        "mmap",
        9,
        222,
        _MEM,
        (
            Masked(2, _PROT_EXEC),
            Masked(3, _MAP_GROWSDOWN),
            Masked(3, _MAP_HUGETLB),
            NotAllOf(3, _MAP_SHARED | _MAP_ANONYMOUS),
        ),
    ),
    Call("munmap", 11, 215, _MEM),
    Call("mremap", 25, 216, _MEM),
    Call("mprotect", 10, 226, _MEM, (Masked(2, _PROT_EXEC),)),
    Call("brk", 12, 214, _MEM),
    Call("madvise", 28, 233, _MEM, (OneOf(2, _MADVICE),), errno.EINVAL),
    Call("msync", 26, 227, "mmap.flush"),
    # Threads.
    Call("clone", 56, 220, _THREAD, (Masked(0, _ALL_BUT_DETACHED, _THREAD_FLAGS),), late=True),
    Call("futex", 202, 98, _THREAD),
    Call("set_robust_list", 273, 99, _THREAD),
    Call("set_tid_address", 218, 96, _THREAD),
    Call("rseq", 334, 293, _THREAD),
    Call("gettid", 186, 178, _THREAD),
    Call("sched_yield", 24, 124, "time.sleep(0)"),
    Call("sched_getaffinity", 204, 123, "os.cpu_count, which sizes thread pools"),
    Call("exit", 60, 93, _THREAD),
    Call("exit_group", 231, 94, "leave"),
    # Signals: to itself only.
    Call("kill", 62, 129, "os.kill(os.getpid(), …)", (OneOf(0, (OWN_PID,)),), late=True),
    Call("tgkill", 234, 131, "abort, raise", (OneOf(0, (OWN_PID,)),), late=True),
    Call("rt_sigaction", 13, 134, _SIG),
    Call("rt_sigprocmask", 14, 135, _SIG),
    Call("rt_sigreturn", 15, 139, _SIG),
    Call("rt_sigpending", 127, 136, _SIG),
    Call("rt_sigtimedwait", 128, 137, _SIG),
    Call("rt_sigsuspend", 130, 133, _SIG),
    Call("sigaltstack", 131, 132, "faulthandler"),
    Call("restart_syscall", 219, 128, "an interrupted sleep goes on"),
    Call("pause", 34, None, "signal.pause"),
    Call("alarm", 37, None, "signal.alarm"),
    Call("getitimer", 36, 102, "signal.getitimer"),
    Call("setitimer", 38, 103, "signal.setitimer, signal.alarm"),
    # Time.
    Call("clock_gettime", 228, 113, _TIME),
    Call("clock_getres", 229, 114, _TIME),
    Call("clock_nanosleep", 230, 115, _TIME),
    Call("nanosleep", 35, 101, _TIME),
    Call("gettimeofday", 96, 169, _TIME),
    Call("time", 201, None, _TIME),
    Call("times", 100, 153, "os.times"),
    # Itself.
    Call("getrandom", 318, 278, "random, secrets, hash seeds"),
    Call("getpid", 39, 172, _ID),
    Call("getppid", 110, 173, _ID),
    Call("getpgrp", 111, None, _ID),
    Call("getpgid", 121, 155, _ID),
    Call("getsid", 124, 156, _ID),
    Call("getuid", 102, 174, _ID),
    Call("geteuid", 107, 175, _ID),
    Call("getgid", 104, 176, _ID),
    Call("getegid", 108, 177, _ID),
    Call("getresuid", 118, 148, _ID),
    Call("getresgid", 120, 150, _ID),
    Call("getgroups", 115, 158, _ID),
    Call("uname", 63, 160, "platform.system, which uuid and others ask at import"),
    Call("getrusage", 98, 165, "resource.getrusage, time.process_time"),
    Call("getrlimit", 97, 163, "resource.getrlimit"),
    Call(
        "prlimit64",
        302,
        261,
        "resource.getrlimit: its own, and only to read",
        (OneOf(0, (0,)), Null(2)),
        late=True,
    ),
    Call("prctl", 157, 167, "thread names (PR_SET_NAME, PR_GET_NAME)", (OneOf(0, (15, 16)),), late=True),
)

SETUP: tuple[Setup, ...] = (
    Setup("unshare", 272, 97, "namespaces"),
    Setup("mount", 165, 40, "the private /tmp"),
    Setup("umount2", 166, 39, "let go of the other worktrees"),
    Setup("open_tree", 428, 428, "take the worktree"),
    Setup("mount_setattr", 442, 442, "make it read-only"),
    Setup("move_mount", 429, 429, "mount it"),
    Setup("setrlimit", 160, 164, "limits"),
    Setup("capget", 125, 90, "see that no capability is left"),
    Setup("capset", 126, 91, "drop capabilities"),
    Setup("landlock_create_ruleset", 444, 444, "Landlock"),
    Setup("landlock_add_rule", 445, 445, "Landlock"),
    Setup("landlock_restrict_self", 446, 446, "Landlock"),
    Setup("seccomp", 317, 277, "the second filter"),
    Setup("setsid", 112, 157, "a session of its own"),
    Setup("recvmsg", 47, 212, "the zygote's orders bring descriptors"),
    Setup("sendmsg", 46, 211, "the zygote's answers"),
    Setup("wait4", 61, 260, "the zygote reaps its children"),
)

ABSENT: tuple[Absent, ...] = (
    Absent(
        "clone3", 435, 435, "its flags are in memory, out of a filter's sight: libc falls back", errno.ENOSYS
    ),
    Absent("openat2", 437, 437, "its mode is in memory: the caller falls back to openat", errno.ENOSYS),
    Absent("fchmodat2", 452, 452, "libc falls back to fchmodat", errno.ENOSYS),
    Absent("epoll_pwait2", 441, 441, "libc falls back to epoll_pwait", errno.ENOSYS),
    Absent("futex_waitv", 449, 449, "nobody needs it; callers fall back", errno.ENOSYS),
    Absent("membarrier", 324, 283, "interrupts every processor; callers fall back", errno.ENOSYS),
    # shutil.copystat copies attributes and forgives a file system that has none; file capabilities are one.
    Absent("setxattr", 188, 5, "no extended attributes", errno.ENOTSUP),
    Absent("lsetxattr", 189, 6, "no extended attributes", errno.ENOTSUP),
    Absent("fsetxattr", 190, 7, "no extended attributes", errno.ENOTSUP),
    Absent("getxattr", 191, 8, "no extended attributes", errno.ENOTSUP),
    Absent("lgetxattr", 192, 9, "no extended attributes", errno.ENOTSUP),
    Absent("fgetxattr", 193, 10, "no extended attributes", errno.ENOTSUP),
    Absent("listxattr", 194, 11, "no extended attributes", errno.ENOTSUP),
    Absent("llistxattr", 195, 12, "no extended attributes", errno.ENOTSUP),
    Absent("flistxattr", 196, 13, "no extended attributes", errno.ENOTSUP),
    Absent("removexattr", 197, 14, "no extended attributes", errno.ENOTSUP),
    Absent("lremovexattr", 198, 15, "no extended attributes", errno.ENOTSUP),
    Absent("fremovexattr", 199, 16, "no extended attributes", errno.ENOTSUP),
)


NAMESPACE_FLAGS = 0x7E020080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and NEWTIME."""

CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = 435

DENIED: tuple[tuple[str, int | None, int | None], ...] = (
    ("socket", 41, 198),
    ("socketpair", 53, 199),
    ("ptrace", 101, 117),
    ("process_vm_readv", 310, 270),
    ("process_vm_writev", 311, 271),
    ("kill", 62, 129),
    ("tkill", 200, 130),
    ("rt_sigqueueinfo", 129, 138),
    ("rt_tgsigqueueinfo", 297, 240),
    ("pidfd_open", 434, 434),
    ("pidfd_send_signal", 424, 424),
    ("pidfd_getfd", 438, 438),
    ("kcmp", 312, 272),
    ("bpf", 321, 280),
    ("perf_event_open", 298, 241),
    ("userfaultfd", 323, 282),
    ("io_uring_setup", 425, 425),
    ("io_uring_enter", 426, 426),
    ("io_uring_register", 427, 427),
    ("add_key", 248, 217),
    ("request_key", 249, 218),
    ("keyctl", 250, 219),
    ("mount", 165, 40),
    ("umount2", 166, 39),
    ("pivot_root", 155, 41),
    ("chroot", 161, 51),
    ("open_tree", 428, 428),
    ("move_mount", 429, 429),
    ("fsopen", 430, 430),
    ("fsconfig", 431, 431),
    ("fsmount", 432, 432),
    ("fspick", 433, 433),
    ("mount_setattr", 442, 442),
    ("unshare", 272, 97),
    ("setns", 308, 268),
    ("name_to_handle_at", 303, 264),
    ("open_by_handle_at", 304, 265),
    ("init_module", 175, 105),
    ("finit_module", 313, 273),
    ("delete_module", 176, 106),
    ("kexec_load", 246, 104),
    ("kexec_file_load", 320, 294),
    ("reboot", 169, 142),
    ("swapon", 167, 224),
    ("swapoff", 168, 225),
    ("quotactl", 179, 60),
    ("acct", 163, 89),
    ("settimeofday", 164, 170),
    ("clock_settime", 227, 112),
    ("chmod", 90, None),
    ("fchmod", 91, 52),
    ("fchmodat", 268, 53),
    ("fchmodat2", 452, 452),
    ("chown", 92, None),
    ("fchown", 93, 55),
    ("lchown", 94, None),
    ("fchownat", 260, 54),
    ("utime", 132, None),
    ("utimes", 235, None),
    ("futimesat", 261, None),
    ("utimensat", 280, 88),
    ("setxattr", 188, 5),
    ("lsetxattr", 189, 6),
    ("fsetxattr", 190, 7),
    ("removexattr", 197, 14),
    ("lremovexattr", 198, 15),
    ("fremovexattr", 199, 16),
    ("setxattrat", 463, 463),
    ("removexattrat", 466, 466),
)
"""What a type checker has no use for, by name and number on x86_64 and aarch64: other processes, the network,
the machine, namespaces, keys, and what Landlock does not see of files (`checker.py`)."""
