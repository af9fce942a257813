#!/bin/sh
# The main job, on the homelab: plan it, see the one refusal and its fix, apply the fix, plan again.
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

echo 'A document can be planned without a store. One machine is refused, so this ends with 3.'
run 3 mesh plan --file examples/homelab/mesh.toml

printf '\nNow in a store, mistake included: a refusal is recorded only when one says --anyway.\n'
run 0 mesh init
run 0 mesh import examples/homelab/mesh.toml --anyway
run 3 mesh plan pi

printf '\nThe fix, as the refusal names it.\n'
run 0 mesh assign vps postfix
run 0 mesh plan
