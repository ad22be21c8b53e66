#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The programs of test/mpi, compiled for the standard interface (mpicc_abi), do what they do for Open MPI's: callbacks, statuses,
# errors, attributes, types' contents, requests, windows, files, processes. In `make check` those that show most of the conversions;
# TERN_TEST_LONG=1 runs all.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chosen='attribute_callbacks attribute_predefined cart_shift coll_board_without_blocking coll_on_subcomms errhandler_user error_in_status
    file_data_representations generalized_requests group_ranges group_translate_compare info_keys intercomm_p2p mprobe_mrecv neighbor_every_topology
    op_create_large op_user partitioned_errors persistent_restart proc_null request_get_status_many status_fields tool_cvars tool_pvars
    type_envelope type_envelope_large type_f90 waitsome_drains_all win_long_and_single win_lock_turns'
cd "$TERN_SRCDIR/test/mpi"
for program in *.c; do
    name=${program%.c}
    if ! grep -q "^$name " "$TERN_SRCDIR/test/face/left_out.txt" && { [ -n "${TERN_TEST_LONG:-}" ] || grep -qw "$name" <<<"$chosen"; }; then
        programs+=("$program")
    fi
done
echo "${#programs[@]} programs"
[ "${#programs[@]}" -gt 20 ]
export MPICC=$TERN_PREFIX/bin/mpicc_abi CFLAGS="-O1 -w -include stddef.h"
"$PYTHON3" -B run --build "$scratch" --slow 3 ${TERN_TEST_LONG:+-j 3} "${programs[@]}" >"$scratch/out" 2>&1 || { grep -vE '^ok ' "$scratch/out"; exit 1; }
tail -n 1 "$scratch/out"
