#!/bin/sh
# The main job, on the homelab: plan it, see the one refusal and its fix, apply the fix, plan again; then one of
# its machines, under a folder that stands for it.
# `mesh` is the one on PATH; the store is a new one in a folder of its own, and gone afterwards.

set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export MESH_STORE="$folder/mesh.db"

# run CODE COMMAND...: show the command, run it, and stop where it ends with another code.
run() {
    expected=$1
    shift
    printf '\n$ %s\n' "$*"
    code=0
    "$@" || code=$?
    if [ "$code" -ne "$expected" ]; then
        echo "demo: that ended with $code, and $expected was expected" >&2
        exit 1
    fi
}

# show FOLDER: the files in it, but for the journal, and the first line of one of them.
show() {
    printf '\n$ cd %s; find . -type f; cat etc/motd\n' "$1"
    (cd "$1" && find . -path ./var/lib/mesh-host -prune -o -type f -print | sort && cat etc/motd)
}

echo 'A document can be planned without a store. One machine is refused, so this ends with 3.'
run 3 mesh plan --file examples/homelab/mesh.toml

printf '\nNow in a store, mistake included: a refusal is recorded only when one says --anyway.\n'
run 0 mesh init
run 0 mesh import examples/homelab/mesh.toml --anyway
run 3 mesh plan pi

printf '\nThe fix, as the refusal names it.\n'
run 0 mesh assign vps postfix
run 0 mesh plan

printf '\nA machine, under a folder that stands for it: what pi would be told, applied.\n'
machine="$folder/pi"
mkdir -p "$machine/etc"
printf 'Welcome to pi.\n' >"$machine/etc/motd"
mesh declare pi --json >"$folder/pi-1.json"
run 0 mesh-host apply "$folder/pi-1.json" --root "$machine"
show "$machine"

printf '\nTwo modules taken off: their files go, and what was there before comes back.\n'
printf 'That is six things at once; a machine gives back so many only with the word for it.\n'
run 0 mesh unassign pi motd restic
mesh declare pi --json --generation 2 --allow-removals >"$folder/pi-2.json"
run 0 mesh-host apply "$folder/pi-2.json" --root "$machine"
show "$machine"
