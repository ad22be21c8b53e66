#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The programs of test/mpi between two hosts, all messages by libfabric (also those within a host). Some of them over each
# provider; all, at all their numbers of ranks, with TERN_TEST_LONG, then also by two network cards of each host together. To try
# one provider, or other programs:
#
#     OFI_PROVIDERS="net" OFI_PROGRAMS="coll_*" make check TESTS=hosts/ofi_programs.sh
#
# OFI_RANKS="2 4": only these numbers of ranks. OFI_DEVICES="eth0 eth0,eth1": first by one card, then by both. Each list is
# separated by blanks.
HOSTS=2 NICS=2
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$(dirname "$0")/hosts.bash"
printf 'n1 slots=8\nn2 slots=8\n' >hosts
programs=(bidirectional_big cancel_everywhere coll_alltoall finalize_flushes non_overtaking random_traffic thread_everything
    truncate_everywhere type_strided_rendezvous)
ranks=(--ranks 2 --ranks 3)
# Not these: programs that name a byte mover themselves, that need all ranks on one host (the memory of a node, processes that
# each sees of the others, parts of one machine), or that need other jobs, which are reached by tcp.
not_these=(coll_board_without_blocking comm_split_type_guided comm_split_type_parts port_threads rank_is_there_once
    session_sender_leaves_first tool_cvars topo_map win_objects)
if [ -n "${TERN_TEST_LONG:-}" ]; then
    ranks=()
    mapfile -t programs < <(cd "$here/../mpi" && grep -LE '^/\* ranks:.*OMPI_MCA_btl=' ./*.c | sed 's,^\./,,; s,\.c$,,' |
        grep -vxF "$(printf '%s\n' "${not_these[@]}")")
fi
[ -z "${OFI_PROGRAMS:-}" ] || read -ra programs <<<"$OFI_PROGRAMS"
[ -z "${OFI_RANKS:-}" ] || read -ra ranks <<<"--ranks ${OFI_RANKS// / --ranks }"
read -ra providers <<<"${OFI_PROVIDERS:-net tcp;ofi_rxm udp;ofi_rxd}"
read -ra cards <<<"${OFI_DEVICES:-eth0 ${TERN_TEST_LONG:+eth0,eth1}}"
for devices in "${cards[@]}"; do
    for provider in "${providers[@]}"; do
        on 1 env "OMPI_MCA_btl_ofi_provider=$provider" \
            "MPIRUN=$MPIRUN --hostfile $PWD/hosts --map-by node --oversubscribe --mca btl ofi,self --mca btl_ofi_device $devices" \
            "$PYTHON3" -B "$here/../mpi/run" --build "$scratch/programs" "${ranks[@]}" "${programs[@]}" >runs 2>&1 ||
            { grep -v '^ok' runs; complain "$provider, $devices: some programs fail"; }
        echo "$provider, $devices: $(tail -n 1 runs)"
    done
done
finish
