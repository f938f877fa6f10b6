#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Prepares a Debian system for building moho. It can be run repeatedly: installed parts are kept.

set -euo pipefail

usage() {
  cat <<'TEXT'
usage: cmake/bootstrap.sh [--developer] [--portable] [--help]

1. Installs the Debian packages that moho needs (only those that are missing; as root or with sudo).
2. Looks for Kokkos with OpenMP as CMake would (Kokkos_ROOT and CMAKE_PREFIX_PATH are honoured). If there is
   none, builds it and Kokkos Kernels for this machine from the distribution's Trilinos source
   package, into the folder .deps of the source tree, which git ignores.

  --developer   also installs what .ci/run needs: clang-format, clang-tidy, codespell, shellcheck, ruff and Doxygen,
                and for the tests of shots over clusters Slurm, munge, an ssh server and rsync, of which no service
                is started. Where the distribution has no ruff, pip installs it into .deps/ruff. pip installs nanobind,
                with which the Python package is built, into .deps/python.
  --portable    builds Kokkos for every processor of this architecture instead of the one that is here: for
                containers and packages
TEXT
}

developer=no
portable=no
for argument in "$@"; do
  case "$argument" in
    --developer) developer=yes ;;
    --portable) portable=yes ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; echo "bootstrap: unknown option '$argument'" >&2; exit 2 ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=$root/.deps
prefix=$deps/install
stamp=$prefix/moho-bootstrap.txt
logs=$deps/logs

say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }
fail() { printf 'bootstrap: %s\n' "$*" >&2; exit 1; }

# Runs a command quietly; prints the end of its output if it fails.
logged() {
  local log=$logs/$1.log
  shift
  "$@" >"$log" 2>&1 </dev/null || {
    tail -n 40 "$log" >&2
    fail "'$1' failed; all of its output is in $log"
  }
}

# ---- 1. packages ------------------------------------------------------------------------------------

# The tools that Kokkos needs come first; the other packages are installed while Kokkos is built.
tools=(g++ cmake ninja-build)
packages=(libboost-program-options-dev libgtest-dev libgmock-dev libbenchmark-dev libsegyio-dev libsodium-dev libfmt-dev
  nlohmann-json3-dev libopenmpi-dev openmpi-bin python3 python3-dev python3-matplotlib python3-numpy python3-venv)
if [ "$developer" = yes ]; then
  packages+=(git clang-format-14 clang-tidy-14 codespell shellcheck python3-scipy doxygen slurmctld slurmd slurm-client munge openssh-server openssh-client rsync)
fi

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

updated=no
install_packages() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "Debian packages: installed are $*"
    return
  fi
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    fail "packages are missing, and this is neither root nor is there sudo; as root, run:
  apt-get install ${missing[*]}"
  fi
  say "Debian packages: installing ${missing[*]}"
  if [ "$updated" = no ]; then logged apt-update as_root apt-get update -q; fi
  updated=yes
  logged "apt-install-${missing[0]}" as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
    --no-install-recommends "${missing[@]}"
}

mkdir -p "$logs"
debian=no
if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  debian=yes
  install_packages "${tools[@]}"
else
  say "This is no Debian machine. Install what these Debian packages hold, if it is not there yet:"
  say "  ${tools[*]} ${packages[*]}"
fi
command -v cmake >/dev/null || fail "cmake is not in PATH: install CMake 3.25 or newer"

# ---- 2. Kokkos and Kokkos Kernels -------------------------------------------------------------------

# Runs in the background, and therefore ends with exit, not with return.
provide_kokkos() {
  generator=()
  if command -v ninja >/dev/null; then generator=(-G Ninja); fi

  rm -rf "$deps/probe"
  logged probe cmake -S "$root/cmake/probe" -B "$deps/probe" "${generator[@]}"
  found=$(cat "$deps/probe/found.txt")
  if [ -n "$found" ]; then
    say "Kokkos: using the one that is there, $found"
    exit 0
  fi

  flags=""
  if [ "$portable" = no ] && echo 'int main() {}' | ${CXX:-c++} -march=native -x c++ -fsyntax-only - 2>/dev/null; then
    flags="-march=native"
  fi
  # The stamp contains the processor's features: a folder copied to another machine is rebuilt.
  identity="$(uname -m) $(grep -m1 '^flags' /proc/cpuinfo 2>/dev/null | cksum) $(${CXX:-c++} -dumpfullversion)"
  if [ "$portable" = yes ]; then identity+=" portable"; fi
  if [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$identity" ]; then
    say "Kokkos: using the one built earlier, $(tail -n 1 "$stamp")"
    exit 0
  fi

  command -v apt-get >/dev/null ||
    fail "there is no Kokkos with OpenMP, and no apt-get to fetch its sources: install Kokkos 3.4 or newer
    (-DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON) and Kokkos Kernels, and set CMAKE_PREFIX_PATH"

  # apt reads the source entries and keeps its lists in a private folder. The configuration of the
  # system is unchanged, and root is not needed. Signatures are checked as usual.
  apt_root=$deps/apt
  apt_private=(-q -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$apt_root/sources"
    -o "Dir::State::lists=$apt_root/lists" -o "Dir::Cache=$apt_root/cache")

  # Writes the system's binary entries, converted to source entries.
  #
  # Only entries that offer Trilinos are written if the package lists identify them, otherwise all.
  # A list identifies an entry as "file:number": the line of a .list file or the paragraph of a
  # .sources file.
  write_source_entries() {
    local LIST="" PARTS="" wanted="" words description file out
    eval "$(apt-config shell LIST Dir::Etc::sourcelist/f PARTS Dir::Etc::sourceparts/d)"
    while read -r description; do
      # shellcheck disable=SC2016 # apt-get replaces it
      wanted+=" $(apt-get indextargets --format '$(SOURCESENTRY)' 'Created-By: Packages' \
        "Description: $description" 2>/dev/null | tr '\n' ' ')"
    done < <(apt-cache policy trilinos-dev 2>/dev/null | sed -n 's/^ \+[0-9]\+ \(.* Packages\)$/\1/p')
    read -r -a words <<<"$wanted"
    wanted="${words[*]}"
    for file in "$LIST" "$PARTS"/*.list "$PARTS"/*.sources; do
      file=${file//\/\//\/}
      [ -f "$file" ] || continue
      out=$apt_root/sources/$(basename "$file")
      case "$file" in
        *.sources)
          awk -v file="$file" -v wanted=" $wanted " '
            BEGIN { RS = ""; FS = "\n" }
            { if (tolower($0) ~ /(^|\n)enabled: *(no|false)/) next
              if (wanted !~ /^ *$/ && index(wanted, " " file ":" NR " ") == 0) next
              sub(/(^|\n)[Tt]ypes:[^\n]*/, "\nTypes: deb-src"); sub(/^\n/, ""); print $0 "\n" }' \
            "$file" >"$out" ;;
        *)
          awk -v file="$file" -v wanted=" $wanted " '
            /^[ \t]*deb[ \t]/ {
              if (wanted !~ /^ *$/ && index(wanted, " " file ":" NR " ") == 0) next
              sub(/^[ \t]*deb/, "deb-src"); print }' "$file" >"$out" ;;
      esac
    done
  }

  rm -rf "$apt_root" "$prefix" "$deps/src" "$deps/build"
  mkdir -p "$apt_root"/{sources,lists/partial,cache/archives/partial,download} "$deps/src"
  say "Kokkos: none with OpenMP is there; fetching the distribution's Trilinos source package"
  write_source_entries
  grep -qs deb-src "$apt_root"/sources/* ||
    fail "apt's configuration names no package source: install Kokkos and set CMAKE_PREFIX_PATH"
  # An unreachable entry is harmless if another one has the package.
  apt-get "${apt_private[@]}" update >"$logs/apt-sources.log" 2>&1 </dev/null || true
  # shellcheck disable=SC2317 # called by its name
  fetch_sources() { cd "$apt_root/download" && apt-get "${apt_private[@]}" source --download-only --tar-only trilinos; }
  logged apt-source fetch_sources
  tarball=$(find "$apt_root/download" -name 'trilinos_*.orig.tar.*' ! -name '*.asc' | head -n 1)
  [ -n "$tarball" ] || fail "apt-get downloaded no Trilinos sources; see $logs/apt-source.log"

  say "Kokkos: unpacking $(basename "$tarball")"
  logged unpack tar -xf "$tarball" -C "$deps/src" --strip-components=2 --wildcards \
    '*/packages/kokkos' '*/packages/kokkos-kernels'
  for package in kokkos kokkos-kernels; do
    [ -f "$deps/src/$package/CMakeLists.txt" ] ||
      fail "$(basename "$tarball") holds no packages/$package: install Kokkos and set CMAKE_PREFIX_PATH"
  done

  # build <package> <options>...
  build() {
    local package=$1
    shift
    say "Kokkos: building $package with $(nproc) processes"
    logged "$package" cmake -S "$deps/src/$package" -B "$deps/build/$package" "${generator[@]}" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
      -DCMAKE_CXX_STANDARD=20 -DCMAKE_CXX_FLAGS="$flags -w" -DCMAKE_POSITION_INDEPENDENT_CODE=ON "$@"
    logged "$package-build" cmake --build "$deps/build/$package" --parallel "$(nproc)"
    logged "$package-install" cmake --install "$deps/build/$package"
  }
  build kokkos -DKokkos_CXX_STANDARD=20 -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=ON \
    -DKokkos_ENABLE_TESTS=OFF -DKokkos_ENABLE_EXAMPLES=OFF
  build kokkos-kernels -DKokkos_DIR="$prefix/lib/cmake/Kokkos" -DKokkosKernels_ADD_DEFAULT_ETI=OFF \
    -DKokkosKernels_ENABLE_TESTS=OFF -DKokkosKernels_ENABLE_EXAMPLES=OFF \
    -DKokkosKernels_ENABLE_TPL_BLAS=OFF -DKokkosKernels_ENABLE_TPL_LAPACK=OFF

  version=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)").*/\1/Ip' "$prefix/lib/cmake/Kokkos/KokkosConfigVersion.cmake")
  printf '%s\n%s\n' "$identity" "Kokkos $version in $prefix" >"$stamp"
  rm -rf "$apt_root" "$deps/src" "$deps/build" "$deps/probe"
  say "Kokkos: installed version $version into $prefix"
}

provide_kokkos &
kokkos=$!
# Waits even if the installation of packages fails, so that no background process remains.
trap 'wait "$kokkos"' EXIT
if [ "$debian" = yes ]; then install_packages "${packages[@]}"; fi
trap - EXIT
wait "$kokkos" || fail "there is no Kokkos; the reason is above"

# ---- 3. ruff ----------------------------------------------------------------------------------------

# Without ruff .ci/run skips its checks, so that a failure here is not an error.
if [ "$developer" = yes ] && ! "$root/.ci/ruff" --version >/dev/null 2>&1; then
  if [ -n "$(apt-cache search --names-only '^ruff$' 2>/dev/null)" ]; then
    install_packages ruff
  elif python3 -m venv "$deps/ruff" >"$logs/ruff.log" 2>&1 &&
    "$deps/ruff/bin/pip" install --quiet 'ruff>=0.5,<1' >>"$logs/ruff.log" 2>&1; then
    say "ruff: installed into $deps/ruff"
  else
    say "ruff: not installed, see $logs/ruff.log"
  fi
fi

# ---- 4. nanobind ------------------------------------------------------------------------------------

# Without it builds leave the Python package out, so that a failure here is not an error. The distribution's Python
# has NumPy and SciPy, which its tests use.
if [ "$developer" = yes ] && ! "$deps/python/bin/python" -m nanobind --version >/dev/null 2>&1; then
  python=python3
  if [ "$debian" = yes ]; then python=/usr/bin/python3; fi
  if "$python" -m venv --clear --system-site-packages "$deps/python" >"$logs/nanobind.log" 2>&1 &&
    "$deps/python/bin/pip" install --quiet 'nanobind>=3.0,<4' >>"$logs/nanobind.log" 2>&1; then
    say "nanobind: installed into $deps/python"
  else
    say "nanobind: not installed, see $logs/nanobind.log"
  fi
fi
say "ready"
