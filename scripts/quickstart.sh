#!/usr/bin/env bash
# Does all the set-up on a Debian machine, runs two lives through three harnesses, and ends by naming the report to open.
# As root, or with sudo. May be run again at once: what is built stays built.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages "${build_packages[@]}" "${image_packages[@]}"
build build -DBUILD_TESTING=OFF
find_engine
say "building the images (the first time takes some minutes)"
build/memcal image build
say "running manifests/runs/quickstart.yaml"
build/memcal run manifests/runs/quickstart.yaml --sandbox docker
