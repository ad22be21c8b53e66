#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The examples, by their own makefile, without a warning, say what they should.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$TERN_PREFIX"/share/tern-mpi/examples/* .
for file in "$TERN_SRCDIR"/examples/*; do [ -e "${file##*/}" ] || { echo "$file is not installed"; exit 1; }; done
chmod u+w ./*
make MPICC="$MPICC" CFLAGS="-O2 -Wall -Wextra -Werror" >build.out 2>&1 || { cat build.out; exit 1; }

# what each prints, on 4 ranks and on others; a wrong result is seen
make check MPIRUN="$MPIRUN -q" | tee out
[ "$(grep -c ': right$' out)" = 9 ]
grep -qE '^device_pingpong: (right|skipped, on .* there is no .*)$' out
for ranks in 1 3; do
    for program in heat nbody wordcount counter parallel_file; do "$MPIRUN" -q -n $ranks ./$program 2>/dev/null | diff - $program.expected; done
done
[ ! -e parallel_file.data ]
"$MPIRUN" -q -n 1 ./matmul 2>/dev/null | grep -q 'is right$'
if "$MPIRUN" -q -n 3 ./matmul 2>out; then exit 1; fi
grep -q 'do not form a square' out
for program in ring hello; do
    cp $program.expected kept
    sed -i '1s/[0-9]$/7/' $program.expected
    if make check MPIRUN="$MPIRUN -q" >out 2>&1; then exit 1; fi
    grep -q "^$program: wrong$" out
    mv kept $program.expected
done
echo "a b a, c! A" >text
[ "$("$MPIRUN" -q -n 2 ./wordcount text | tr -s ' \n' ' ')" = "5 words, 3 different ones 3 a 1 b 1 c " ]
if "$MPIRUN" -q -n 2 ./parallel_file /nowhere/file 2>out; then exit 1; fi
grep -q '^/nowhere/file: ' out

# pictures: of any number of ranks, and in each language, they are the same
"$MPIRUN" -q -n 4 ./heat heat.pgm >/dev/null 2>&1
[ "$(head -c 15 heat.pgm)" = "P5 240 240 255" ]
[ "$(wc -c <heat.pgm)" = $((240 * 240 + 15)) ]
"$MPIRUN" -q -n 3 ./heat other.pgm >/dev/null 2>&1
cmp heat.pgm other.pgm
if "$MPIRUN" -q -n 4 ./heat /nowhere/heat.pgm >/dev/null 2>&1; then exit 1; fi
if [ -x "${MPICC%/*}/mpifort" ] && command -v gfortran >/dev/null; then
    make check-fortran MPIFORT="${MPICC%/*}/mpifort" FFLAGS="-O2 -Wall -Werror" MPIRUN="$MPIRUN -q" >out 2>&1 || { cat out; exit 1; }
    [ "$(grep -c ': right$' out)" = 2 ]
    "$MPIRUN" -q -n 3 ./ring_f | grep -qx 'The token passed 3 ranks and returned with 3'
    "$MPIRUN" -q -n 3 ./heat_f fortran.pgm >/dev/null 2>&1
    cmp heat.pgm fortran.pgm
fi
# a python3 without modules
make check-python PYTHON="/usr/bin/python3 -S" MPIRUN="$MPIRUN -q" >out 2>&1 || { cat out; exit 1; }
[ "$(grep -cE '^(ring|heat)_py: skipped, ModuleNotFoundError' out)" = 2 ]
if grep ': right$' out; then exit 1; fi
for module in mpi4py numpy; do
    [ -d /usr/lib/python3/dist-packages/$module ] || { echo "there is no $module; install the package python3-$module"; exit 1; }
done
if [ -z "${SAN-}" ]; then # Debian's python3 is built without
    export LD_LIBRARY_PATH="${MPICC%/bin/*}/lib"
    make check-python PYTHON=/usr/bin/python3 MPIRUN="$MPIRUN -q" >out 2>&1 || { cat out; exit 1; }
    [ "$(grep -c ': right$' out)" = 2 ]
    "$MPIRUN" -q -n 3 /usr/bin/python3 heat.py python.pgm >/dev/null 2>&1
    cmp heat.pgm python.pgm
    unset LD_LIBRARY_PATH
fi

# the prolog: a fault drains the node, and no host that is only busy; Slurm's variables do not reach mpirun
for status in 0 1 3 2 4; do
    printf '#!/bin/sh\nenv | grep ^SLURM_ && exit 2\necho "FAIL  here"\nexit %d\n' $status >fake
    chmod +x fake
    drained=0
    SLURM_JOB_NODELIST="n[1-9]" SLURM_JOB_ID=1 MPICHECK=./fake sh slurm-prolog.sh 2>out || drained=1
    case $status in
        [24])
            [ $drained = 1 ]
            grep -q '^FAIL  here' out
            ;;
        *) [ $drained = 0 ] ;;
    esac
done
MPICHECK=$TERN_PREFIX/bin/mpicheck sh slurm-prolog.sh

"$MPIRUN" -n 3 ./hello | tee out
[ "$(sort -u out | grep -cE '^Hello from rank [0-2] of 3 on [^ ]+, cores [0-9,-]+(, [^ ,]+ [0-9.]+)*$')" = 3 ]
for ranks in 1 2 5; do
    "$MPIRUN" -n $ranks ./ring | tee out
    grep -qx "The token passed $ranks ranks and returned with $((ranks * (ranks - 1) / 2))" out
done
"$MPIRUN" -n 3 ./pi 300000 >out 2>&1
cat out
grep -q '^pi is about 3\.1415926536$' out
grep -q '^off by .* on 3 ranks$' out
if "$MPIRUN" -n 2 ./pi none; then exit 1; fi
"$MPIRUN" -n 1 --mca coll_bcast_algorithm chain ./tool >out
grep -qx '  coll_bcast_algorithm = chain' out
grep -q '^  pml_unexpected_length: ' out
"$MPIRUN" -n 3 ./tool 50 | tee out
# messages of the closing barrier may wait, too
grep -qE '^100 messages came early, 100 are waiting, at most 10[0-9] waited$' out
grep -qx 'after receiving: 0 are waiting' out
