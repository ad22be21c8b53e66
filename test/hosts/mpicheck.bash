# SPDX-License-Identifier: BSD-3-Clause
# For scripts that plant a fault and ask mpicheck: sourced behind hosts.bash.
#
# Other programs of this machine may keep mpicheck from measuring. Then it says BUSY and ends with 3: that is right, and is tried again;
# at last the script goes on without this answer and says so. It is wrong if nobody else uses the processors. An accusation of
# somebody who is well is always wrong.

TRIES=3

# check ARGUMENT...: mpicheck with them on n1; leaves rc, the page in out, and the reports in the folder report
check() {
    rm -rf report
    watch_others
    timeout -k 5 300 nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- "$TERN_PREFIX/bin/mpicheck" --out report "$@" >out 2>err
    rc=$?
}

# Returns true if all accusations in out are among the regular expressions, and each of these is there.
all_said() {
    local regex
    [ "$(grep -cE '^(FAIL|WARN|DATA)' out)" = $# ] || return 1
    for regex in "$@"; do grep -qE -- "$regex" out || return 1; done
}

# Complains of each accusation in out that none of the regular expressions matches.
no_others_said() {
    local what=$1 line regex known
    shift
    while read -r line; do
        known=0
        for regex in "$@"; do [[ ! $line =~ $regex ]] || known=1; done
        [ $known = 1 ] || complain "$what: nobody has this fault: $line"
    done < <(grep -E '^(FAIL|WARN|DATA)' out)
}

# expects WHAT STATUS REGEX... -- ARGUMENT...: mpicheck with the arguments accuses as the regular expressions say, one line each, and
# ends with the status. Leaves measured: 1, or 0 if this machine was too busy.
expects() {
    local what=$1 status=$2 wanted=() try
    shift 2
    while [ "$1" != -- ]; do
        wanted+=("$1")
        shift
    done
    shift
    measured=1
    for ((try = 1; try <= TRIES; try++)); do
        check "$@"
        no_others_said "$what" ${wanted[@]+"${wanted[@]}"}
        # --per nic prints a page for each interface, and its name
        [ "$(grep -vc '^interface ' out)" -le $((25 * $(grep -c '^mpicheck ' out))) ] || complain "$what: more than 25 lines"
        [ ! -s err ] || complain "$what: messages"
        if all_said ${wanted[@]+"${wanted[@]}"}; then
            [ "$rc" != "$status" ] || return
            # what was asked for is said, beside what could not be measured
            [ ${#wanted[@]} = 0 ] || [ "$rc" != 3 ] || ! grep -q '^BUSY' out || ! others_are_busy || return
        fi
        if ! grep -q '^BUSY' out || ! others_are_busy; then
            complain "$what: status $rc, wanted $status; accusations wanted: ${wanted[*]-none}"
            return
        fi
        [ "$wrong" = 0 ] || return
    done
    # shellcheck disable=SC2034 # for the script that reads this
    measured=0
    echo "$what: not measured, others use $others % of the processors: $(grep '^BUSY' out | head -n 1)"
}
