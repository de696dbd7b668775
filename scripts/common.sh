# What quickstart.sh and test.sh share; sourced, not run. Bash.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() {
    printf '\n== %s\n' "$*" >&2
}

die() {
    printf 'memcal set-up: %s\n' "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "needs root for: $* (run as root, or install sudo)"
    fi
}

# Installs those of the given Debian packages that are missing.
packages() {
    command -v dpkg-query >/dev/null || die "this script installs with apt; elsewhere install these and build by README: $*"
    local missing=() name
    for name in "$@"; do
        dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
    done
    [ ${#missing[@]} = 0 ] && return
    say "installing ${missing[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

build_packages=(gcc libc6-dev cmake ninja-build pkg-config ca-certificates tzdata curl
    libcurl4-openssl-dev libjansson-dev libsqlite3-dev libarchive-dev libssl-dev libyaml-dev libmicrohttpd-dev)
# mmdebstrap makes the base image where no registry answers; pip fetches Hermes's locked wheels.
image_packages=(mmdebstrap python3 python3-pip)

# build FOLDER [cmake options]
build() {
    local folder=$1
    shift
    say "building into $folder"
    cmake -S . -B "$folder" -G Ninja "$@" >"$folder.log" 2>&1 || { cat "$folder.log" >&2; die "cmake failed"; }
    ninja -C "$folder" >"$folder.log" 2>&1 || { tail -n 40 "$folder.log" >&2; die "the build failed; see $folder.log"; }
}

# True where an engine answers at the place that memcal finds.
engine_answers() {
    "$root/build/memcal" doctor --json 2>/dev/null |
        python3 -c 'import json, sys; sys.exit(not json.load(sys.stdin).get("engine"))' 2>/dev/null
}

# An engine: the one that is there, else an installed Docker's daemon, else Podman.
find_engine() {
    engine_answers && return
    if [ "$(id -u)" = 0 ] && command -v dockerd >/dev/null && [ -z "${DOCKER_HOST:-}" ]; then
        say "starting the Docker daemon"
        dockerd >/var/log/memcal-dockerd.log 2>&1 </dev/null &
        for _ in $(seq 60); do
            sleep 0.5
            engine_answers && return
        done
    fi
    say "no engine answers: using Podman"
    packages podman runc
    start_podman "${XDG_RUNTIME_DIR:-/tmp}/memcal-podman.sock"
    export DOCKER_HOST=$podman_host
    engine_answers || { "$root/build/memcal" doctor >&2; die "no engine answers"; }
}

# start_podman SOCKET: sets podman_host; a service of ours that already answers there is used again.
start_podman() {
    podman_host=unix://$1
    if ! curl --silent --fail --max-time 2 --noproxy '*' --unix-socket "$1" http://localhost/_ping >/dev/null 2>&1; then
        [ ! -e "$1" ] || scripts/podman-service.sh --stop "$1" >/dev/null 2>&1 || rm -f "$1"
        podman_host=$(scripts/podman-service.sh "$1")
    fi
}
