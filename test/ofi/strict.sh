#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The MPI programs of test/mpi over libfabric's provider strict (strict.h), which demands all that a provider may demand, and
# keeps no order. Some of them; all with TERN_TEST_LONG. STRICT_SEED: other random decisions. STRICT_MESSAGES: the number of
# messages between which memory changes.
set -u
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$TERN_SRCDIR/test/mpirun/check.bash"
[ -e "$TERN_BUILDDIR/test/ofi/.libs/libstrict-fi.so" ] || { echo "no libstrict-fi.so: make check builds it"; exit 1; }
for program in in_use changing_memory watched; do "$MPICC" -O1 -o $program "$TERN_SRCDIR/test/ofi/$program.c" || exit 1; done
export FI_PROVIDER_PATH=$TERN_BUILDDIR/test/ofi/.libs OMPI_MCA_btl=ofi,self OMPI_MCA_btl_ofi_provider=strict
export STRICT_REPORT=$PWD/report STRICT_AGAIN=50 STRICT_READ_FAILS=30 STRICT_REFUSES=30

# count WORD: the sum of it over all lines of the report
count() { awk -v word="$1" '{for (i = 1; i < NF; i += 2) if ($i == word) sum += $(i + 1)} END {print sum + 0}' report; }

run -n 3 ./in_use
is "ranks that use ofi" "$rc $(grep -c '^ofi is in use$' out) $(wc -l <report)" "0 3 3"
# no byte of memory that has got other pages; registrations are kept, so there are fewer than messages
messages=400
[ -z "${TERN_TEST_LONG:-}" ] || messages=1000000
messages=${STRICT_MESSAGES:-$messages}
rm report
for keep in always auto; do
    STRICT_REFUSES=0 timeout -k 5 1200 "$MPIRUN" --mca btl_ofi_cache $keep -n 2 ./changing_memory $messages >out 2>err
    is "memory that changes, kept $keep" "$? $(cat out)" "0 done
done"
    [ "$(count registrations)" -lt $((4 * messages)) ] || complain "$keep: no registration was used again: $(cat report)"
    rm report
done
# memory that a program maps for each message is hardly ever watched
STRICT_AGAIN=0 STRICT_READ_FAILS=0 STRICT_REFUSES=0 run -n 2 ./watched
[ "$rc $(grep -Ec '^watched: all of the memory used again, [0-9] of 200 ' out)" = "0 2" ] || complain "watched: $(cat out)"
# what is not kept ends; a rank may have registered pieces of its own, which stay
rm -f report
run --mca btl_ofi_cache never -n 2 ./changing_memory 100
[ "$rc" = 0 ] && [ "$(count left)" -le 2 ] || complain "not kept: $rc, left $(count left) registrations"

programs=(bidirectional_big cancel_everywhere coll_alltoall finalize_flushes non_overtaking random_traffic thread_everything
    truncate_everywhere type_strided_rendezvous)
ranks=(--ranks 2 --ranks 3)
[ -z "${TERN_TEST_LONG:-}" ] || programs=() ranks=()
"$PYTHON3" -B "$TERN_SRCDIR/test/mpi/run" --build programs "${ranks[@]}" "${programs[@]}" >runs 2>&1 ||
    { cat runs; complain "some programs fail"; }
tail -n 1 runs
# all that the provider does happened, so the programs have met it
for word in registrations maps sends injects receives reads again failed_reads refused overtaken; do
    [ "$(count $word)" -gt 0 ] || complain "no $word in $(wc -l <report) reports"
done
echo "strict counted: $(for word in registrations refused reads failed_reads again overtaken; do echo "$word $(count $word)"; done | tr '\n' ' ')"

# a send that fails is an MPI error that names the other rank, and why
STRICT_SEND_FAILS=1000 run -n 2 ./changing_memory 100000000
[ "$rc" != 0 ] || complain "failed sends: no failure"
has "failed sends: who and why" err "rank [01] .*(rank [01]|libfabric).*(strict|Input/output error)"
# a provider without FI_RMA
STRICT_LACKS_RMA=1 run -n 2 ./in_use
has "without FI_RMA" err "provider strict lacks .*FI_RMA"
finish
