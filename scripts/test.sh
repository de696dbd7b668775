#!/usr/bin/env bash
# Does all the set-up on a Debian machine and passes the tests: unit and fuzz-seed tests under sanitizers, engine and
# end-to-end tests on a real Docker and a real Podman, benchmarks with their limits, lint. As root, or with sudo.
#
#   scripts/test.sh                   everything
#   scripts/test.sh -L unit           whatever else ctest takes: only one label, one test (-R), ...
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages "${build_packages[@]}" "${image_packages[@]}" \
    libcmocka-dev clang-format clang-tidy valgrind python3-venv podman runc
build build -DBUILD_TESTING=ON
build build-sanitized -DCMAKE_BUILD_TYPE=Debug -DMEMCAL_SANITIZE="address,undefined"

find_engine
docker_host=${DOCKER_HOST:-unix:///var/run/docker.sock}
start_podman "${TMPDIR:-/tmp}/memcal-test-podman.sock"
trap 'scripts/podman-service.sh --stop "${podman_host#unix://}" >/dev/null 2>&1 || true' EXIT
MEMCAL_TEST_ENGINES=$docker_host
[ "$docker_host" = "$podman_host" ] || MEMCAL_TEST_ENGINES="$docker_host $podman_host"
export MEMCAL_TEST_ENGINES

say "building the images"
DOCKER_HOST=$docker_host build/memcal image build

# One summary over both builds.
mkdir -p build/all
printf 'subdirs("%s" "%s")\n' "$root/build-sanitized" "$root/build" >build/all/CTestTestfile.cmake
say "testing on $MEMCAL_TEST_ENGINES"
ctest --test-dir build/all --output-on-failure --timeout 900 "$@"
