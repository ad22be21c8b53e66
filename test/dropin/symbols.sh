#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Of every program and library on this machine that was built against Open MPI, all symbols of MPI are there but those of
# the inside of Open MPI's Fortran libraries.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/hpcc hpcc
needs /usr/bin/NPopenmpi netpipe-openmpi
needs /usr/bin/lmp lammps
needs /usr/bin/gmx_mpi_d gromacs
uses_our_library /usr/bin/hpcc

# All ELF files that load libmpi.so.40, themselves or through other libraries; Open MPI's own parts left out.
find /usr/bin /usr/lib -type f -size +1k \( -perm -u+x -o -name '*.so*' \) -print0 2>/dev/null |
    xargs -0 -n 400 readelf -d >dynamic.out 2>/dev/null
"$PYTHON3" - dynamic.out >files <<'EOF'
import os, re, sys
needs, names, of = {}, {}, None
for line in open(sys.argv[1], errors="replace"):
    if line.startswith("File: "):
        of = line[6:].strip()
        needs[of], names[of] = set(), os.path.basename(of)
    elif found := re.search(r"\((NEEDED|SONAME)\).*\[(.*)\]", line):
        if found[1] == "NEEDED":
            needs[of].add(found[2])
        else:
            names[of] = found[2]
reached, last = {"libmpi.so.40"}, None
while len(reached) != last:
    last = len(reached)
    reached |= {names[file] for file in needs if needs[file] & reached}
own = re.compile(r"/openmpi3?/(lib/openmpi3|lib)/|/(libmpi|libmca_|libopen-|libompi|liboshmem)[^/]*\.so|/(ompi|oshmem)_info$")
print("\n".join(sorted(file for file in needs if needs[file] & reached and not own.search(file))))
EOF
count=$(wc -l <files)
[ "$count" -ge 10 ] || fail "only $count files that load libmpi.so.40: the search is wrong" files

while read -r file; do
    LD_BIND_NOW=1 LD_LIBRARY_PATH=$libdir ldd -r "$file" 2>&1 | grep -E 'undefined symbol|symbol lookup error'
done <files | sort | uniq -c >unresolved
grep -E ' P?MPIX?_| (ompi|opal|orte|pmix|mca)_' unresolved |
    grep -vE 'undefined symbol: ompi_.*/libmpi_(mpifh|usempi|usempif08)[^/]*\)' >missing
[ ! -s missing ] || fail "symbols of MPI that are missing (files that load what needs them, symbol, who needs it)" missing
echo "$count files"
