"""What a hostile program tries, once the language layer is out of its way.

Each probe is ordinary Python that raises when it is refused and returns something when it got through. It names
the layers that stop it, each of which must do so alone; and `bare` says that it gets through where there is no
confinement, so that a probe which cannot fail is noticed. This text is run inside the launcher: it imports nothing
that the launcher has not.
"""

# Programs of strangers are written as strangers write them, and not typed.
# mypy: ignore-errors

import array
import asyncio
import ctypes
import errno
import fcntl
import glob
import mmap
import multiprocessing
import os
import platform
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from typing import Any, NamedTuple


class Probe(NamedTuple):
    name: str
    stopped_by: frozenset[str]
    bare: bool
    files: str
    worktree: bool


PROBES: dict[str, Probe] = {}


def probe(stopped_by: str, *, bare: bool = True, files: str = "write", worktree: bool = True) -> Any:
    """Declare a probe and what stops it: `root landlock landlock4 landlock6 seccomp net pid user limits always`.

    `landlock4` is Landlock of ABI 4 and later; `always` is a fresh interpreter, before any layer.
    """

    def declare(function: Any) -> Any:
        name = function.__name__
        PROBES[name] = Probe(name, frozenset(stopped_by.split()), bare, files, worktree)
        return function

    return declare


libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ON_X86 = platform.machine() == "x86_64"


def raw(x86_64: int, aarch64: int, *arguments: Any) -> int:
    """A system call by its number, as native code would make it."""
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = libc.syscall(x86_64 if ON_X86 else aarch64, *words)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def c(name: str, *arguments: Any) -> int:
    """A function of libc."""
    result = getattr(libc, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(4096)


# Files of the host.


@probe("root landlock")
def read_a_host_file(f):
    return read(f["host_file"])


@probe("root landlock")
def read_through_dots(f):
    return read("../" * 12 + f["host_file"].lstrip("/"))


@probe("root landlock")
def read_through_a_symbolic_link(f):
    os.symlink(f["host_file"], "link")
    try:
        return read("link")
    finally:
        os.unlink("link")


@probe("root landlock")
def read_through_a_link_to_a_folder(f):
    os.symlink(f["outside"], "folder")
    try:
        return read("folder/secret.txt")
    finally:
        os.unlink("folder")


@probe("root landlock")
def read_through_proc_root(f):
    return read("/proc/self/root" + f["host_file"])


@probe("root landlock")
def read_through_a_path_descriptor(f):
    fd = os.open(f["host_file"], os.O_PATH)
    return read(f"/proc/self/fd/{fd}")


@probe("root landlock")
def read_relative_to_a_folder_descriptor(f):
    fd = os.open(f["outside"], os.O_PATH)
    return os.read(os.open("secret.txt", os.O_RDONLY, dir_fd=fd), 100)


@probe("root landlock")
def read_after_changing_folder(f):
    os.chdir(f["outside"])
    return read("secret.txt")


@probe("root landlock")
def read_by_mapping(f):
    fd = os.open(f["host_file"], os.O_RDONLY)
    return mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:]


@probe("root landlock")
def read_a_file_that_every_user_may_read(f):
    path = "/etc/passwd"  # which some machines show to root alone
    return read(path if os.access(path, os.R_OK) else "/etc/nsswitch.conf")


@probe("root landlock")
def read_the_machine_id(f):
    return read("/etc/machine-id") if os.path.exists("/etc/machine-id") else read("/etc/hostname")


@probe("root landlock")
def list_a_host_folder(f):
    return os.listdir(f["outside"])


@probe("landlock")
def list_the_root(f):
    return os.listdir("/")


@probe("root landlock")
def list_usr(f):
    return os.listdir("/usr/bin")


@probe("root")
def see_that_a_host_file_exists(f):
    return os.stat(f["host_file"])


@probe("root landlock")
def read_another_agents_file_by_a_relative_path(f):
    return read("../two/notes.txt")


@probe("root landlock")
def read_another_agents_file(f):
    return read(f["other_worktree"] + "/notes.txt")


@probe("root landlock", bare=False)
def read_another_agents_file_where_the_zygote_keeps_it(f):
    return read("/.worktrees/two/notes.txt")


@probe("root landlock")
def read_records(f):
    return read(f["records"] + "/output.json")


@probe("root landlock")
def write_a_host_file(f):
    return open(f["host_file"], "w").write("x")


@probe("root landlock")
def append_to_a_host_file(f):
    return open(f["host_file"], "a").write("x")


@probe("root landlock")
def truncate_a_host_file(f):
    return os.truncate(f["host_file"], 0) or "truncated"


@probe("root landlock")
def truncate_by_opening_to_read(f):
    return os.open(f["host_file"], os.O_RDONLY | os.O_TRUNC)


@probe("root landlock")
def make_a_file_outside(f):
    return open(f["outside"] + "/new", "w").write("x")


@probe("root landlock")
def make_a_folder_outside(f):
    return os.mkdir(f["outside"] + "/new-folder") or "made"


@probe("root landlock")
def make_a_link_outside(f):
    return os.symlink("/", f["outside"] + "/new-link") or "made"


@probe("root landlock")
def delete_a_host_file(f):
    return os.unlink(f["outside"] + "/delete-me") or "deleted"


@probe("root landlock")
def rename_a_host_file(f):
    return os.rename(f["outside"] + "/rename-me", f["outside"] + "/renamed") or "renamed"


@probe("root landlock")
def move_a_host_file_in(f):
    return os.rename(f["outside"] + "/move-me", "moved") or "moved"


@probe("root landlock")
def link_a_host_file_in(f):
    os.link(f["host_file"], "hard")
    try:
        return read("hard")
    finally:
        os.unlink("hard")


@probe("root landlock")
def link_a_file_out(f):
    return os.link("notes.txt", f["outside"] + "/hard") or "linked"


@probe("root landlock")
def write_another_agents_file(f):
    return open(f["other_worktree"] + "/notes.txt", "w").write("x")


@probe("root landlock")
def write_a_record(f):
    return open(f["records"] + "/output.json", "w").write("x")


@probe("root seccomp")
def change_the_mode_of_a_host_file(f):
    return os.chmod(f["host_file"], 0o600) or "changed"


@probe("root seccomp landlock")
def change_the_mode_through_a_descriptor(f):
    return os.fchmod(os.open(f["host_file"], os.O_RDONLY), 0o600) or "changed"


@probe("root seccomp")
def change_the_times_of_a_host_file(f):
    return os.utime(f["host_file"], (1, 1)) or "changed"


@probe("root seccomp")
def give_a_host_file_away(f):
    return os.chown(f["host_file"], -1, os.getgid()) or "changed"


@probe("root seccomp")
def set_an_attribute_of_a_host_file(f):
    return os.setxattr(f["host_file"], "user.x", b"x") or "set"


@probe("root landlock", bare=False)
def write_the_standard_library(f):
    return open(os.__file__, "a").write("x")


@probe("root landlock", bare=False)
def plant_a_module_in_the_standard_library(f):
    return open(os.path.dirname(os.__file__) + "/planted.py", "w").write("x")


@probe("root landlock", bare=False)
def write_our_own_code(f):
    return open(sys.modules["litany_runtime"].__file__, "a").write("x")


@probe("root landlock")
def write_shared_memory(f):
    path = f"/dev/shm/litany-test-{os.getpid()}"
    open(path, "w").write("x")
    os.unlink(path)
    return "written"


@probe("root landlock")
def write_the_hosts_tmp(f):
    name = f["outside"] + "/../tmp-probe"
    return open(name, "w").write("x")


@probe("root landlock", bare=False)
def open_a_terminal(f):
    return os.open("/dev/ptmx", os.O_RDWR)


@probe("root landlock", bare=False)
def open_a_disk(f):
    return [os.open(disk, os.O_RDONLY) for disk in (*glob.glob("/dev/vd*"), "/dev/sda")]


@probe("root landlock", bare=False)
def open_kernel_memory(f):
    return os.open("/dev/mem", os.O_RDONLY)


@probe("root landlock", bare=False)
def open_the_kernel_log(f):
    return os.open("/dev/kmsg", os.O_RDONLY)


@probe("root landlock", bare=False)
def open_fuse(f):
    return os.open("/dev/fuse", os.O_RDWR)


@probe("landlock", bare=False)
def write_zeros_device(f):
    return mmap.mmap(os.open("/dev/zero", os.O_RDWR), 1 << 20)


# Its own worktree, beyond what it may do there.


@probe("root", files="write")
def read_git(f):
    return read(".git") or refuse()


def refuse() -> Any:
    raise PermissionError("nothing there")


@probe("root", bare=True)
def write_git(f):
    return open(".git", "a").write("gitdir: /tmp/evil")


@probe("root")
def remove_git(f):
    os.unlink(".git")
    open(".git", "w").close()
    return "removed"


@probe("root")
def rename_git(f):
    os.rename(".git", "git")
    os.rename("git", ".git")
    return "renamed"


@probe("root")
def replace_git(f):
    open("evil", "w").close()
    return os.rename("evil", ".git") or "replaced"


@probe("root landlock", files="read")
def write_where_it_may_only_read(f):
    return open("notes.txt", "a").write("x")


@probe("root landlock", files="read")
def make_a_file_where_it_may_only_read(f):
    return open("new", "w").write("x")


@probe("root landlock", files="read")
def delete_where_it_may_only_read(f):
    return os.unlink("unlink-me") or "deleted"


@probe("root seccomp", files="read")
def change_a_mode_where_it_may_only_read(f):
    return os.chmod("notes.txt", 0o600) or "changed"


@probe("root seccomp", files="read")
def change_times_where_it_may_only_read(f):
    return os.utime("notes.txt", (1, 1)) or "changed"


@probe("root landlock", files="none")
def read_where_it_may_not(f):
    return read(f["worktrees"] + "/one/notes.txt")


@probe("landlock", files="none", bare=False)
def list_where_it_may_not(f):
    return os.listdir("/worktree")


@probe("landlock seccomp")
def make_a_pipe_that_hangs_host_tools(f):
    return os.mkfifo("fifo") or "made"


@probe("landlock seccomp user", bare=False)
def make_a_device(f):
    return os.mknod("device", 0o20666, os.makedev(1, 3)) or "made"


@probe("landlock seccomp")
def make_a_socket_in_the_worktree(f):
    sock = socket.socket(socket.AF_UNIX)
    sock.bind("socket")
    return "bound"


@probe("seccomp")
def open_a_set_uid_file(f):
    os.close(os.open("suid", os.O_CREAT | os.O_WRONLY, 0o4755))
    return set_id("suid")


@probe("seccomp")
def change_a_file_to_set_uid(f):
    open("suid-2", "w").close()
    os.chmod("suid-2", 0o4755)
    return set_id("suid-2")


@probe("seccomp")
def change_a_descriptor_to_set_uid(f):
    fd = os.open("suid-3", os.O_CREAT | os.O_WRONLY, 0o755)
    os.fchmod(fd, 0o4755)
    return set_id("suid-3")


@probe("seccomp")
def make_a_set_gid_folder(f):
    os.mkdir("sgid", 0o2777)
    os.chmod("sgid", 0o2777)
    return set_id("sgid")


def set_id(path: str) -> str:
    if os.stat(path).st_mode & 0o6000:
        return "set"
    raise PermissionError("the bits did not stay")


@probe("seccomp", bare=False)
def handle_of_a_file(f):
    return raw(
        303,
        264,
        -100,
        b"notes.txt",
        ctypes.create_string_buffer(b"\x80\0\0\0" + bytes(132)),
        ctypes.create_string_buffer(8),
        0,
    )


@probe("seccomp user", bare=False)
def open_by_handle(f):
    return raw(304, 265, -100, ctypes.create_string_buffer(16), 0)


# Mounts.

for _name, _numbers in {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "chroot": (161, 51),
}.items():

    def _mounting(f, name=_name, numbers=_numbers):
        target = b"/" if name in {"mount_setattr", "open_tree"} else b"/tmp"
        arguments = {
            "mount": (b"tmpfs", b"/tmp", b"tmpfs", 0, 0),
            "umount2": (b"/tmp", 2),
            "pivot_root": (b"/tmp", b"/tmp"),
            "open_tree": (-100, b"/", 1),
            "move_mount": (0, b"", -100, b"/tmp", 4),
            "fsopen": (b"tmpfs", 0),
            "fsmount": (0, 0, 0),
            "fspick": (-100, b"/", 0),
            "mount_setattr": (-100, b"/", 0, ctypes.create_string_buffer(32), 32),
            "chroot": (target,),
        }[name]
        return raw(*numbers, *arguments)

    _mounting.__name__ = f"call_{_name}"
    globals()[_mounting.__name__] = probe("seccomp user", bare=False)(_mounting)


# The network.


@probe("net seccomp landlock4")
def connect_to_a_host_service(f):
    return socket.create_connection(tuple(f["tcp"]), 1)


@probe("net seccomp landlock4")
def connect_without_waiting(f):
    sock = socket.socket()
    sock.setblocking(False)
    code = sock.connect_ex(tuple(f["tcp"]))
    if code not in {0, errno.EINPROGRESS} or not select.select([], [sock], [], 1)[1] or sock.getsockopt(1, 4):
        raise OSError(code or errno.ENETUNREACH, "no")
    return "connected"


@probe("net seccomp")
def send_a_datagram(f):
    return socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", tuple(f["udp"]))


@probe("seccomp", bare=True)
def make_a_tcp_socket(f):
    return socket.socket()


@probe("seccomp", bare=True)
def make_an_ipv6_socket(f):
    return socket.socket(socket.AF_INET6)


@probe("landlock4 seccomp")
def listen_on_a_port(f):
    sock = socket.socket()
    sock.bind(("0.0.0.0", 0))
    sock.listen()
    return sock.getsockname()


@probe("root seccomp")
def connect_to_a_unix_socket(f):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(f["unix"])
    return "connected"


@probe("net seccomp landlock6")
def connect_to_an_abstract_socket(f):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect("\0" + f["abstract"])
    return "connected"


@probe("root seccomp")
def send_from_a_pair_to_a_unix_socket(f):
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return one.sendto(b"x", f["unix_datagram"])


@probe("root seccomp")
def connect_a_pair_to_a_unix_socket(f):
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.connect(f["unix_datagram"])
    return one.send(b"x")


@probe("root seccomp")
def send_a_message_from_a_pair_to_a_unix_socket(f):
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return one.sendmsg([b"x"], [], 0, f["unix_datagram"])


@probe("seccomp")
def pass_a_descriptor(f):
    one, two = socket.socketpair()
    return socket.send_fds(one, [b"x"], [0])


@probe("seccomp")
def receive_a_message(f):
    one, two = socket.socketpair()
    one.send(b"x")
    return two.recvmsg(1)


@probe("seccomp")
def set_a_socket_option(f):
    one, _ = socket.socketpair()
    return one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096) or "set"


@probe("seccomp")
def attach_a_packet_filter(f):
    one, _ = socket.socketpair()
    filter_ = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
    return (
        one.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HxxxxxxQ", 1, ctypes.addressof(filter_)))
        or "attached"
    )


for _family in ("AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG", "AF_BLUETOOTH", "AF_CAN", "AF_XDP"):

    def _socket_of(
        f,
        family={
            "AF_NETLINK": 16,
            "AF_PACKET": 17,
            "AF_VSOCK": 40,
            "AF_ALG": 38,
            "AF_BLUETOOTH": 31,
            "AF_CAN": 29,
            "AF_XDP": 44,
        }[_family],
    ):
        return c("socket", family, 5 if family == 38 else 3, 0)

    _socket_of.__name__ = f"make_a_socket_of_{_family}"
    globals()[_socket_of.__name__] = probe("seccomp", bare=False)(_socket_of)


@probe("seccomp", bare=False)
def make_a_raw_socket(f):
    return c("socket", socket.AF_INET, socket.SOCK_RAW, 1)


@probe("seccomp", bare=False)
def make_a_pair_of_another_family(f):
    return c("socketpair", socket.AF_INET, socket.SOCK_STREAM, 0, (ctypes.c_int * 2)())


# Processes.


@probe("seccomp")
def fork(f):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "forked"


@probe("seccomp")
def clone_a_process(f):
    pid = raw(56, 220, int(signal.SIGCHLD), 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return "cloned"


@probe("seccomp", bare=False)
def clone_a_thread_into_new_namespaces(f):
    return raw(56, 220, 0x3D0F00 | 0x10000000, 0, 0, 0, 0)


@probe("seccomp", bare=False)
def clone3_a_process(f):
    arguments = ctypes.create_string_buffer(struct.pack("=8Q", 0, 0, 0, 0, int(signal.SIGCHLD), 0, 0, 0))
    pid = raw(435, 435, arguments, 64)
    if pid == 0:
        os._exit(0)
    return "cloned"


@probe("seccomp")
def start_a_process(f):
    return subprocess.run([sys.executable, "-c", "0"], check=True)


@probe("seccomp")
def spawn_a_process(f):
    return os.posix_spawn(sys.executable, [sys.executable, "-c", "0"], {})


@probe("seccomp", bare=True)
def run_a_shell(f):
    return "ran" if os.system("exit 0") == 0 else refuse()


@probe("seccomp", bare=False)
def start_a_multiprocessing_process(f):
    process = multiprocessing.get_context("fork").Process(target=print)
    process.start()
    return process.pid


@probe("seccomp landlock root", bare=False)
def exec_a_host_program(f):
    os.execv("/bin/sh", ["sh", "-c", "exit 0"])


@probe("seccomp landlock root", bare=False)
def exec_the_interpreter(f):
    os.execv(sys.executable, [sys.executable, "-c", "0"])


@probe("seccomp landlock root", bare=False)
def exec_what_it_wrote(f):
    for folder in (".", "/tmp"):
        with open(f"{folder}/run", "w") as file:
            file.write("#!/bin/sh\n")
        os.chmod(f"{folder}/run", 0o755)
    os.execv("./run", ["run"])


@probe("seccomp")
def make_a_file_in_memory(f):
    return os.memfd_create("x")


@probe("seccomp", bare=False)
def exec_a_file_in_memory(f):
    return raw(322, 281, 0, b"", 0, 0, 0x1000)


@probe("seccomp")
def map_memory_to_execute(f):
    return mmap.mmap(
        -1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_EXEC
    )


@probe("seccomp")
def make_memory_executable(f):
    memory = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return c("mprotect", ctypes.c_void_p(address), ctypes.c_size_t(4096), 7) or "executable"


@probe("pid seccomp landlock6")
def signal_a_host_process(f):
    return os.kill(f["victim"], signal.SIGTERM) or "signalled"


@probe("pid seccomp landlock6")
def look_whether_a_host_process_lives(f):
    return os.kill(f["victim"], 0) or "lives"


@probe("seccomp landlock6")
def signal_its_zygote(f):
    return os.kill(os.getppid(), 0) or "signalled"


@probe("seccomp", bare=False)
def signal_everybody(f):
    return os.kill(-1, 0) or "signalled"


@probe("seccomp", bare=False)
def signal_its_group(f):
    return os.kill(0, 0) or "signalled"


@probe("seccomp landlock6", bare=False)
def signal_a_thread_of_another(f):
    return raw(234, 131, os.getppid(), os.getppid(), 0) or "signalled"


@probe("seccomp", bare=False)
def signal_by_thread_alone(f):
    return raw(200, 130, os.getppid(), 0) or "signalled"


@probe("seccomp", bare=False)
def queue_a_signal(f):
    return raw(129, 138, f["victim"], 0, ctypes.create_string_buffer(128))


@probe("pid seccomp")
def open_a_process(f):
    return os.pidfd_open(f["victim"])


@probe("seccomp")
def open_itself_as_a_process(f):
    return os.pidfd_open(os.getpid())


@probe("seccomp")
def aim_a_descriptors_signals(f):
    one, _ = socket.socketpair()
    return fcntl.fcntl(one, fcntl.F_SETOWN, f["victim"]) or "aimed"


@probe("pid seccomp landlock", bare=False)
def trace_a_host_process(f):
    return c("ptrace", 16, f["victim"], 0, 0)


@probe("seccomp", bare=False)
def ask_to_be_traced(f):
    return c("ptrace", 0, 0, 0, 0)


@probe("pid seccomp landlock", bare=False)
def read_a_processs_memory(f):
    buffer = ctypes.create_string_buffer(8)
    ours = ctypes.create_string_buffer(struct.pack("=QQ", ctypes.addressof(buffer), 8))
    theirs = ctypes.create_string_buffer(struct.pack("=QQ", 4096, 8))
    try:
        return raw(310, 270, f["victim"], ours, 1, theirs, 1, 0)
    except OSError as error:
        if error.errno == errno.EFAULT:  # allowed, and nothing is mapped there
            return "allowed"
        raise


@probe("root landlock", bare=True)
def read_a_processs_environment(f):
    return read(f"/proc/{f['victim']}/environ")


@probe("root landlock", bare=False)
def read_a_processs_memory_file(f):
    return os.open(f"/proc/{f['victim']}/mem", os.O_RDONLY)


@probe("root landlock")
def read_the_list_of_processes(f):
    return os.listdir("/proc")


@probe("root landlock")
def read_its_own_memory_map(f):
    return read("/proc/self/maps")


@probe("root landlock")
def read_the_mounts(f):
    return read("/proc/self/mountinfo")


@probe("root landlock")
def read_kernel_settings(f):
    return read("/proc/sys/kernel/hostname")


@probe("root landlock")
def read_devices(f):
    return os.listdir("/sys/class")


@probe("root landlock", bare=False)
def read_control_groups(f):
    return os.listdir("/sys/fs/cgroup")


@probe("root landlock")
def read_what_the_host_runs_on(f):
    return read("/proc/cpuinfo")


@probe("pid seccomp")
def slow_a_host_process_down(f):
    return os.setpriority(os.PRIO_PROCESS, f["victim"], 19) or "slowed"


@probe("pid seccomp")
def move_a_host_process(f):
    return os.sched_setaffinity(f["victim"], {0}) or "moved"


@probe("pid seccomp")
def limit_a_host_process(f):
    return resource.prlimit(f["victim"], resource.RLIMIT_NOFILE, (10, 10))


@probe("pid seccomp")
def read_the_limits_of_a_host_process(f):
    return resource.prlimit(f["victim"], resource.RLIMIT_NOFILE)


@probe("seccomp")
def change_its_own_limits(f):
    return resource.setrlimit(resource.RLIMIT_CORE, (0, 0)) or "changed"


@probe("limits seccomp", bare=False)
def raise_its_own_limits(f):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        return "unlimited"
    if hard < 4096:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard + 1, hard + 1))
    return "raised"


# Who it is.


@probe("user seccomp", bare=False)
def become_root(f):
    return os.setuid(0) or "root"


@probe("user seccomp", bare=False)
def become_root_in_every_way(f):
    return os.setresuid(0, 0, 0) or "root"


@probe("user seccomp", bare=False)
def change_groups(f):
    return os.setgroups([0]) or "changed"


@probe("user seccomp", bare=False)
def take_capabilities(f):
    header = struct.pack("=Ii", 0x20080522, 0)
    return raw(126, 91, header, struct.pack("=6I", *[0xFFFFFFFF] * 6)) or "taken"


@probe("seccomp", bare=False)
def make_a_user_namespace(f):
    return c("unshare", 0x10000000) or "made"


@probe("seccomp user", bare=False)
def make_a_mount_namespace(f):
    return c("unshare", 0x20000) or "made"


@probe("seccomp user", bare=False)
def enter_a_namespace(f):
    return raw(308, 268, 0, 0)


@probe("seccomp", bare=False)
def become_dumpable(f):
    return c("prctl", 4, 1, 0, 0, 0) or "dumpable"


@probe("seccomp", bare=False)
def load_a_filter(f):
    return raw(317, 277, 1, 0, 0)


@probe("seccomp", bare=False)
def make_a_landlock_ruleset(f):
    return raw(444, 444, 0, 0, 1)


@probe("seccomp", bare=False)
def leave_its_session(f):
    return os.setsid()


# The rest of the kernel: none of it is a program's business. Arguments are nothing that could work.

_ODD_CALLS = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "personality": (135, 92),
    "kcmp": (312, 272),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "fanotify_init": (300, 262),
    "inotify_init1": (294, 26),
    "timer_create": (222, 107),
    "timerfd_create": (283, 85),
    "signalfd4": (289, 74),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "vmsplice": (278, 75),
    "splice": (275, 76),
    "tee": (276, 77),
    "syslog": (103, 116),
    "sysinfo": (99, 179),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "acct": (163, 89),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "lookup_dcookie": (212, 18),
    "remap_file_pages": (216, 234),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "set_mempolicy": (238, 237),
    "mlock": (149, 228),
    "mlockall": (151, 230),
    "pkey_alloc": (330, 289),
    "memfd_secret": (447, 447),
    "rt_tgsigqueueinfo": (297, 240),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "setns": (308, 268),
    "wait4": (61, 260),
    "execveat": (322, 281),
    "openat2": (437, 437),
    "mknodat": (259, 33),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "membarrier": (324, 283),
    "rseq_of_the_future": (470, 470),
    "a_call_that_is_not_yet": (1000, 1000),
}

for _name, _numbers in _ODD_CALLS.items():

    def _odd(f, name=_name, numbers=_numbers):
        result = libc.syscall(*([ctypes.c_long(numbers[0 if ON_X86 else 1])] + [ctypes.c_long(-1)] * 6))
        number = ctypes.get_errno()
        if result < 0 and number in {errno.EPERM, errno.ENOSYS}:
            raise OSError(number, os.strerror(number))
        return result, errno.errorcode.get(number)

    _odd.__name__ = f"call_{_name}"
    globals()[_odd.__name__] = probe("seccomp", bare=False)(_odd)


@probe("seccomp", bare=False)
def call_by_the_x32_number(f):
    return raw(0x40000000 | 39, 0x40000000 | 172)


@probe("seccomp", bare=False)
def push_into_a_terminal(f):
    # TIOCSTI, with high bits that a comparison of 64 bits would miss.
    one, _ = socket.socketpair()
    result = libc.ioctl(one.fileno(), ctypes.c_ulong(0x100005412), ctypes.create_string_buffer(1))
    number = ctypes.get_errno()
    if result < 0 and number == errno.ENOTTY:
        raise OSError(number, "refused")
    return result


# What it finds out about its surroundings.


@probe("user", bare=False)
def be_root(f):
    return "root" if 0 in (os.getuid(), os.geteuid()) else refuse()


@probe("always", bare=False)
def find_the_environment(f):
    if dict(os.environ):
        return dict(os.environ)
    return refuse()


@probe("always", bare=False)
def find_descriptors(f):
    found = []
    for fd in range(4, 1024):
        try:
            os.fstat(fd)
            found.append(fd)
        except OSError:
            continue
    return found or refuse()


@probe("always", bare=False)
def find_a_terminal(f):
    return os.open("/dev/tty", os.O_RDWR)


@probe("always", bare=False)
def find_a_group(f):
    return os.getgroups() if 0 in os.getgroups() or os.getgid() == 0 else refuse()


@probe("always", bare=False)
def find_blocked_signals(f):
    return signal.pthread_sigmask(signal.SIG_BLOCK, []) or refuse()


@probe("always", bare=False)
def dump_core(f):
    return resource.getrlimit(resource.RLIMIT_CORE)[1] or refuse()


@probe("root", bare=False)
def find_the_hosts_name(f):
    return platform.node() if platform.node() != "litany" else refuse()


@probe("pid", bare=False)
def find_its_pid_on_the_host(f):
    return os.getpid() if os.getpid() > 1000 else refuse()


@probe("always", bare=False)
def be_in_its_zygotes_session(f):
    return os.getsid(0) if os.getsid(0) != os.getpid() else refuse()


# Not attacks: what a program does within its limits, or at them. A test says what it must come to.


def _use(function: Any) -> Any:
    USES[function.__name__] = function
    return function


USES: dict[str, Any] = {}


@_use
def nothing(f):
    return os.getpid(), os.getuid(), os.getcwd()


@_use
def who_it_is(f):
    return {"uid": os.getuid(), "cwd": os.getcwd(), "umask": oct(os.umask(0o22)), "node": platform.node()}


@_use
def sleep_for_ever(f):
    time.sleep(600)


@_use
def one_allocation(f):
    return len(bytearray(f["bytes"]))


@_use
def growth(f):
    kept = []
    try:
        while True:
            kept.append(bytearray(1 << 20))
    except MemoryError:
        return len(kept)


@_use
def growth_by_small_objects(f):
    kept = []
    try:
        while True:
            kept.append([None] * 100)
    except MemoryError:
        count = len(kept)
        kept.clear()
        return count


@_use
def shared_memory(f):
    return len(mmap.mmap(-1, f["bytes"]))


@_use
def growing_stack(f):
    return len(mmap.mmap(-1, f["bytes"], flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100))


@_use
def shared_zeros(f):
    fd = os.open("/dev/zero", os.O_RDONLY)
    kept = 0
    maps = []
    try:
        while kept < f["bytes"]:
            memory = mmap.mmap(fd, 16 << 20, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
            for at in range(0, len(memory), 4096):
                memory[at]
            maps.append(memory)
            kept += len(memory)
    except (MemoryError, OSError):
        pass
    return kept


@_use
def count_threads(f):
    hold = threading.Event()
    count = 0
    try:
        while count < 1000:
            threading.Thread(target=hold.wait, daemon=True).start()
            count += 1
    except RuntimeError:
        pass
    return count


@_use
def count_files(f):
    fds = []
    try:
        while len(fds) < 10_000:
            fds.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        return len(fds), error.errno
    return len(fds), 0


@_use
def write_one_file(f):
    with open(f.get("path", "big"), "wb", buffering=0) as file:
        total = 0
        try:
            while total < 1 << 30:
                total += file.write(bytes(1 << 20))
        except OSError as error:
            return total, error.errno
    return total, 0


@_use
def fill_tmp(f):
    total = count = 0
    try:
        while total < 1 << 30:
            with open(f"/tmp/{count}", "wb", buffering=0) as file:
                total += file.write(bytes(1 << 20))
            count += 1
    except OSError as error:
        return total, error.errno
    return total, 0


@_use
def count_tmp_files(f):
    count = 0
    try:
        while count < 100_000:
            os.close(os.open(f"/tmp/{count}", os.O_CREAT | os.O_WRONLY))
            count += 1
    except OSError as error:
        return count, error.errno
    return count, 0


@_use
def spin(f):
    while True:
        pass


@_use
def spin_and_ignore(f):
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while True:
        pass


@_use
def recurse_in_c(f):
    sys.setrecursionlimit(10**9)
    nested = []
    for _ in range(10**6):
        nested = [nested]
    return repr(nested)[:10]


@_use
def see_the_last_childs_tmp(f):
    found = os.path.exists("/tmp/left-behind")
    open("/tmp/left-behind", "w").write("x")
    return found


@_use
def read_a_package(f):
    sys.path.insert(0, f["package"])
    import planted_package

    return planted_package.WORD, open(f["package"] + "/planted_file.py").read()


@_use
def write_a_package(f):
    return open(f["package"] + "/planted_package/__init__.py", "a").write("x")


@_use
def list_other_packages(f):
    folder = os.path.dirname(os.__file__)
    return os.listdir(folder + "/site-packages") if os.path.isdir(folder + "/site-packages") else []


@_use
def what_programs_do(f):
    done = []
    with tempfile.TemporaryDirectory() as folder:
        open(folder + "/a", "w").write("a")
        shutil.copytree(folder, folder + "-copy")
        shutil.rmtree(folder + "-copy")
        done.append("tempfile")
    os.makedirs("deep/er/still", exist_ok=True)
    with open("deep/er/still/file", "w") as file:
        file.write("text")
        fcntl.flock(file, fcntl.LOCK_EX)
    os.replace("deep/er/still/file", "deep/moved")
    os.symlink("moved", "deep/link")
    assert open("deep/link").read() == "text"
    assert sorted(each.name for each in os.scandir("deep")) == ["er", "link", "moved"]
    shutil.copy("deep/moved", "deep/copy")
    shutil.copy2("deep/moved", "deep/copy2")
    os.truncate("deep/copy", 1)
    shutil.rmtree("deep")
    done.append("worktree")
    with socket.socketpair()[0] as one:
        one.setblocking(False)
    import sqlite3

    db = sqlite3.connect("base.sqlite")
    db.execute("create table t(x)")
    db.execute("insert into t values (1)")
    db.commit()
    assert list(db.execute("select x from t")) == [(1,)]
    db.close()
    os.unlink("base.sqlite")
    done.append("sqlite")

    async def gather():
        return await asyncio.gather(asyncio.sleep(0.01, 1), asyncio.to_thread(lambda: 2))

    assert asyncio.run(gather()) == [1, 2]
    done.append("asyncio")
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(abs, range(-100, 0))) == 5050
    done.append("threads")
    import zoneinfo

    zoneinfo.ZoneInfo("Europe/Berlin")
    done.append("zoneinfo")
    import wave  # noqa: F401 - one that nothing has imported yet

    done.append("import")
    import random
    import uuid

    uuid.uuid4(), random.random(), time.localtime(), os.cpu_count(), os.urandom(8)
    signal.signal(signal.SIGALRM, lambda *_: done.append("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pause()
    with mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory[0] = 1
    with open("mapped", "wb+") as file:
        file.write(bytes(4096))
        file.flush()
        with mmap.mmap(file.fileno(), 4096) as memory:
            memory[0] = 1
            memory.flush()
    os.unlink("mapped")
    done.append("mmap")
    assert select.select([], [], [], 0.001) == ([], [], [])
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    done.append("pipe")
    assert os.isatty(1) is False
    shutil.disk_usage(".")
    resource.getrlimit(resource.RLIMIT_AS)
    os.kill(os.getpid(), 0)
    return done


@_use
def what_programs_do_without_a_tmp(f):
    with open("x", "w") as file:
        file.write("text")
    shutil.copyfile("x", "y")
    os.rename("y", "z")
    os.unlink("z")

    async def gather():
        return await asyncio.gather(asyncio.sleep(0.01, 1), asyncio.to_thread(lambda: 2))

    return asyncio.run(gather())


@_use
def leave_a_file(f):
    with open("left.txt", "w") as file:
        file.write("left")
    os.mkdir("left-folder")
    return os.stat("left.txt").st_uid


@_use
def random_state(f):
    import random

    return random.random()
