#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NetCDF-4 on parallel HDF5, and PnetCDF with its tools: what ranks write together and by themselves, another rank reads, and
# so do programs that know nothing of MPI. Nothing lies beside the files.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
# Debian 11, 12 and 13 have the two libraries in versions of their own.
# newest FILE...: the last of those that exist
newest() { printf '%s\n' "$@" | while read -r file; do [ ! -e "$file" ] || echo "$file"; done | sort -V | tail -n 1; }
libraries=/usr/lib/$(gcc -print-multiarch)
netcdf=$(newest "$libraries"/libnetcdf_mpi.so.??)
pnetcdf=$(newest "$libraries"/libpnetcdf.so.*)
needs "${netcdf:-$libraries/libnetcdf_mpi.so}" libnetcdf-mpi-18 libnetcdf-mpi-19 libnetcdf-mpi-22
needs "${pnetcdf:-$libraries/libpnetcdf.so}" libpnetcdf0d libpnetcdf6
needs /usr/bin/ncmpidiff pnetcdf-bin
uses_our_library "$netcdf"
uses_our_library "$pnetcdf"
uses_our_library /usr/bin/ncmpidiff
cp "$TERN_SRCDIR/test/dropin/netcdf_parts.py" parts.py
mkdir data
cd data || exit 1

for ranks in 1 3; do
    for kind in netcdf pnetcdf; do
        library=${!kind}
        mpi $ranks ../out /usr/bin/python3 ../parts.py $kind "$library"
        grep -q 'all numbers are right' ../out || fail "$kind on $ranks ranks" ../out
    done
    ncvalidator -q p.nc >../out 2>&1 || fail "ncvalidator finds faults" ../out
    mpi 0 ../out ncmpidump p.nc
    [ "$(grep -cE "(^|[ ,])$((1100 + 4 * ranks - 1)) ;$" ../out)" = 2 ] || fail "the last numbers are missing in p.nc" ../out
done

cat >t.cdl <<'TEXT'
netcdf t {
dimensions: y = 3 ; x = 5 ; t = UNLIMITED ;
variables: double a(y,x) ; a:units = "m" ; int r(t,x) ;
data:
 a = 1,2,3,4,5, 11,12,13,14,15, 21,22,23,24,25 ;
 r = 1,2,3,4,5, 7,8,9,10,11 ;
}
TEXT
mpi 0 ../out ncmpigen -b -o one.nc t.cdl
mpi 2 ../out ncmpigen -b -o two.nc t.cdl
mpi 3 ../out ncmpidiff one.nc two.nc
! grep -q DIFF ../out || fail "files of 1 and 2 ranks differ" ../out
cmp one.nc two.nc || fail "files of 1 and 2 ranks are not the same bytes"
[ "$(find . -not -name '*.nc' -not -name '*.cdl' -not -name .)" = "" ] || fail "files beside the data: $(ls -A)"
