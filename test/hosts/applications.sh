#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's hpcc, lammps, netpipe and a test of ScaLAPACK, as they were built against Open MPI, run on our library over four hosts with two ranks each,
# without a parameter; what they compute is right.
HOSTS=4
. "$(dirname "$0")/hosts.bash"
. "$here/../dropin/inputs.bash"
. "$here/../needs.bash"
needs /usr/bin/hpcc hpcc
needs /usr/bin/lmp lammps
needs /usr/bin/NPopenmpi netpipe-openmpi
for ((host = 1; host <= HOSTS; host++)); do echo "n$host slots=2"; done >hosts
scalapack=$(echo /usr/lib/*/scalapack/openmpi-tests)
needs "$scalapack/xdlu" scalapack-mpi-test
libdir=$("$MPICC" -showme:libdirs)
export LD_LIBRARY_PATH=$libdir OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
program_run() { run --hostfile hosts -x LD_LIBRARY_PATH -x OMP_NUM_THREADS -x OPENBLAS_NUM_THREADS "$@"; }

program_run sh -c 'ldd /usr/bin/hpcc /usr/bin/lmp /usr/bin/NPopenmpi'
is "programs load our library on all hosts" "$rc $(grep -cF "libmpi.so.40 => $libdir/" out)" "0 24"

order=128 maps=node largest=100000
[ -z "${TERN_TEST_LONG-}" ] || order=1000 maps="slot node" largest=4000000
write_hpcc_input 2 4 $order >hpccinf.txt
for map in $maps; do
    rm -f hpccoutf.txt
    program_run --map-by "$map" hpcc
    # Some updates of its MPIRandomAccess get lost when messages are slow, with Open MPI's tcp too: no word of that here.
    is "hpcc, ranks by $map" "$rc $(grep -cE '^CommWorldProcs=8$|^End of HPC Challenge tests|PASSED$' hpccoutf.txt)" "0 3"
    hasnt "hpcc, ranks by $map" hpccoutf.txt 'FAILED$'
    has "hpcc, ranks by $map" hpccoutf.txt '^MPIFFT_maxErr=[0-9.]+e-1[0-9]$'
done

write_lammps_input >liquid.in
# energies after step 80, to five digits
energies() { awk '$1 == 80 && NF == 5 { printf "%d %.4f %.4f\n", $2, $3, $4; exit }' "$1"; }
run -n 1 -x LD_LIBRARY_PATH lmp -log none -in liquid.in
is "lammps, one rank" "$rc" 0
alone=$(energies out)
program_run --map-by node lmp -log none -in liquid.in
is "lammps" "$rc $(energies out)" "0 $alone"

# LU factorisations, in check-long on several shapes of grids; it counts the residuals that are small enough
if [ -n "${TERN_TEST_LONG-}" ]; then
    cp "$scalapack/LU.dat" .
else
    sed '/number of problems sizes/s/^4/2/
        /number of process grids/s/^4/1/
        /values of P/s/^[ 0-9]*/2 /
        /values of Q/s/^[ 0-9]*/4 /' "$scalapack/LU.dat" >LU.dat
fi
program_run --map-by node "$scalapack/xdlu"
is "scalapack" "$rc $(grep -cE '^ +[1-9][0-9]* tests completed and passed|^ +0 tests completed and failed' out)" "0 2"

for options in "" "-a -2"; do
    # shellcheck disable=SC2086 # options are words
    run --host n1,n4 -x LD_LIBRARY_PATH NPopenmpi $options -i -n 5 -u $largest -o np.out
    is "netpipe $options" "$rc" 0
    hasnt "netpipe $options" err 'check failed'
    [ "$(grep -c 'Integrity check passed' err)" -ge 25 ] || complain "netpipe $options: not all sizes were checked"
done
finish
