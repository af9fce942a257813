"""What bubblewrap is told: what a build sees of the machine, which is an allow-list.

Nothing of /run, /var, /root, /home or /srv is in it, and of /etc what compilers and clients of the network
need and nothing that holds a key. /proc is that of the build's own processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from plumbum.machines.local import LocalCommand

from mesh_adapters.build.sandbox_attend import Limits
from mesh_adapters.build.sandbox_place import BUILDER_ID, Place

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HOST_NAME = "build"
SOURCE = "/build/src"
HOME = "/build/home"

_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "perl",
    "pki/ca-trust",
    "pki/tls/certs",
    "protocols",
    "services",
    "shells",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
)
_ETC_LIKE = ("java*", "python3*")
_OF_THE_NETWORK = ("gai.conf", "hosts", "resolv.conf")
_OURS = ("passwd", "group", "nsswitch.conf")

_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
_FOR_IMAGES = (
    "ADMIN SYS_CHROOT CHOWN DAC_OVERRIDE FOWNER FSETID SETUID SETGID SETPCAP SETFCAP KILL NET_BIND_SERVICE"
)


def shared(place: Place, network: bool, limits: Limits) -> Iterator[str]:
    """What every kind of build is told: the machine as it sees it, and that it dies with the builder."""
    yield from ("--die-with-parent", "--new-session", "--clearenv", "--hostname", HOST_NAME)
    yield from _system()
    yield from _etc(place, network)
    # A sysctl is its machine's, not its namespace's, and opens to whoever is root outside: core_pattern, say.
    yield from ("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev")
    yield from ("--perms", "1777", "--size", str(limits.shared_memory_bytes), "--tmpfs", "/dev/shm")
    yield from ("--perms", "0755", "--dir", "/build", "--perms", "0755", "--dir", "/run")
    yield from ("--perms", "0755", "--dir", "/var", "--bind", str(place.temporary), "/tmp")
    yield from ("--bind", str(place.temporary), "/var/tmp")
    yield from ("--bind", str(place.source), SOURCE, "--bind", str(place.home), HOME)


def for_commands(network: bool, own_account: bool) -> Iterator[str]:
    """Namespaces and account of a build's commands.

    With `own_account` the builder is root, and what runs inside has another account's rights outside as well,
    and no user namespace. Otherwise it has the builder's, as another account in a user namespace.
    """
    if own_account:
        yield from _NAMESPACES
        yield from () if network else ("--unshare-net",)
        return
    yield from ("--unshare-all", "--uid", str(BUILDER_ID), "--gid", str(BUILDER_ID), "--cap-drop", "ALL")
    yield from ("--share-net",) if network else ()


def for_images(network: bool) -> Iterator[str]:
    """Namespaces and rights of buildah: root, with what it needs to mount and to chown, and no more."""
    yield from _NAMESPACES
    yield from () if network else ("--unshare-net",)
    yield from ("--cap-drop", "ALL")
    for name in _FOR_IMAGES.split():
        yield from ("--cap-add", f"CAP_{'SYS_' if name == 'ADMIN' else ''}{name}")
    yield from ("--perms", "0755", "--dir", "/sys")


def settled(folder: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The end of what bubblewrap is told: nothing else may be written, and where and with what it begins."""
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", folder)
    for name, value in sorted(environment.items()):
        yield from ("--setenv", name, value)


def bounded(limits: Limits, own_account: bool, *argv: str) -> list[str]:
    """The command with limits, and as the account of builds if it is to change to it.

    The limit of processes holds for an account, and never for root.
    """
    to_other = ("--reuid", str(BUILDER_ID), "--regid", str(BUILDER_ID), "--clear-groups")
    to_less = ("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs")
    if own_account:
        argv = tuple(LocalCommand("setpriv")[(*to_other, *to_less, "--", *argv)].formulate())
    most = ("--core=0", f"--fsize={limits.file_bytes}", f"--nproc={limits.processes}")
    return list(LocalCommand("prlimit")[(*most, "--", *argv)].formulate())


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    if Path("/usr/local/etc").is_dir():
        yield from ("--tmpfs", "/usr/local/etc")
    for name in _TOP:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _etc(place: Place, network: bool) -> Iterator[str]:
    for folder in ("/etc", "/etc/ssl", "/etc/pki", "/etc/pki/tls"):  # else bubblewrap makes them 0700
        yield from ("--perms", "0755", "--dir", folder)
    like = [path.name for pattern in _ETC_LIKE for path in Path("/etc").glob(pattern)]
    for name in (*_ETC, *sorted(like), *(_OF_THE_NETWORK if network else ())):
        path = Path("/etc", name)
        if path.exists():
            yield from ("--ro-bind", str(path.resolve()), str(path))
    for name in (*_OURS, *(() if network else ("hosts",))):
        yield from ("--ro-bind", str(place.etc / name), f"/etc/{name}")
