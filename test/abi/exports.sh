#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the installed libraries promise the linker: soname, exact sizes of the data that programs copy (api/objects.txt,
# lib/cxx/symbols.txt), no binding inside the library, and no symbol of our own.
set -eu
libdir=$("$MPICC" -showme:libdirs)
library=$libdir/libmpi.so.40
status=0
wrong() {
    echo "$*"
    status=1
}

libraries=(libmpi libmpi_mpifh libmpi_usempif08 libmpi_usempi_ignore_tkr)
[ "$TERN_HAVE_CXX" = no ] || libraries+=(libmpi_cxx)
for name in "${libraries[@]}"; do
    readelf -dW "$libdir/$name.so" | grep -qF "Library soname: [$name.so.40]" || wrong "$name.so has another soname"
    ! readelf -dW "$libdir/$name.so" | grep -q SYMBOLIC || wrong "$name.so is linked with -Bsymbolic"
done

# symbols LIBRARY: type, binding, visibility, size, name of what it exports
symbols() {
    readelf --dyn-syms -W "$1" | awk '$1 ~ /^[0-9]+:$/ && $7 != "UND" && NF == 8 { print $4, $5, $6, $3, $8 }'
}
symbols=$(symbols "$library")
# Our Fortran libraries use these, and libmpi_abi the last two.
own=$(printf '%s\n' "$symbols" | awk '$5 ~ /^tern_/ && $5 !~ /^tern_(fortran_(calls|few|follow|handle|refuse|tables)|core|face_calls)$/ { print $5 }')
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

# libmpi_cxx: these symbols, data of these sizes, and no others
if [ "$TERN_HAVE_CXX" != no ]; then
    difference=$(diff <(grep -v '^#' "$TERN_SRCDIR/lib/cxx/symbols.txt") \
        <(symbols "$libdir/libmpi_cxx.so.40" | awk '{ print $5, ($1 == "OBJECT" ? $4 : "-") }' | LC_ALL=C sort)) ||
        wrong "symbols of libmpi_cxx (<: lacking, >: too many):" "$difference"
    [ "$(grep -vc '^#' "$TERN_SRCDIR/lib/cxx/symbols.txt")" = 400 ] || wrong "lib/cxx/symbols.txt has not 400 symbols"
fi
exit $status
