#!/bin/sh
# Which version of mesh-host runs on this machine: renew check|apply|remove|watch VERSION [SECONDS]
#
# Declared by the mesh. A version is a virtual environment in /opt/mesh-host/VERSION, and what the unit runs is said
# in a drop-in; without one it is the program that joined. Nothing here changes the unit, the credential or the journal.
set -eu
version=$2
programs=/opt/mesh-host
program=$programs/$version/bin/mesh-host
dropin=/etc/systemd/system/mesh-host.service.d/50-version.conf
before=$programs/before-$version
failed=$programs/$version-failed
# Wheels that somebody brought here. Without the folder pip takes them from wherever it is told to, by itself PyPI.
wheels=/var/lib/mesh-host-wheels

says_its_version() {
    [ "$("$program" --version 2>/dev/null)" = "mesh-host $version" ]
}

is_said() {
    grep -qxF "ExecStart=$program run" "$dropin" 2>/dev/null
}

install_it() {
    rm -rf "${programs:?}/$version"
    python3 -m venv "$programs/$version"
    set -- --quiet --no-input --disable-pip-version-check
    [ ! -d "$wheels" ] || set -- "$@" --no-index --find-links "$wheels"
    "$programs/$version/bin/pip" install "$@" "meshwright==$version"
}

say_it() {
    mkdir -p "${dropin%/*}"
    printf '[Service]\nExecStart=\nExecStart=%s run\n' "$program" >"$dropin.new"
    mv "$dropin.new" "$dropin"
    systemctl daemon-reload
}

unsay_it() {
    if [ -e "$before" ]; then mv "$before" "$dropin"; else rm -f "$dropin"; fi
    systemctl daemon-reload
}

apply() {
    if [ -e "$failed" ]; then
        echo "mesh-host $version did not come up here, and the one before runs; to try again: rm $failed" >&2
        exit 1
    fi
    mkdir -p "$programs"
    says_its_version || install_it
    says_its_version || { echo "$program does not say that it is $version" >&2; exit 1; }
    "$program" probe --json >/dev/null
    rm -f "$before"
    [ ! -e "$dropin" ] || cp "$dropin" "$before"
    say_it
    # Not now: whoever runs this may be mesh-host, which has to say first what came of it.
    systemd-run --quiet --collect --on-active=20 "$0" watch "$version"
}

# Outside of mesh-host, which it ends: the new one is up once it has told systemd so.
watch() {
    [ "$(systemctl is-active mesh-host)" != inactive ] || exit 0
    systemctl restart mesh-host || :
    for _ in 1 2 3 4 5 6; do
        sleep "$1"
        systemctl is-active --quiet mesh-host || continue
        rm -f "$before"
        exit 0
    done
    : >"$failed"
    unsay_it
    systemctl restart mesh-host
}

case $1 in
check) says_its_version && is_said ;;
apply) apply ;;
remove) ! is_said || { rm -f "$dropin"; systemctl daemon-reload; } ;;
watch) watch "${3:-10}" ;;
esac
