#!/bin/sh
# Process 1 of a machine of the lab, until it becomes systemd: makes the machine's root and moves there.
#
#     root.sh FOLDER NAME INIT [BIND...]
#
# The root is an overlay of the host's `/`, what is written goes to a tmpfs. What is on other mounts
# of the host is not in it, except each BIND, read-only.
set -eu
umask 022
folder=$1
name=$2
init=$3
shift 3
root=$folder/root
# This /proc is still the host's, so it has the number by which the host knows this process.
read -r pid rest </proc/self/stat

mount_all() {
    mkdir -p "$folder/upper/var/lib" "$folder/upper/var/cache"
    mknod "$folder/upper/var/lib/dpkg" c 0 0
    mknod "$folder/upper/var/cache/apt" c 0 0
    mount -t overlay lab -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$root"
    mount -t proc proc "$root/proc"
    # Read-only, as in any container: the kernel, its modules and its settings are the host's.
    mount -t sysfs -o ro sysfs "$root/sys"
    mount --bind -o ro "$root/proc/sys" "$root/proc/sys"
    mount --bind "$root/proc/sys/net" "$root/proc/sys/net"
    mount -o remount,bind,rw "$root/proc/sys/net"
    [ ! -e /proc/sysrq-trigger ] || mount --bind -o ro /dev/null "$root/proc/sysrq-trigger"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    mkdir "$root/sys/fs/cgroup/lab" # where LabMachine.run puts what it runs
    mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root/run"
    mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/tmp"
}

make_dev() {
    dev=$root/dev
    mount -t tmpfs -o mode=755,nosuid tmpfs "$dev"
    mkdir "$dev/pts" "$dev/shm" "$dev/net"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$dev/pts"
    mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$dev/shm"
    # No kmsg and no console: nothing of the machine is told to the host's kernel.
    for node in null zero full random urandom tty fuse; do
        [ ! -c "/dev/$node" ] || cp -a "/dev/$node" "$dev/$node"
    done
    # A host in a container may lack it, although its kernel makes tunnels.
    mknod -m 666 "$dev/net/tun" c 10 200
    ln -s pts/ptmx "$dev/ptmx"
    ln -s /proc/self/fd "$dev/fd"
    ln -s fd/0 "$dev/stdin"
    ln -s fd/1 "$dev/stdout"
    ln -s fd/2 "$dev/stderr"
}

bind_all() {
    for path; do
        mkdir -p "$root$path"
        mount --bind -o ro "$path" "$root$path"
    done
}

# Who this machine is. A machine-id that is there also says that this is no first boot, on which
# systemd would enable every service of the host.
name_it() {
    hostname "$name"
    echo "$name" >"$root/etc/hostname"
    printf '127.0.0.1 localhost %s\n::1 localhost\n' "$name" >"$root/etc/hosts"
    tr -d - </proc/sys/kernel/random/uuid >"$root/etc/machine-id"
    rm -f "$root/var/lib/dbus/machine-id"
    : >"$root/etc/fstab"
}

# None of the services that the host enabled; what packages start here does start.
quiet() {
    units=$root/etc/systemd/system
    rm -rf "$units" "$root/var/log/journal" "$root/usr/sbin/policy-rc.d"
    rm -f "$root"/etc/rc?.d/*
    mkdir -p "$units" "$root/etc/tmpfiles.d"
    # What asks for hardware, a seat or the kernel, or would touch what the host has mounted.
    for unit in \
        dev-hugepages.mount sys-fs-fuse-connections.mount sys-kernel-config.mount \
        sys-kernel-debug.mount sys-kernel-tracing.mount tmp.mount \
        proc-sys-fs-binfmt_misc.automount proc-sys-fs-binfmt_misc.mount \
        modprobe@.service systemd-binfmt.service systemd-modules-load.service \
        systemd-remount-fs.service systemd-sysctl.service systemd-timesyncd.service \
        systemd-udevd.service systemd-udev-trigger.service systemd-logind.service \
        systemd-update-utmp.service systemd-update-utmp-runlevel.service getty.target; do
        ln -s /dev/null "$units/$unit"
    done
    # The rule that empties /tmp at each boot: this /tmp is new, and something may be bound in it.
    ln -sf /dev/null "$root/etc/tmpfiles.d/tmp.conf"
}

# The packages' state is a copy, cut from the host's by the two whiteouts below: an overlay promises
# nothing about a folder that changes underneath, and the host may install something meanwhile.
own_packages() {
    for _ in 1 2 3 4 5; do
        # A file that the host's dpkg took away while we copied fails this; then once more.
        cp -a /var/lib/dpkg "$root/var/lib/" && break
        rm -rf "$root/var/lib/dpkg"
    done
    [ -e "$root/var/lib/dpkg/status" ] || { echo "/var/lib/dpkg does not stand still"; exit 1; } >&2
    # What a dpkg of the host is in the middle of is nothing that this one has to finish.
    rm -rf "$root/var/lib/dpkg/tmp.ci" "$root"/var/lib/dpkg/updates/*
    mkdir -p "$root/var/cache/apt/archives/partial"
}

mount_all
make_dev
name_it
quiet
own_packages
bind_all "$@"

cd "$root"
mkdir -p .host
pivot_root . .host
umount --lazy .host
rmdir .host
cd /
# As on every machine: systemd mounts the credentials of a service beside it, and they have to arrive there.
mount --make-rshared /

# Only now: who enters before this would be in the host's root.
echo "$pid"
# shellcheck disable=SC2086
exec env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin $init >/dev/null
