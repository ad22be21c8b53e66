#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What ranks print arrives: complete, unchanged, in whole lines, at any pace, and at once where somebody waits for it.
. "$(dirname "$0")/check.bash"

# standard output is a raw terminal, standard error a pipe
run -np 1 sh -c '[ -t 1 ] && [ ! -t 2 ] && [ ! -t 0 ] && stty -a <&1'
is "terminal" "$rc" 0
has "terminal" out '-opost'
has "terminal" out '-echo '
run -np 1 printf 'a\r\n\tb\0\377\n\n'
printf 'a\r\n\tb\0\377\n\n' | cmp - out || complain "bytes are changed"
run -np 1 sh -c 'echo out; echo err >&2'
is "two streams" "$(cat out)/$(cat err)" "out/err"

# nothing is lost, whatever the size, the kind of reader, and the end of the last line
head -c 5000000 /dev/urandom >random
for ranks in 1 2; do
    limit "$MPIRUN" -q -np $ranks sh -c '[ $OMPI_COMM_WORLD_RANK != 0 ] || cat random' >out 2>err
    cmp random out || complain "5 MB of anything to a file from $ranks ranks"
    limit "$MPIRUN" -q -np $ranks sh -c '[ $OMPI_COMM_WORLD_RANK != 0 ] || cat random >&2' 2>err >out
    cmp random err || complain "5 MB of anything to standard error of $ranks ranks"
    limit "$MPIRUN" -q -np $ranks sh -c '[ $OMPI_COMM_WORLD_RANK != 0 ] || cat random' 2>err |
        (sleep 0.5; head -c 100000; sleep 0.5; cat) >out
    cmp random out || complain "5 MB of anything to a slow reader from $ranks ranks"
done
run -np 1 printf 'no newline'
is "an unfinished last line" "$(cat out)" "no newline"
run -q -np 40 sh -c 'head -c 20000 random | base64 -w 70; echo end'
is "all of 40 ranks" "$(grep -c '^end$' out) $(wc -l <out)" "40 $((40 * (1 + $(head -c 20000 random | base64 -w 70 | wc -l))))"

# lines of different ranks never mix: 16 ranks, 2000 lines each, in order within each rank
cat >lines.awk <<'EOT'
{ if ($0 !~ /^rank [0-9]+ line [0-9]+ x*\.$/ || $4 != next_line[$2]++) { print "bad: " $0; exit 1 } }
END { for (r = 0; r < 16; r++) if (next_line[r] != 2000) { print "rank " r ": " next_line[r] " lines"; exit 1 } }
EOT
cat >lines.sh <<'END'
awk -v r=$OMPI_COMM_WORLD_RANK 'BEGIN { x = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    for (i = 0; i < 2000; i++) { printf "rank %d line %d %s.\n", r, i, substr(x, 1, (i * 7 + r) % 39); if (i % 50 == 0) fflush() } }'
END
run -q -np 16 sh lines.sh
awk -f lines.awk out || complain "lines of 16 ranks"
run -q -np 16 --tag-output sh lines.sh
sed -n 's/^\[1,\([0-9]*\)\]<stdout>:rank \1 /rank \1 /p' out >untagged
awk -f lines.awk untagged || complain "tagged lines of 16 ranks"
limit "$MPIRUN" -q -np 16 sh -c '. ./lines.sh >&2' 2>&1 >out | awk -f lines.awk || complain "lines of 16 ranks on standard error"
# written in pieces, by ranks in turn; what is incomplete at the end of a rank stays a line of its own
run -q -np 4 sh -c 'for i in 1 2 3 4 5; do printf "$OMPI_COMM_WORLD_RANK"; printf "$OMPI_COMM_WORLD_RANK\n"; done; printf "<$OMPI_COMM_WORLD_RANK>"'
is "pieces" "$(tr -d '\n' <out | sed 's/<.>//g' | tr -d 0-3) $(grep -cE '^([0-3])\1$' out) $(grep -cE '^<[0-3]>$' out)" " 20 4"

# A prompt arrives although it has no newline: the rank goes on only when it was seen.
mkfifo prompt reply
for ranks in 1 2; do
    limit "$MPIRUN" -q -np $ranks sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || exit 0; printf "name? "; read name; echo "hello $name"' \
        <reply >prompt 2>err &
    exec 7>reply 8<prompt
    if IFS= read -r -n 6 -t 300 seen <&8; then echo tern >&7; else complain "no prompt from $ranks ranks"; fi
    is "prompt of $ranks" "$seen" "name? "
    IFS= read -r -t 300 answer <&8
    is "answer of $ranks" "$answer" "hello tern"
    exec 7>&- 8<&-
    wait $!
    is "status of the prompter" $? 0
done
# Also that of a rank that waits actively.
limit "$MPIRUN" -q -np 2 sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || exit 0; printf "busy? "; until [ -e answered ]; do :; done; echo yes' >prompt 2>err &
exec 8<prompt
IFS= read -r -n 6 -t 300 seen <&8
touch answered
is "prompt of a busy rank" "$seen $(cat <&8)" "busy?  yes"
exec 8<&-
wait $!
# The line of another rank begins on a line of its own, and the prompter's next words are not lost.
limit "$MPIRUN" -q -np 2 sh -c 'if [ $OMPI_COMM_WORLD_RANK = 0 ]; then printf "prompt: "; next=other_shown; else next=prompt_shown; fi
    until [ -e $next ]; do sleep 0.05; done; if [ $OMPI_COMM_WORLD_RANK = 0 ]; then echo rest; else echo other; fi' >prompt 2>err &
exec 8<prompt
IFS= read -r -n 8 -t 300 prompt_shown <&8
touch prompt_shown
IFS= read -r -t 300 line_end <&8
IFS= read -r -t 300 other_shown <&8
touch other_shown
is "another's line after a prompt" "$prompt_shown/$line_end$other_shown/$(cat <&8)" "prompt: /other/rest"
exec 8<&-
wait $!
# A rank that is kept from going on in the middle of a line has not finished it, however long that takes.
run -q -np 2 sh -c 'if [ $OMPI_COMM_WORLD_RANK = 0 ]; then echo $$ >pid; mv pid stopped; printf "one "; kill -STOP $$; echo line; exit; fi
    until [ -e stopped ] && [ "$(sed "s/.*) //; s/ .*//" /proc/$(cat stopped)/stat)" = T ]; do sleep 0.05; done
    sleep 0.5; echo other; kill -CONT $(cat stopped)'
is "the line of a stopped rank" "$(sort out | tr '\n' '/')" "one line/other/"

# tags
run -q -np 2 --tag-output sh -c 'echo one; echo two; echo bad >&2; printf end'
is "tags" "$(sort out | tr '\n' ' ')" "[1,0]<stdout>:end [1,0]<stdout>:one [1,0]<stdout>:two [1,1]<stdout>:end [1,1]<stdout>:one [1,1]<stdout>:two "
is "tags" "$(sort err | tr '\n' ' ')" "[1,0]<stderr>:bad [1,1]<stderr>:bad "
run -q -np 1 --timestamp-output echo now
has "--timestamp-output" out '^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [0-9]{4}<stdout>:now$'
OMPI_MCA_orte_tag_output=1 run -np 1 echo tagged
is "orte_tag_output" "$(cat out)" "[1,0]<stdout>:tagged"
run -np 1 --output tag,merge sh -c 'echo err >&2'
is "--output tag,merge" "$(cat out)" "[1,0]<stdout>:err"
run -np 1 --merge-stderr-to-stdout sh -c 'echo err >&2'
is "--merge-stderr-to-stdout" "$(cat out)/$(cat err)" "err/"

# files
run -q -np 2 --output-filename logs sh -c 'echo $OMPI_COMM_WORLD_RANK; echo bad >&2'
is "--output-filename" "$(cat logs/1/rank.0/stdout logs/1/rank.1/stdout logs/1/rank.1/stderr | tr '\n' ' ')$(sort out | tr '\n' ' ')" "0 1 bad 0 1 "
run -q -np 11 --output-filename only:nocopy sh -c 'echo $OMPI_COMM_WORLD_RANK'
is "--output-filename DIR:nocopy" "$(cat only/1/rank.*/stdout | tr '\n' ' ')[$(cat out)]" "0 1 2 3 4 5 6 7 8 9 10 []"
run -q --np=2 --output-filename=flat:nojobid,nocopy sh -c 'echo $OMPI_COMM_WORLD_RANK'
is "--output-filename=DIR:nojobid" "$(cat flat/rank.*/stdout | tr '\n' ' ')[$(cat out)]" "0 1 []"

# A reader that goes away ends the job, quietly.
limit "$MPIRUN" -q -np 2 sh -c 'while echo line; do :; done' 2>err | head -n 1 >out
statuses=("${PIPESTATUS[@]}")
is "head takes one line" "$(cat out) ${statuses[0]} [$(cat err)]" "line 141 []"
limit "$MPIRUN" -np 1 sh -c 'echo much; sleep 100' >/dev/full 2>err
is "our full device" "$?" 1
has "our full device" err "cannot write the ranks' output: No space left"

# What cannot be written is lost: that is said once, and the exit status is not 0.
limit "$MPIRUN" -np 2 echo little >/dev/full 2>err
is "our full device at the end" "$? $(grep -c 'No space left' err)" "1 1"
limit "$MPIRUN" -q -np 2 sh -c 'echo lost; echo kept >>kept' >&- 2>err
is "our output is closed" "$? $(wc -l <kept)" "1 2"
has "our output is closed" err '^mpirun: standard output is closed, so this output of the ranks is lost'
is "our output is closed: lines" "$(wc -l <err)" 1
limit "$MPIRUN" -np 1 sh -c 'echo lost >&2; echo kept' >out 2>&-
is "our errors are closed" "$? $(cat out)" "1 kept"
limit "$MPIRUN" -np 1 true >&- 2>err
is "our output is closed, and nobody writes" "$? $(cat err)" "0 "
for print in --version --help "--display-map --dry-run -np 1 true"; do
    # shellcheck disable=SC2086
    limit "$MPIRUN" $print >/dev/full 2>err
    is "$print" "$? $(cat err)" "1 mpirun: cannot write to standard output: No space left on device"
done
# Open MPI 5's words: only files, unless `copy` is asked for
for words in "--output-directory only" "--output dir=only" "--output file=only/file"; do
    # shellcheck disable=SC2086
    run -q -np 2 --oversubscribe $words echo hello
    is "$words" "$rc $(cat out)" "0 "
    is "$words: files" "$(find only -type f -exec cat {} + | grep -c hello)" 2
    # shellcheck disable=SC2086
    run -q -np 2 --oversubscribe $words:copy echo hello
    is "$words:copy" "$rc $(grep -c hello out)" "0 2"
    rm -r only
done
# a limit is as good as a full disk
(
    ulimit -f 12000
    run -q -np 2 --output-filename small:nocopy sh -c 'yes | head -c 13000000'
    echo "$rc" >status
)
is "a full disk: status" "$(cat status)" 1
has "a full disk" err '^mpirun: cannot write the output file of rank [01]: File too large; the output in files is not complete$'
is "a full disk: said once" "$(wc -l <err)" 1

# What a process writes that a rank left behind still arrives (left_behind.sh has more of them).
run -np 1 sh -c '(sleep 0.05; echo late) & echo early'
is "late output" "$(cat out | tr '\n' ' ')" "early late "

# a closed stream
limit "$MPIRUN" -np 1 sh -c 'echo hello' <&- >out 2>err
is "closed standard input" "$? $(cat out)" "0 hello"
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
