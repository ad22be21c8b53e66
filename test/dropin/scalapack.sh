#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ScaLAPACK's own testers, Fortran with mpif.h: LU factorization, QR, and the BLACS below them. The BLACS tester ends by
# BLACS_ABORT, which is MPI_Abort.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
testers=/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests
needs $testers/xdlu scalapack-mpi-test
uses_our_library $testers/xdlu
cp $testers/*.dat $testers/BLACS/*.dat .

for tester in xdlu xcqr; do
    mpi 4 out $testers/$tester
    passed=$(awk '/tests completed and passed/ { n += $1 } END { print n + 0 }' out)
    failed=$(awk '/tests completed and failed/ { n += $1 } END { print n + 0 }' out)
    if [ "$passed" = 0 ] || [ "$failed" != 0 ]; then
        fail "$tester: $passed passed, $failed failed" out
    fi
done

# fewer topologies and destinations: hours of sums otherwise
sed -i "/topologies/s/^8/2/; /src.dest/s/^4/2/" bsbr.dat
sed -i "/topologies/s/^4/2/; /Coherence/s/^2/0/; /Number of dests/s/^4/2/" comb.dat
LD_LIBRARY_PATH=$libdir timeout -k 30 300 "$MPIRUN" -n 4 $testers/BLACS/xFbtest >out 2>&1 </dev/null &&
    fail "xFbtest: exit status 0 after its BLACS_ABORT" out
grep -q 'The final auxiliary test is for BLACS_ABORT' out || fail "xFbtest did not reach its end" out
[ "$(grep -cE 'TESTS; .* 0 FAILED|PASSED ALL +[0-9]+ TESTS' out)" = 22 ] || fail "xFbtest: not 22 passed groups" out
! grep -qE ' [1-9][0-9]* FAILED|INVALID' out || fail "xFbtest: a test failed" out
