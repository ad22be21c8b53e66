#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Many packets of several ranks at once (packets.c) over each provider: none is lost, none changes another one.
set -u
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$TERN_SRCDIR/test/mpirun/check.bash"
"$MPICC" -O1 -I"$TERN_SRCDIR/test/mpi" -o packets "$TERN_SRCDIR/test/ofi/packets.c" || exit 1
for provider in net "tcp;ofi_rxm" "udp;ofi_rxd" "udp;ofi_rxd" "udp;ofi_rxd"; do # a buffer that came back too early was seen in two of three runs
    run --oversubscribe -n 3 --mca btl ofi,self --mca btl_ofi_provider "$provider" ./packets
    is "$provider" "$rc $(cat err)" "0 "
done
finish
