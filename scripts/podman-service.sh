#!/usr/bin/env bash
# Serves Podman's Docker-compatible API on a Unix socket, for tests and CI and for whoever has no systemd.
#
#   scripts/podman-service.sh SOCKET          starts it, waits until it answers, prints unix://SOCKET
#   scripts/podman-service.sh --stop SOCKET   stops it and removes its data
#
# Data, settings and the log lie beside the socket in SOCKET.d/, apart from any other Podman on the host.
# PODMAN (default podman), PODMAN_RUNTIME (default runc where it is installed: crun refuses hybrid cgroups) and
# PODMAN_STORAGE (overlay or vfs; default: overlay where it works) may be set.
set -euo pipefail

podman=${PODMAN:-podman}

usage() {
    sed -n '4,5s/^# *//p' "$0" >&2
    exit 2
}

die() {
    echo "podman-service: $*" >&2
    exit 1
}

settings() { # DRIVER
    cat >"$dir/storage.conf" <<CONF
[storage]
driver = "$1"
graphroot = "$dir/storage"
runroot = "$dir/run"
CONF
    cat >"$dir/containers.conf" <<CONF
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "$runtime"
tmp_dir = "$dir/tmp"
volume_path = "$dir/storage/volumes"
[network]
network_config_dir = "$dir/networks"
CONF
}

choose_storage() {
    local driver
    for driver in ${PODMAN_STORAGE:-overlay vfs}; do
        rm -rf "$dir/storage" "$dir/run"
        settings "$driver"
        if "$podman" info >>"$dir/log" 2>&1; then
            return
        fi
    done
    die "podman does not start with any storage driver; see $dir/log"
}

answers() {
    curl --silent --fail --max-time 2 --noproxy '*' --unix-socket "$socket" http://localhost/_ping >/dev/null 2>&1
}

start() {
    command -v "$podman" >/dev/null || die "podman is not installed ('apt-get install podman runc')"
    [ ${#socket} -le 107 ] || die "the socket's path has more than 107 bytes: $socket"
    [ ! -e "$socket" ] || die "$socket is there already; stop it first with '$0 --stop $socket'"
    mkdir -p "$dir"
    cd "$dir" # conmon leaves a file "oom" wherever the service was started
    choose_storage
    "$podman" system service --time=0 "unix://$socket" >>"$dir/log" 2>&1 </dev/null &
    local pid=$!
    echo "$pid" >"$dir/pid"
    for _ in $(seq 100); do
        if answers; then
            echo "unix://$socket"
            return
        fi
        kill -0 "$pid" 2>/dev/null || die "podman ended: $(tail -n 3 "$dir/log")"
        sleep 0.1
    done
    kill "$pid"
    die "podman did not answer in 10 s; see $dir/log"
}

stop() {
    [ -d "$dir" ] || die "nothing was started at $socket"
    "$podman" rm --all --force --time 0 >>"$dir/log" 2>&1 || true
    if [ -s "$dir/pid" ]; then
        local pid
        pid=$(<"$dir/pid")
        # The number may be another program's by now.
        if [ "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -c "system service .*$socket")" = 1 ]; then
            kill "$pid"
            while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
        fi
    fi
    cd /
    # Not "system reset": it takes away bridges of other engines, docker0 among them. What is mounted there is unmounted.
    "$podman" rmi --all --force >>"$dir/log" 2>&1 || true
    local mounted
    while mounted=$(awk -v at="$dir/" 'index($2, at) == 1 { last = $2 } END { print last }' /proc/mounts) && [ -n "$mounted" ]; do
        umount --lazy "$mounted" || break
    done
    rm -rf "$dir" "$socket"
}

command=start
if [ "${1:-}" = --stop ]; then
    command=stop
    shift
fi
[ $# = 1 ] && [ -n "$1" ] || usage
socket=$(realpath -m "$1")
dir=$socket.d
runtime=${PODMAN_RUNTIME:-$(command -v runc >/dev/null && echo runc || echo crun)}
export CONTAINERS_STORAGE_CONF=$dir/storage.conf CONTAINERS_CONF=$dir/containers.conf
$command
