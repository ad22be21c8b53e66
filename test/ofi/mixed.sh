#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that use different providers, or no fabric at all, as on hosts with different networks: tcp connects them, whichever of two
# ranks looks for the other first.
set -u
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$TERN_SRCDIR/test/mpirun/check.bash"
for program in send_recv_all_pairs random_traffic; do
    "$MPICC" -O1 -I"$TERN_SRCDIR/test/mpi" -o $program "$TERN_SRCDIR/test/mpi/$program.c" -lm || exit 1
done
"$MPICC" -O1 -o long_messages "$TERN_SRCDIR/test/ofi/long_messages.c" || exit 1
export OMPI_MCA_btl=ofi,tcp,self
# the first message is long: it is announced before either rank knows how it reaches the other
for providers in "net tcp;ofi_rxm" "tcp;ofi_rxm net" "udp;ofi_rxd net"; do
    run --oversubscribe -n 1 --mca btl_ofi_provider "${providers% *}" ./long_messages 4 : \
        -n 1 --mca btl_ofi_provider "${providers#* }" ./long_messages 4
    is "long messages, $providers" "$rc $(cat out err)" "0 all bytes are right"
done
# libfabric 1 calls net what libfabric 2 calls tcp: either name finds it
OMPI_MCA_btl=ofi,self run --oversubscribe -n 1 --mca btl_ofi_provider net ./long_messages 4 : \
    -n 1 --mca btl_ofi_provider tcp ./long_messages 4
is "net and tcp are one" "$rc $(cat out err)" "0 all bytes are right"
# where ofi is permitted and has no provider, it is not said to be missing
OMPI_MCA_btl=ofi,self run --oversubscribe -n 2 --mca btl_ofi_provider nothing ./long_messages 4
[ "$rc" != 0 ] || complain "no provider: the ranks reach each other"
has "no provider" err 'excludes shm and tcp, one of which is needed on a node, as ofi cannot be used here'
for program in send_recv_all_pairs random_traffic; do
    run --oversubscribe -n 1 --mca btl_ofi_provider net ./$program : -n 1 --mca btl_ofi_provider "tcp;ofi_rxm" ./$program
    is "$program, two providers" "$rc $(cat err)" "0 "
    run --oversubscribe -n 1 ./$program : -n 1 --mca btl_ofi_provider net ./$program
    is "$program, one without a fabric" "$rc $(cat err)" "0 "
    run --oversubscribe -n 2 --mca btl_ofi_provider net ./$program : -n 1 env OMPI_MCA_btl=tcp,self ./$program : \
        -n 2 --mca btl_ofi_provider "tcp;ofi_rxm" ./$program
    is "$program, two providers and a rank that may use tcp only" "$rc $(cat err)" "0 "
done
# libfabric does not encrypt: asked for encryption, the ranks leave it out and say so, or refuse if it is asked for by name.
unset OMPI_MCA_btl
run -n 2 --mca btl ^shm --mca btl_tcp_encrypt 1 --mca btl_ofi_provider net ./send_recv_all_pairs
is "encrypted" "$rc $(grep -c 'the fabric is not used, because btl_tcp_encrypt is 1 and' err)" "0 1"
run -n 2 --mca btl ofi,tcp,self --mca btl_tcp_encrypt 1 --mca btl_ofi_provider net ./send_recv_all_pairs
[ "$rc" != 0 ] || complain "ofi by name and encryption: exit status 0"
has "ofi by name and encryption" err 'btl_tcp_encrypt is 1, and libfabric does not encrypt messages, but the parameter btl is `ofi,tcp,self`'
# Too few descriptors for a connection to each peer: the ranks say so, and use tcp where they may. Nobody waits for an answer that
# never comes.
for descriptors in 12 15 17 19 20 21; do
    for provider in net "tcp;ofi_rxm"; do
        run --oversubscribe -n 4 --mca btl ofi,self --mca btl_ofi_provider "$provider" \
            bash -c 'ulimit -n "$1"; exec ./send_recv_all_pairs' - $descriptors
        [ "$rc" = 0 ] || has "$provider, $descriptors descriptors" err 'raise its limit .ulimit -n.|Too many open files|Input/output error|no free file descriptor'
        [ "$rc" != 124 ] || complain "$provider, $descriptors descriptors: the job hangs"
    done
done
finish
