#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs from Open MPI's mpicxx carry its C++ bindings and need libmpi_cxx.so.40, even when they only call C functions.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/bin/mpicxx.openmpi libopenmpi-dev

# build SOURCE PROGRAM: and see that it needs both libraries and loads ours
build() {
    mpicxx.openmpi -O2 -x c++ "$1" -o "$2" >compile.out 2>&1 || fail "$1 does not compile" compile.out
    readelf -d "$2" | grep -q 'NEEDED.*libmpi_cxx\.so\.40' || fail "$2 does not need libmpi_cxx.so.40"
    uses_our_library "./$2"
    grep -qF "libmpi_cxx.so.40 => $libdir/" ldd.out || fail "$2 does not load our libmpi_cxx.so.40" ldd.out
}

build "$TERN_SRCDIR/examples/hello.c" hello
build "$TERN_SRCDIR/test/dropin/cxx_bindings.cpp" bindings
for ranks in 1 2 4; do
    mpi $ranks out ./hello
    [ "$(grep -c "^Hello from rank . of $ranks " out)" = $ranks ] || fail "hello on $ranks ranks" out
    mpi $ranks out ./bindings
    [ "$(grep -c ' is right$' out)" = $ranks ] || fail "bindings on $ranks ranks" out
done
