# SPDX-License-Identifier: BSD-3-Clause
# Sourced by every script here. MPIRUN names the launcher under test. A script counts what it found wrong and ends with `finish`.
set -u
: "${MPIRUN:?names the mpirun to test}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tern-test-mpirun.XXXXXX") || exit 1
cd "$scratch" || exit 1
trap 'cd /; rm -rf "$scratch"' EXIT
# Jobs of this script get a session directory of their own, so that what they leave behind can be seen.
mkdir tmp
export TMPDIR=$scratch/tmp LC_ALL=C
unset "${!OMPI_@}" "${!PMIX_@}" "${!TERN_NODE_@}" TERN_SESSION_DIR TERN_VERSION
wrong=0
# LEAVE_SIGNALS=yes, set before: a sanitizer has no handlers of its own for signals that faults raise.
if [ -n "${SAN:-}" ] && [ -n "${LEAVE_SIGNALS:-}" ]; then
    left=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:use_sigaltstack=0
    export ASAN_OPTIONS=$ASAN_OPTIONS:$left UBSAN_OPTIONS=$UBSAN_OPTIONS:$left TSAN_OPTIONS=$TSAN_OPTIONS:$left
fi

# A job that should end by itself has this many seconds; without the bug tested for it needs a fraction, on a machine that does much
# else, too. A script whose bug is a wait of two minutes, as for a connection, sets less.
job_limit_s=300
[ -z "${SAN:-}" ] || job_limit_s=600
limit() { timeout -k 30 "$job_limit_s" "$@"; }

# run ARGUMENT...: mpirun with them; leaves rc, and standard output and error in the files out and err
run() {
    limit "$MPIRUN" "$@" >out 2>err
    rc=$?
}

complain() {
    echo "WRONG: $*"
    [ -s out ] && { echo "  out:"; head -n 20 out; }
    [ -s err ] && { echo "  err:"; head -n 20 err; }
    wrong=$((wrong + 1))
}

# is WHAT GOT WANTED
is() { [ "$2" = "$3" ] || complain "$1: got '$2', wanted '$3'"; }
# has WHAT FILE REGEX; hasnt
has() { grep -qE -- "$3" "$2" || complain "$1: no '$3' in $2"; }
hasnt() { ! grep -qE -- "$3" "$2" || complain "$1: '$3' in $2"; }
# eventually WHAT COMMAND...: becomes true, within two minutes, for the machine may be slow and do much else
eventually() {
    local what=$1 begin=$SECONDS
    shift
    while [ $((SECONDS - begin)) -lt 120 ]; do
        "$@" && return 0
        sleep 0.05
    done
    complain "$what: did not come true"
    return 1
}

# A number that only processes of this script's jobs have on their command line.
mark=$((40000 + $$ % 20000)).$RANDOM
# marked: processes with the mark
marked() { pgrep -f "sleep $mark" >/dev/null; }
none_marked() { ! marked; }
tmp_is_empty() { [ -z "$(ls -A "$TMPDIR")" ]; }

# Is this the long run (make check-long)?
in_long() { [ -n "${TERN_TEST_LONG:-}" ]; }

finish() {
    [ "$wrong" = 0 ] || echo "$wrong wrong"
    [ "$wrong" = 0 ]
    exit
}
