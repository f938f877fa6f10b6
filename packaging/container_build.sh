#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# First stage of the container file, run on a Debian machine in the folder of the sources.
# Installs required packages, Kokkos and moho into the prefix. Programs and libraries run on every
# processor of the architecture.
#
# usage: packaging/container_build.sh <prefix> [<target>...]    default: all targets

set -euo pipefail
prefix=$1
shift
cmake/bootstrap.sh --portable
cmake -S . -B build/container -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DMOHO_TESTS=OFF \
  -DMOHO_BENCH=OFF -DMOHO_DOCS=OFF -DMOHO_NATIVE=OFF
if [ $# -gt 0 ]; then
  cmake --build build/container --target "$@"
else
  cmake --build build/container
  cmake --install build/container
fi
