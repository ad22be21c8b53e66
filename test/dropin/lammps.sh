#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# LAMMPS: a Lennard-Jones liquid, cut into domains; energy and pressure do not depend on the number of ranks.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
. "$TERN_SRCDIR/test/dropin/inputs.bash"
needs /usr/bin/lmp lammps
uses_our_library /usr/bin/lmp

write_lammps_input >liquid.in

# last_row OUTPUT: atoms, potential energy, total energy, pressure after step 80
last_row() { awk '$1 == 80 && NF == 5 { print $2, $3, $4, $5; exit }' "$1"; }

for ranks in 0 1 2 4; do
    mpi $ranks out.$ranks lmp -log none -in liquid.in
    grep -q 'Loop time of' out.$ranks || fail "no end on $ranks ranks" out.$ranks
    read -r atoms potential total pressure <<<"$(last_row out.$ranks)"
    read -r _ potential0 total0 pressure0 <<<"$(last_row out.0)"
    [ "$atoms" = 840 ] || fail "$atoms atoms on $ranks ranks instead of 840" out.$ranks
    close_to "$potential" "$potential0" 1e-4 "potential energy on $ranks ranks"
    close_to "$total" "$total0" 1e-4 "total energy on $ranks ranks"
    close_to "$pressure" "$pressure0" 1e-3 "pressure on $ranks ranks"
done
