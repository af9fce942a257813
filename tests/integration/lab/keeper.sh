#!/bin/sh
# Keeps one machine of the lab: makes its cgroup, starts it, waits until stdin ends, takes all away.
#
#     unshare --mount --propagation private sh keeper.sh FOLDER CGROUP NAME INIT [BIND...]
#
# The test holds the other end of stdin. However the test ends, kill -9 included, the kernel closes
# that end, and nothing of the machine stays. Says the machine's process 1 on stdout, as the host
# counts. Its mounts are in a namespace of its own, so that none can be left on the host.
set -eu
folder=$1
cgroup_name=$2
shift 2
scripts=$(dirname "$0")
child=
cgroup=
left=

# Goes on whatever fails, so that the rest is cleared all the same. Exit 3: something is left.
clean() {
    trap - EXIT
    set +e
    [ -z "$child" ] || end_machine 2>/dev/null
    if [ -d "$cgroup" ]; then find "$cgroup" -depth -type d -exec rmdir {} + || left=yes; fi
    umount --lazy "$folder/cgroup" "$folder" 2>/dev/null
    rmdir "$folder" || left=yes
    [ -z "$left" ] || exit 3
}

# All in the cgroup is killed, its process 1 among them, and unshare sees that one end and ends. If it
# does not (an old kernel, or the machine had not come into its cgroup yet) it is killed, and process 1
# with it (--kill-child).
end_machine() {
    if echo 1 >"$cgroup/cgroup.kill"; then
        tries=100
        while [ "$tries" -gt 0 ] && runs "$child"; do
            tries=$((tries - 1))
            sleep 0.01
        done
    fi
    if runs "$child"; then kill -KILL "$child"; fi
    wait "$child"
    while grep -q '^populated 1$' "$cgroup/cgroup.events"; do sleep 0.01; done
}

# A zombie does not.
runs() { grep -q '^State:.[^Z]' "/proc/$1/status"; }

trap clean EXIT
trap 'exit 1' HUP INT TERM

mount -t tmpfs -o mode=755 lab "$folder"
mkdir "$folder/upper" "$folder/work" "$folder/root" "$folder/cgroup"

# A cgroup2 mount of our own: where (and if) the host has mounted one does not matter.
mount -t cgroup2 lab "$folder/cgroup"
above=$folder/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
[ -w "$above/cgroup.procs" ] || above=$folder/cgroup
cgroup=$above/$cgroup_name
mkdir "$cgroup"

# The cgroup's namespace is made after moving into it, so that the machine sees it as the root.
# shellcheck disable=SC2016
setpriv --pdeathsig KILL \
    unshare --mount --uts --ipc --net --pid --fork --kill-child=KILL \
    sh -c 'echo 0 >"$0/cgroup.procs" && exec unshare --cgroup sh "$@"' \
    "$cgroup" "$scripts/root.sh" "$folder" "$@" </dev/null &
child=$!

# From here on stdout ends when the machine lets go of it: whoever reads sees that it did not start.
exec >&-
read -r _ || :
