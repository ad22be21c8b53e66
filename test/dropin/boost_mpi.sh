#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A Boost.MPI program, compiled and linked by Debian's mpic++ with Debian's libboost_mpi.
. "$TERN_SRCDIR/test/dropin/prologue.sh"
needs /usr/include/boost/mpi.hpp libboost-mpi-dev
needs /usr/bin/mpic++.openmpi libopenmpi-dev
# Without NDEBUG Boost.MPI aborts where it would throw.
mpic++.openmpi -std=c++17 -O0 -DNDEBUG "$TERN_SRCDIR/test/dropin/boost_mpi.cpp" -o boost_mpi -lboost_mpi -lboost_serialization \
    >compile.out 2>&1 || fail "it does not compile" compile.out
uses_our_library ./boost_mpi

mpi 0 out ./boost_mpi
grep -qx '0 failures on 1 ranks' out || fail "without a launcher" out
for ranks in 1 2 4; do
    mpi $ranks out ./boost_mpi
    grep -qx "0 failures on $ranks ranks" out || fail "on $ranks ranks" out
done
