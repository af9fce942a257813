#!/bin/sh
# Installs what some tests need of Debian and is not there: those that boot whole machines
# (tests/integration/lab), those of other package managers and of containers (tests/integration/host), and those
# that talk to a RabbitMQ, which they start themselves (tests/integration/broker), and those that build and publish
# (tests/integration/build). Machines are joined by WireGuard, and have a PostgreSQL each.
# Says and does nothing when all is there; where it cannot install, says what will be skipped. No service is
# started by it, and those that come by it are not enabled either.
set -eu

# systemd boots the machines. dbus is how their systemd answers `systemd-run --wait` and the like.
# init-system-helpers has what the scripts of a package with a service call. dnf and pacman install into
# roots of their own, from repositories that the tests make (rpm, createrepo-c). A container's image is made
# of busybox, and run by podman with crun. rabbitmq-server is the broker, openssl makes the certificates that it
# shows. Builds are shut in by bubblewrap, images made by buildah and carried by skopeo to docker-registry.
# What ships is asked by curl, and installs the host program with python3-venv. iproute2 and nftables make the
# network between machines, in which wireguard-go stands in for the kernel's WireGuard; ping asks who is there.
# postgresql comes with a cluster, which no machine's own may share; psycopg2 is how programs talk to one.
packages='systemd dbus init-system-helpers dnf rpm createrepo-c pacman-package-manager
    podman crun busybox-static rabbitmq-server openssl
    git bubblewrap buildah skopeo docker-registry
    curl python3-venv
    iproute2 nftables iputils-ping wireguard-tools wireguard-go
    postgresql-common postgresql python3-psycopg2'
policy=/usr/sbin/policy-rc.d

missing() {
    for package in $packages; do
        dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null |
            grep -qx installed || printf ' %s' "$package"
    done
}

skipped() {
    echo "the tests of whole machines, packages, containers, brokers and builds will be skipped: $1"
    exit 0
}

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || skipped 'this is no Debian'
wanted=$(missing)
[ -n "$wanted" ] || exit 0
[ "$(id -u)" = 0 ] || skipped "not root, and not installed:$wanted"

echo "installing for the tests of whole machines, packages, containers, brokers and builds:$wanted"
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    trap 'exit 1' HUP INT TERM
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
# The cluster that postgresql makes is in the language of whoever installs it; without one it takes no umlaut.
export DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8
install() {
    apt-get -qq -o DPkg::Lock::Timeout=120 update &&
        # shellcheck disable=SC2086
        apt-get -qq -o DPkg::Lock::Timeout=120 install --yes --no-install-recommends $wanted >/dev/null
}
install || skipped "apt could not install$wanted"
# Works on files, so also where systemd does not run. Only what came by this.
for package in $wanted; do
    case $package in
    podman) services='podman.socket podman.service podman-restart.service podman-auto-update.service
        podman-auto-update.timer' ;;
    docker-registry) services='docker-registry.service' ;;
    rabbitmq-server) services='rabbitmq-server.service epmd.service epmd.socket' ;;
    # Else a PostgreSQL that was here before is stopped from being started by one that comes beside it.
    postgresql-common) services='postgresql.service' ;;
    nftables) services='nftables.service' ;;
    *) continue ;;
    esac
    # shellcheck disable=SC2086
    systemctl --quiet disable $services 2>/dev/null || :
done
