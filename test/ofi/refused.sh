#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Long messages over the provider strict (strict.h) that refuses to register the sender's memory, the receiver's, both or none, as
# a limit of locked memory makes it. The bytes are right, and each case goes the way that it should, which strict's counts show.
set -u
. "$TERN_SRCDIR/test/needs.bash"
needs_libfabric
. "$TERN_SRCDIR/test/mpirun/check.bash"
[ -e "$TERN_BUILDDIR/test/ofi/.libs/libstrict-fi.so" ] || { echo "no libstrict-fi.so: make check builds it"; exit 1; }
"$MPICC" -O1 -o long_messages "$TERN_SRCDIR/test/ofi/long_messages.c" || exit 1
export FI_PROVIDER_PATH=$TERN_BUILDDIR/test/ofi/.libs OMPI_MCA_btl=ofi,self OMPI_MCA_btl_ofi_provider=strict

# count RANK WORD: what the rank's report says
count() { awk -v word="$2" '{for (i = 1; i < NF; i += 2) if ($i == word) print $(i + 1)}' "report$1"; }
# moves NAME MESSAGES SENDER RECEIVER: runs with so many bytes as the most that may be registered at each side
moves() {
    rm -f report0 report1
    run -n 1 env STRICT_REPORT="$PWD/report0" STRICT_MOST="$3" ./long_messages "$2" : \
        -n 1 env STRICT_REPORT="$PWD/report1" STRICT_MOST="$4" ./long_messages "$2"
    is "$1" "$rc $(cat out)" "0 all bytes are right"
    [ "$(count 0 left)" -le "$sender_pieces" ] && [ "$(count 1 left)" -le 1 ] || # pieces of our own stay until the process ends
        complain "$1: left $(count 0 left) and $(count 1 left) registrations"
    echo "$1, $2 messages: sender: $(cut -d ' ' -f 1-2 report0) refused $(count 0 refused); receiver:" \
        "$(cut -d ' ' -f 1-2 report1) refused $(count 1 refused) reads $(count 1 reads)"
}
sender_pieces=0 # registrations that the sender may leave
all=99999999 few=$((1 << 20)) none=1 # bytes; `few` is enough for pieces of our own, but for no message
export STRICT_AGAIN=30 OMPI_MCA_btl_ofi_cache=never

moves "both sides" 8 $all $all
[ "$(count 1 reads)" -ge 8 ] || complain "both sides: $(count 1 reads) reads"
is "both sides: refused" "$(count 0 refused) $(count 1 refused)" "0 0"

# read into pieces of 128 KiB, which are registered once, however many messages there are
for messages in 8 40; do
    moves "the sender's" $messages $all $few
    is "the sender's: refused there" "$(count 0 refused)" 0
    [ "$(count 1 reads)" -ge $((11 * messages)) ] || complain "the sender's: $(count 1 reads) reads"
    [ "$(count 1 refused)" -ge $((messages / 2)) ] || complain "the sender's: $(count 1 refused) refused at the receiver"
    pieces[messages]=$(count 1 registrations)
done
is "registrations of the receiver, 8 and 40 messages" "${pieces[8]}" "${pieces[40]}"

# written out of registered pieces of 128 KiB into the receiver's memory, which is exposed: every other message. The others
# are received into columns and are sent as packets, as are those of which a write fails
export STRICT_SHORT_KEYS=1
sender_pieces=1
for fails in 0 300; do
    STRICT_WRITE_FAILS=$fails moves "the receiver's, $fails of 1000 writes fail" 8 $few $all
    [ "$(count 0 writes)" -ge $(((fails ? 1 : 11) * 4)) ] || complain "the receiver's: $(count 0 writes) writes"
    [ "$fails" = 0 ] || [ "$(count 0 failed_writes)" -gt 0 ] || complain "the receiver's: no write failed"
    is "the receiver's: reads" "$(count 1 reads)" 0
    [ "$(count 0 refused)" -ge 8 ] || complain "the receiver's: $(count 0 refused) refused at the sender"
done
unset STRICT_SHORT_KEYS
sender_pieces=0

# sent as packets
for sides in "the receiver's:$none:$all" "neither:$none:$few" "no pieces:$all:$none"; do
    IFS=: read -r name sender receiver <<<"$sides"
    moves "$name" 8 "$sender" "$receiver"
    is "$name: reads" "$(count 1 reads)" 0
    [ "$(($(count 0 refused) + $(count 1 refused)))" -ge 8 ] || complain "$name: nothing was refused"
done
finish
