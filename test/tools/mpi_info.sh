#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi_info says what is true: procedures "yes" are exported and declared; the others are exported, for programs that mention them
# and never call them, and not declared. Parameters show the value in force and where it comes from.
set -eu
bin=$(dirname "$MPICC")
libdir=$("$MPICC" -showme:libdirs)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() {
    echo "$*"
    exit 1
}

# the first lines are Open MPI's own
[ "$("$bin/mpi_info" --version | head -n 1)" = "Open MPI v5.0.7" ] || fail "--version: not Open MPI's first line"
"$bin/ompi_info" -V | sed -n 2p | grep -q '^Tern MPI ' || fail "-V: Tern is not on the second line"
[ "$("$bin/mpirun" --version | head -n 1)" = "mpirun (Open MPI) 5.0.7" ] || fail "mpirun --version: not Open MPI's first line"
"$bin/mpirun" -V | sed -n 2p | grep -q '^Tern MPI ' || fail "mpirun -V: Tern is not on the second line"
[ "$("$bin/ompi_info" --parsable --path bindir)" = "path:bindir:$(realpath "$bin")" ] || fail "--path bindir: $("$bin/ompi_info" --parsable --path bindir)"
for page in mpiexec orterun ompi_info mpicxx mpif90; do
    [ -e "$("$bin/ompi_info" --path mandir --parsable | cut -d: -f3)/man1/$page.1" ] || fail "no manual page $page"
done
[ "$("$bin/ompi_info" --path libdir | wc -l)" = 1 ] || fail "--path libdir: not one line"
! "$bin/ompi_info" --path nowhere 2>/dev/null || fail "--path nowhere is accepted"
"$bin/ompi_info" --arch --parsable | grep -q "^config:arch:$(uname -m)-" || fail "--arch: $("$bin/ompi_info" --arch --parsable)"
[ "$("$bin/ompi_info" --hostname --parsable)" = "config:host:$(hostname)" ] || fail "--hostname"
"$bin/ompi_info" | grep -q '^ *MCA btl: tcp (' || fail "no line MCA btl: tcp"
"$bin/ompi_info" --parsable --pretty-print --selected-only | grep -q ' MCA btl: self (' || fail "--pretty-print"
OMPI_MCA_btl_tcp_links=3 "$bin/ompi_info" --param btl tcp -l 9 --parsable | grep -qx 'mca:btl:tcp:param:btl_tcp_links:value:3' ||
    fail "no mca:btl:tcp:param:btl_tcp_links:value:3"
"$bin/ompi_info" --type bool --parsable | grep ':type:' | grep -v ':type:bool$' && fail "--type bool shows others"
"$bin/ompi_info" --parsable --all >all
grep -qx 'ompi:version:full:5.0.7' all || fail "no ompi:version:full:4.1.4"
grep -q '^option:hmem:\(no$\|yes, where the provider offers FI_HMEM\)' all || fail "nothing on device memory by libfabric"
grep -qx 'mca:mpi:base:param:mpi_built_with_cuda_support:value:true' all || fail "nothing on CUDA support"

"$bin/mpi_info" --parsable --procedures | sed -n 's/^procedure:\(.*\):yes$/\1/p' | sort >yes
"$bin/mpi_info" --parsable --procedures | sed -n 's/^procedure:\(.*\):no$/\1/p' | sort >no
[ -s yes ] || fail "no procedure works"
# MPI_Aint_add and MPI_Aint_diff are macros, as in Open MPI
nm -D --defined-only "$libdir/libmpi.so.40" | awk '{ print $3 }' | sort -u >exported
sort -u yes no | comm -23 - exported | grep -vxE 'MPI_Aint_(add|diff)' >missing || true
[ ! -s missing ] || fail "not exported:" "$(tr '\n' ' ' <missing)"
sed 's/^/P/' no | sort | comm -23 - exported >missing
[ ! -s missing ] || fail "not exported:" "$(tr '\n' ' ' <missing)"
include=$("$MPICC" -showme:incdirs | cut -d ' ' -f 1)
cat "$include"/mpi.h "$include"/mpi-ext.h | grep -oE '\b(MPIX?|OMPI)_[A-Za-z0-9_]+ ?\(' | tr -d ' (' | sort -u >declared
comm -23 yes declared >missing
[ ! -s missing ] || fail "said to work, but not declared:" "$(tr '\n' ' ' <missing)"
comm -12 no declared >extra
[ ! -s extra ] || fail "said not to work yet, but declared:" "$(tr '\n' ' ' <extra)"

"$bin/mpi_info" --param all all >parameters
[ "$(grep -c ' = "' parameters)" -gt 5 ] || fail "hardly any parameter"
# what a user of a cluster would turn; the rest is for work on the library and shown by --internal
shown=$(grep -c '^  [a-z].* = "' parameters)
[ "$shown" -le 60 ] || fail "$shown parameters are shown, more than 60: which would nobody turn? Make them internal"
grep -q ' Values: NAME:VALUE,NAME:VALUE... with one of inter, barrier, bcast' parameters || fail "coll_algorithm says no collectives"
name=$(sed -n 's/^mca:[^:]*:[^:]*:param:\([^:]*\):type:\(int\|size\)$/\1/p' all | head -n 1)
[ -n "$name" ] || fail "no parameter of type int or size"
env "OMPI_MCA_$name=12345" "$bin/mpi_info" --parsable --param all all >changed
grep -q "param:$name:value:12345\$" changed || fail "OMPI_MCA_$name=12345 does not show"
grep -q "param:$name:source:environment\$" changed || fail "nor that it comes from the environment"
# what is for tests alone is shown when asked for
! grep -q ':coll_ranks_per_node:' changed || fail "an internal parameter is shown"
OMPI_MCA_coll_bcast_algorithm=chain "$bin/mpi_info" --param coll all | grep -q ' coll_bcast_algorithm = "chain"' ||
    fail "an internal parameter that is set is not shown"
"$bin/mpi_info" --param all all --internal | grep -q ' coll_ranks_per_node = ' || fail "--internal shows no internal parameter"
"$bin/ompi_info" --param all all --level 9 | grep -q ' parameter "coll_ranks_per_node" ' || fail "nor does --level 9"
! "$bin/ompi_info" --param all all --level 8 | grep -q ' parameter "coll_ranks_per_node" ' || fail "--level 8 does"
# as ompi_info: the lines that scripts look for, also in --all, and its own name in errors
for words in "--param btl tcp" --all; do
    # shellcheck disable=SC2086 # words
    "$bin/ompi_info" $words | grep -qE '^ +MCA btl tcp: parameter "btl_tcp_if_include" \(current value: "", data source: default, level: 1 user/basic, type: string\)$' ||
        fail "ompi_info $words: no line of btl_tcp_if_include"
done
"$bin/ompi_info" --nonsense 2>&1 | grep -q '^ompi_info: --help lists' || fail "ompi_info has another name in errors"
! "$bin/mpi_info" --param nonsense all 2>/dev/null || fail "--param nonsense is accepted"
! "$bin/mpi_info" --nonsense 2>/dev/null || fail "--nonsense is accepted"
