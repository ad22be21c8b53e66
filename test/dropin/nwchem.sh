#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NWChem: energy and forces of a water molecule. Its Global Arrays are windows: lock_all, accumulates, counters.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/nwchem.openmpi nwchem
uses_our_library /usr/bin/nwchem.openmpi

cat >water.nw <<'EOF'
start water
memory 200 mb
geometry units angstrom
  O  0.00000000  0.0  0.11726921
  H  0.75698224  0.0 -0.46907685
  H -0.75698224  0.0 -0.46907685
end
basis
  * library 6-31g
end
task scf gradient
EOF
mpi 3 out /usr/bin/nwchem.openmpi water.nw
energy=$(sed -n 's/.*Total SCF energy = *//p' out | head -n 1)
# the same on one rank, without operations between ranks
rm -f water.*[!w]
mpi 1 alone /usr/bin/nwchem.openmpi water.nw
close_to "$energy" "$(sed -n 's/.*Total SCF energy = *//p' alone | head -n 1)" 1e-6 "the energy by 3 ranks and by 1"
close_to "$energy" -75.98398 1e-4 "the energy of water"
