#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the installed libraries promise the linker: soname, exact sizes of the data that programs copy (api/objects.txt),
# no binding inside the library, and no symbol of our own.
set -eu
libdir=$("$MPICC" -showme:libdirs)
library=$libdir/libmpi.so.40
status=0
wrong() {
    echo "$*"
    status=1
}

for name in libmpi libmpi_cxx libmpi_mpifh libmpi_usempif08 libmpi_usempi_ignore_tkr; do
    readelf -dW "$libdir/$name.so" | grep -qF "Library soname: [$name.so.40]" || wrong "$name.so has another soname"
    ! readelf -dW "$libdir/$name.so" | grep -q SYMBOLIC || wrong "$name.so is linked with -Bsymbolic"
done

symbols=$(readelf --dyn-syms -W "$library" | awk '$1 ~ /^[0-9]+:$/ && $7 != "UND" && NF == 8 { print $4, $5, $6, $3, $8 }')
# Our Fortran libraries use these.
own=$(printf '%s\n' "$symbols" | awk '$5 ~ /^tern_/ && $5 !~ /^tern_fortran_(calls|finish_with|handle|refuse|tables)$/ { print $5 }')
[ -z "$own" ] || wrong "exported, but nobody's business:" "$own"
protected=$(printf '%s\n' "$symbols" | awk '$3 != "DEFAULT" { print $5 }')
[ -z "$protected" ] || wrong "not of default visibility:" "$protected"

# objects.txt: symbol kind size ...
objects=0
while read -r name _ size _; do
    objects=$((objects + 1))
    found=$(printf '%s\n' "$symbols" | awk -v name="$name" '$5 == name && $1 == "OBJECT" { print $4 }')
    [ "$found" = "$size" ] || wrong "$name has ${found:-no} bytes instead of $size"
done < <(sed 's/#.*//' "$TERN_SRCDIR/api/objects.txt" | awk 'NF >= 3')
[ $objects -ge 100 ] || wrong "only $objects objects in api/objects.txt"
exit $status
