#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs small tests of a CUDA build with NVIDIA's compute-sanitizer, and fails on any finding:
#
#   tests/racecheck.sh [<build folder>] [racecheck|memcheck|synccheck ...]
#
# The default build folder is build/cuda, the default tool racecheck. The targets racecheck and
# memcheck of the preset cuda build the tests and run this script. docs/checks.md, "On a GPU",
# describes what the tools detect, and why racecheck excludes two kernels.
#
# COMPUTE_SANITIZER is the path of the program, if it is neither in PATH nor in /usr/local/cuda/bin.
# MOHO_CHECK_SECONDS (default 600) limits the time of a run. Its log is <build
# folder>/tests/<tool>.<test>.log; if the build folder is read-only, set MOHO_CHECK_LOGS to a folder
# for logs. MOHO_CHECK_TESTS is a regular expression that selects tests.

set -uo pipefail

build=build/cuda
tools=()
for argument in "$@"; do
  case $argument in
    racecheck | memcheck | synccheck) tools+=("$argument") ;;
    *) build=$argument ;;
  esac
done
if [ ${#tools[@]} -eq 0 ]; then tools=(racecheck); fi
seconds=${MOHO_CHECK_SECONDS:-600}
logs=${MOHO_CHECK_LOGS:-$build/tests}
only=${MOHO_CHECK_TESTS:-.}

sanitizer=${COMPUTE_SANITIZER:-}
for candidate in "$(command -v compute-sanitizer || true)" /usr/local/cuda/bin/compute-sanitizer; do
  if [ -z "$sanitizer" ] && [ -x "$candidate" ]; then sanitizer=$candidate; fi
done
if [ -z "$sanitizer" ]; then
  echo "racecheck: compute-sanitizer was not found (looked into COMPUTE_SANITIZER, PATH and" \
    "/usr/local/cuda/bin): install it with the CUDA toolkit" >&2
  exit 2
fi

# Kernels whose threads access the same words of shared memory without a barrier, by design.
#
# These are moho::rays::relax_tiles and moho::eikonal::visit, by the names of their functors, and
# Kokkos's parallel_scan, whose warnings do not concern moho's code.
racing=(RelaxTilesOnDevice TeamVisit ParallelScanWithTotal)

# The tests of a tool with their filters: every kernel of every module once, on small grids.
# shellcheck disable=SC2034 # read by its name
memcheck=(
  "rays.contract *cuda.*"
  "eikonal.contract *cuda.*"
  "eikonal.methods Methods/cuda_float.GridsThatAreFlatAlongAnAxis:Sources/cuda.*"
  "eikonal.analytic Homogeneous/cuda_float.MediaAreExactWithSourcesNearTheFacesOfTiles"
  "wave.contract *cuda.*"
  "wave.propagator PropagatorTest/cuda_float.IsItsReferenceForEveryOrderAndFaceIn?D"
  "wave.points PointsTest/cuda_float.*"
  "wave.source_region SourceRegion/cuda.DeltaGoesOverIntoEpsilon"
  "rtm.contract *cuda.*"
  "domain.expand Expand/cuda.LayersInAConstantVelocity:Expand/cuda.FacesMoveAsTheAmplitudeSays"
  "gravity.contract *cuda.*"
  "fwi.contract *cuda.*"
  "stream.stream Stream/cuda_float.RecordsBetweenSteps"
)
# shellcheck disable=SC2034 # read by its name
racecheck=(
  "core.launch *cuda*"
  "rays.contract *cuda.*"
  "eikonal.contract *cuda.*"
  "wave.contract *cuda.*"
  "wave.propagator PropagatorTest/cuda_float.IsItsReferenceAtOrder8"
  "wave.points PointsTest/cuda_float.PlainSums"
  "rtm.contract *cuda.*"
  "gravity.contract *cuda.*"
  "fwi.contract *cuda.*"
)
# shellcheck disable=SC2034 # read by its name
synccheck=("rays.contract *cuda.*" "eikonal.contract *cuda.*" "wave.contract *cuda.*" "gravity.contract *cuda.*")

failed=0

# check <tool> <test> <filter> <log> [options of compute-sanitizer]
#
# Sets $summary to the last summary.
check() {
  local tool=$1 test=$2 filter=$3 log=$4 status
  shift 4
  if [ ! -x "$build/tests/$test" ]; then
    echo "racecheck: there is no $build/tests/$test: build the target moho_tests first" >&2
    exit 2
  fi
  OMP_NUM_THREADS=2 OMP_PROC_BIND=false timeout "$seconds" "$sanitizer" --tool "$tool" --print-limit 20 "$@" \
    "$build/tests/$test" --gtest_brief=1 --gtest_filter="$filter" >"$log" 2>&1
  status=$?
  summary=$(grep -E 'SUMMARY: ' "$log" | tail -n 1)
  return $status
}

for tool in "${tools[@]}"; do
  declare -n runs=$tool
  for run in "${runs[@]}"; do
    read -r test filter <<<"$run"
    if ! [[ $test =~ $only ]]; then continue; fi
    options=()
    if [ "$tool" = racecheck ]; then
      for kernel in "${racing[@]}"; do options+=(--kernel-name-exclude "kns=$kernel"); done
    fi
    start=$SECONDS
    log=$logs/$tool.$test.log
    check "$tool" "$test" "$filter" "$log" "${options[@]}"
    status=$?
    case $summary in
      *"SUMMARY: 0 errors"* | *"SUMMARY: 0 hazards displayed"*) clean=1 ;;
      *) clean=0 ;;
    esac
    # a filter that matches no test checks nothing
    if ! grep -q 'PASSED' "$log" || grep -Eq '^\[=+\] 0 tests' "$log"; then clean=0; fi
    if [ $status -ne 0 ] || [ $clean -ne 1 ]; then
      failed=1
      echo "FAILED  $tool $test $filter (status $status, $((SECONDS - start)) s): $log"
      grep -E 'Error:|Warning:|hazard|Invalid|SUMMARY|FAILED' "$log" | head -n 20
    else
      printf 'passed  %s %s (%d s)\n' "$tool" "$test" $((SECONDS - start))
    fi
  done
done

# Racecheck must report the hazards of the excluded kernels: this verifies the tool and the names.
for tool in "${tools[@]}"; do
  if [ "$tool" != racecheck ]; then continue; fi
  for known in "rays.contract RaysContract/cuda.EveryMethod2D RelaxTilesOnDevice" \
    "eikonal.contract EikonalContract/cuda.Solvers2D TeamVisit"; do
    read -r test filter kernel <<<"$known"
    if ! [[ $test =~ $only ]]; then continue; fi
    log=$logs/racecheck.$kernel.log
    check racecheck "$test" "$filter" "$log" --kernel-name "kns=$kernel" --launch-count 40
    if [[ $summary =~ SUMMARY:\ ([0-9]+)\ hazard ]] && [ "${BASH_REMATCH[1]}" -gt 0 ]; then
      echo "passed  racecheck sees the ${BASH_REMATCH[1]} known hazards of $kernel"
    else
      failed=1
      echo "FAILED  racecheck sees no hazard in $kernel, which has some by design: $log"
      tail -n 5 "$log"
    fi
  done
done
exit $failed
