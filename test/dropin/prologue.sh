# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by the scripts here, each of which runs a program as Debian built it against its own Open MPI, on the library
# in $TERN_PREFIX. A program that is not installed is a failure: the promise cannot be shown without it. Only
# what this system's archive does not have is skipped.
set -u
export LC_ALL=C OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
libdir=$("$TERN_PREFIX/bin/mpicc" -showme:libdirs) || exit 1

scratch=$(mktemp -d) || exit 1
trap 'cd / && rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# fail WHY [FILE]: ends the test, showing the end of FILE
fail() {
    printf '%s\n' "$1"
    if [ $# -gt 1 ]; then
        printf -- '--- end of %s:\n' "$2"
        tail -n 30 "$2"
    fi
    exit 1
}

. "$TERN_SRCDIR/test/needs.bash"

# uses_our_library PROGRAM: its libmpi.so.40 is the one under test
uses_our_library() {
    LD_LIBRARY_PATH=$libdir ldd "$1" >ldd.out 2>&1
    grep -qF "libmpi.so.40 => $libdir/" ldd.out || fail "$1 does not load $libdir/libmpi.so.40" ldd.out
}

# mpi RANKS OUTPUT COMMAND...: runs it within five minutes, output into a file; no launcher for 0 ranks
mpi() {
    local ranks=$1 output=$2 status=0 launcher=()
    shift 2
    [ "$ranks" = 0 ] || launcher=("$MPIRUN" -n "$ranks")
    LD_LIBRARY_PATH=$libdir timeout -k 30 300 "${launcher[@]}" "$@" >"$output" 2>&1 </dev/null || status=$?
    [ $status = 0 ] || fail "exit status $status (124: no end within five minutes) of $* on $ranks ranks" "$output"
}

# close_to A B TOLERANCE WHAT
close_to() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN {
        number = "^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$"
        exit !(a ~ number && b ~ number && (a > b ? a - b : b - a) <= t) }' ||
        fail "$4: '$1' and '$2' differ by more than $3"
}

# install_from_index ARGUMENT...: `pip install ARGUMENT...` into the virtual environment env, which it makes, output into
# pip.out. Skips the test where the package index cannot be reached. Returns pip's exit status.
install_from_index() {
    "$PYTHON3" -m venv env >venv.out 2>&1 || fail 'no virtual environment; as root: apt-get install python3-venv' venv.out
    PIP_DISABLE_PIP_VERSION_CHECK=1 env/bin/pip install --no-compile "$@" >pip.out 2>&1 </dev/null && return
    grep -qE 'ConnectionError|NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError' pip.out || return
    echo 'SKIPPED: the package index cannot be reached'
    exit 77
}
