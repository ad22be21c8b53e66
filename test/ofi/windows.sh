#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Windows over libfabric's provider strict (strict.h), with keys that fit an offer: the network copies puts and gets of one run;
# what it refuses or fails to do goes by messages. STRICT_SEED: other random decisions. There are some hundred reads only, so
# that three of ten fail.
set -u
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$TERN_SRCDIR/test/mpirun/check.bash"
[ -e "$TERN_BUILDDIR/test/ofi/.libs/libstrict-fi.so" ] || { echo "no libstrict-fi.so: make check builds it"; exit 1; }
"$MPICC" -O1 -D_GNU_SOURCE -I"$TERN_SRCDIR/test/mpi" -o direct_windows "$TERN_SRCDIR/test/ofi/direct_windows.c" || exit 1
for program in win_random win_misuse win_threads; do
    "$MPICC" -O1 -D_GNU_SOURCE -o $program "$TERN_SRCDIR/test/mpi/$program.c" || exit 1
done
export FI_PROVIDER_PATH=$TERN_BUILDDIR/test/ofi/.libs OMPI_MCA_btl=ofi,self OMPI_MCA_btl_ofi_provider=strict STRICT_SHORT_KEYS=1
export STRICT_REPORT=$PWD/report STRICT_AGAIN=50 STRICT_READ_FAILS=300 STRICT_WRITE_FAILS=30 STRICT_REFUSES=30
rounds=60
[ -z "${TERN_TEST_LONG:-}" ] || rounds=1000

# count WORD: the sum of it over all lines of the report
count() { awk -v word="$1" '{for (i = 1; i < NF; i += 2) if ($i == word) sum += $(i + 1)} END {print sum + 0}' report; }
direct() { awk '$1 == "direct" {print $2}' out; }

for program in "win_random $rounds" "direct_windows 14"; do
    # shellcheck disable=SC2086 # a program and its argument
    run --mca rma_direct yes -n 3 ./$program
    is "$program" "$rc" 0
    [ "$(direct)" -gt 0 ] || complain "$program: the network copied nothing: $(cat out)"
    echo "$program: $(tr '\n' ' ' <out)"
done
for word in writes reads failed_writes failed_reads again refused overtaken; do
    [ "$(count $word)" -gt 0 ] || complain "no $word: $(cat report)"
done
echo "strict counted: $(for word in registrations writes failed_writes reads failed_reads again refused overtaken; do echo "$word $(count $word)"; done | tr '\n' ' ')"
# if none are kept, all registrations end; a rank may have registered pieces of its own, which stay
rm report
run --mca rma_direct yes --mca btl_ofi_cache never -n 3 ./direct_windows 7
is "no registration is kept" "$rc" 0
[ "$(count left)" -le 3 ] || complain "left $(count left) registrations: $(cat report)"
for program in win_misuse win_threads; do
    run --mca rma_direct yes -n 2 ./$program
    is "$program" "$rc" 0
done
# the keys are the provider's, so that they can be guessed: not without being asked for
rm report
run -n 3 ./win_random 10
is "keys that can be guessed" "$rc $(direct) $(count writes)" "0 0 0"
# a provider that does not tell when a write has arrived: gets only
STRICT_LACKS_DELIVERY=1 run --mca rma_direct yes -n 3 ./direct_windows 7
is "without FI_DELIVERY_COMPLETE" "$rc $(count writes)" "0 0"
[ "$(direct)" -gt 10 ] || complain "without FI_DELIVERY_COMPLETE: the network copied too little: $(cat out)"
# raw keys are too long for an offer
unset STRICT_SHORT_KEYS
run --mca rma_direct yes -n 3 ./win_random 10
is "raw keys" "$rc $(direct)" "0 0"
finish
