#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Coarray Fortran: OpenCoarrays' own tests as Debian built them, on windows (dynamic ones, attach, locks, compare-and-swap).
# Left out: those that wait for input; image_fail_*, which kill an image and need an MPI that goes on without it; and
# increment_my_neighbor, in which an image sets its part after MPI_Win_allocate while its neighbour gets and puts it: nothing orders
# the two. (If an image sleeps behind MPI_Win_allocate, it fails in 10 of 10 runs with Open MPI 4.1, too.)
. "$TERN_SRCDIR/test/dropin/prologue.sh"
tests=(/usr/lib/*/open-coarrays/openmpi/bin/OpenCoarrays-*-tests)
needs "${tests[0]}" libcoarrays-openmpi-dev
uses_our_library "${tests[0]}/register"

# images(NAME): how many the program wants
images() {
    case $1 in
    sync_team | team_number | issue-493-coindex-slice) echo 8 ;;
    issue-515-mimic-mpi-gatherv) echo 2 ;;
    *) echo 4 ;;
    esac
}

programs=(alloc_comp_send_convert_nums allocatable_p2p_event_post atomics co_broadcast_derived_type_test co_reduce_test
    coarray_distributed_transpose comp_allocated_2 get_with_vector_index issue-503-non-contig-red-ndarray
    issue-515-mimic-mpi-gatherv register_alloc_comp_3 sendget_convert_nums static_event_post_issue_293 strided_sendget
    syncimages_status team_number teams_coarray_sendget)
if [ -n "${TERN_TEST_LONG:-}" ]; then
    programs=()
    for program in "${tests[0]}"/*; do
        case $(basename "$program") in
        image_fail* | increment_my_neighbor | issue-488-* | issue-552-*) ;;
        *) programs+=("$(basename "$program")") ;;
        esac
    done
    [ ${#programs[@]} -ge 60 ] || fail "only ${#programs[@]} programs in ${tests[0]}"
fi
for program in "${programs[@]}"; do
    mpi "$(images "$program")" out "${tests[0]}/$program"
    grep -qai 'test passed' out || fail "$program does not say that it has passed" out
done
