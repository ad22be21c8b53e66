#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks are started as the command line says, whichever way Open MPI's users write it.
. "$(dirname "$0")/check.bash"

# every spelling of the number of ranks
for option in -np -n -c --np --n; do
    run -q $option 3 sh -c 'echo rank'
    is "$option 3" "$rc $(grep -c rank out)" "0 3"
done

# none: one rank per slot, and the available cores are slots
cores=$(limit "$MPIRUN" --display-map --do-not-launch true | sed -n 's/.*Num slots: \([0-9]*\).*/\1/p')
run sh -c 'echo $OMPI_COMM_WORLD_SIZE'
is "ranks without -np" "$rc $(sort -u out)" "0 $cores"
is "as many lines" "$(wc -l <out)" "$cores"
one=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
limit taskset -c "$one" "$MPIRUN" sh -c 'echo $OMPI_COMM_WORLD_SIZE' >out 2>err
is "ranks on one allowed processor" "$(cat out)" 1

# a program that knows nothing of MPI
run -q -np 2 uname
is "uname on two ranks" "$rc $(sort -u out)" "0 $(uname)"

# several programs
run -q -np 1 sh -c 'echo a$OMPI_COMM_WORLD_RANK $0' x : -n 2 sh -c 'echo b$OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE'
is "two programs" "$rc $(sort out | tr '\n' ',')" "0 a0 x,b1 of 3,b2 of 3,"
printf -- '-np 1 sh -c "echo one"\n# a comment\n-np 2 sh -c "echo two"\n' >programs
run -q --app programs
is "an application file" "$rc $(sort out | tr '\n' ',')" "0 one,two,two,"
printf -- '-n 1 sh \\\n  -c "echo one" \n-n 2 -soft 1 \\\n sh -c "echo two"\n' >programs
run -q -configfile programs
is "a line that goes on" "$rc $(sort out | tr '\n' ',')" "0 one,two,"
printf -- '-n 1 echo \\\n' >programs
run -q -configfile programs
is "a line that goes on to nowhere" "$rc $(grep -c 'ends with a backslash, but no line follows' err)" "1 1"
run -q -n 8 -soft 3:9:2,2 sh -c 'echo $OMPI_COMM_WORLD_SIZE'
is "numbers that -soft allows" "$rc $(sort -u out) $(wc -l <out)" "0 7 7"
run -q -soft 2 true
is "-soft without -n" "$rc $(grep -c 'needs -np' err)" "1 1"
run -q -n 1 -arch "$(uname -m)" true
is "this architecture" "$rc" 0
run -q -n 1 -arch pdp11 true
is "another architecture" "$rc $(grep -c 'this machine is' err)" "1 1"

# the environment of ranks
export GIVEN=given OTHER=other
run -q -np 2 -x GIVEN -x NEW='a = b' -x EMPTY= --mca btl_tcp_if_include lo --gmca pml ob1 sh -c \
    'echo "$GIVEN $OTHER $NEW [$EMPTY] $OMPI_MCA_btl_tcp_if_include $OMPI_MCA_pml"'
is "-x and --mca" "$rc $(sort -u out)" "0 given other a = b [] lo ob1"
run -q -np 1 -x VALUE=1 sh -c 'echo "[$VALUE]"' : -np 1 -x VALUE=2 sh -c 'echo "[$VALUE]"'
is "-x is a program's own" "$(sort out | tr '\n' ' ')" "[1] [2] "
run -q --host localhost:5 -np 4 sh -c 'env | sort' </dev/null
for line in OMPI_COMM_WORLD_RANK={0,1,2,3} OMPI_COMM_WORLD_LOCAL_RANK={0,1,2,3} OMPI_COMM_WORLD_NODE_RANK={0,1,2,3} PMIX_RANK={0,1,2,3}; do
    is "$line" "$(grep -c "^$line\$" out)" 1
done
for line in OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=4 OMPI_UNIVERSE_SIZE=5 OMPI_APP_CTX_NUM_PROCS=4 PMIX_MCA_gds=hash; do
    is "$line" "$(grep -c "^$line\$" out)" 4
done

# working directory, search path
mkdir elsewhere bin
printf '#!/bin/sh\necho mine in $(basename "$(pwd)") $PWD\n' >bin/mine
chmod +x bin/mine
for option in --wdir -wdir -wd --wd; do
    run -q -np 1 $option elsewhere ../bin/mine
    is "$option" "$rc $(cat out)" "0 mine in elsewhere $scratch/elsewhere"
done
run -q -np 1 --path "$scratch/bin" mine
is "--path" "$rc $(cat out)" "0 mine in $(basename "$scratch") $scratch"
# a program of the working directory needs no ./, but one in PATH comes first
printf '#!/bin/sh\necho here\n' | tee "$scratch/here" >"$scratch/uname"
chmod +x "$scratch/here" "$scratch/uname"
run -q -np 1 here
is "a program of the working directory" "$rc $(cat out)" "0 here"
run -q -np 1 uname
is "one in PATH, too" "$rc $(cat out)" "0 $(uname)"
run -q -np 1 --wdir / here
is "a program elsewhere" "$rc $(wc -c <out)" "127 0"
PATH=$scratch/bin:$PATH run -q -np 1 mine
is "PATH" "$rc" 0
run -q -np 1 --set-cwd-to-session-dir sh -c '[ "$PWD" = "$TERN_SESSION_DIR" ] && [ "$(pwd)" = "$PWD" ]'
is "--set-cwd-to-session-dir" "$rc" 0

# prefix
run -q -np 1 --prefix /some/where sh -c 'echo "$LD_LIBRARY_PATH $PATH"'
has "--prefix" out '^/some/where/lib[: ].*/some/where/bin:'
OPAL_PREFIX=/some/where LD_LIBRARY_PATH=/a/b run -q -np 1 sh -c 'echo "$LD_LIBRARY_PATH"'
is "OPAL_PREFIX" "$(cat out)" /some/where/lib:/a/b
LD_LIBRARY_PATH=/a/b run -q --noprefix -np 1 sh -c 'echo "$LD_LIBRARY_PATH"'
is "--noprefix" "$(cat out)" /a/b
LD_LIBRARY_PATH=/a/b PATH=${MPIRUN%/*}:$PATH limit mpirun -q -np 1 sh -c 'echo "$LD_LIBRARY_PATH"' >out 2>err
is "mpirun found by PATH: no prefix" "$(cat out)" /a/b
LD_LIBRARY_PATH=/a/b run -q -np 1 sh -c 'echo "$LD_LIBRARY_PATH"'
is "an absolute path to mpirun stands for --prefix" "$(cat out)" "$(realpath "${MPIRUN%/bin/*}")/lib:/a/b"

# this host, by all its names
for host in localhost 127.0.0.1 "$(hostname)" user@localhost; do
    run -q -np 2 --host "$host" uname
    is "--host $host" "$rc" 0
done
for option in -H -host --host; do
    run -q $option localhost,localhost:2 sh -c 'echo $OMPI_COMM_WORLD_SIZE'
    is "$option with slots" "$rc $(sort -u out)" "0 3"
done
printf '# mine\nlocalhost slots=3 max-slots=4\n' >hosts
for option in --hostfile -hostfile -machinefile --machinefile; do
    run -q $option hosts sh -c 'echo $OMPI_COMM_WORLD_SIZE'
    is "$option" "$rc $(sort -u out)" "0 3"
done
run -q --hostfile hosts -np 5 true
is "more than max-slots" "$rc" 1

# per node
for option in "-N 2" "-npernode 2" "--npernode 2" "--map-by ppr:2:node" "--ppr 2:node"; do
    run -q $option sh -c 'echo $OMPI_COMM_WORLD_SIZE'
    is "$option" "$rc $(tr '\n' ' ' <out)" "0 2 2 "
done
run -q -pernode sh -c 'echo $OMPI_COMM_WORLD_SIZE'
is "-pernode" "$rc $(cat out)" "0 1"
run -q -N 1 sh -c 'echo a$OMPI_COMM_WORLD_RANK' : -N 1 sh -c 'echo b$OMPI_COMM_WORLD_RANK'
is "-N of two programs" "$rc $(sort out | tr '\n' ' ')" "0 a0 b1 "

# options that mean nothing here are accepted without a word
run --allow-run-as-root --oversubscribe -np 1 --disable-recovery --leave-session-attached --personality ompi -novm --noprefix \
    --stream-buffering 1 --mca plm_rsh_agent ssh --mca orte_base_help_aggregate 0 true
is "quiet options" "$rc [$(cat out err)]" "0 []"

# more ranks than cores: one line says so, unless it is meant
run -np $((cores + 1)) true
is "a crowd" "$rc $(wc -l <err)" "0 1"
has "a crowd" err "$((cores + 1)) ranks share $cores core"
for option in --oversubscribe -oversubscribe -q --quiet "--map-by :OVERSUBSCRIBE"; do
    run $option -np $((cores + 1)) true
    is "$option is quiet" "$rc [$(cat err)]" "0 []"
done
OMPI_MCA_rmaps_base_oversubscribe=1 run -np $((cores + 1)) true
is "rmaps_base_oversubscribe" "$rc [$(cat err)]" "0 []"
for option in --nooversubscribe -nooversubscribe "--map-by core:NOOVERSUBSCRIBE"; do
    run $option -np $((cores + 1)) true
    is "$option" "$rc" 1
    has "$option" err "$((cores + 1)) ranks on $cores slot"
done

# many
run -q -np 64 sh -c 'echo $OMPI_COMM_WORLD_RANK'
is "64 ranks" "$rc $(sort -n out | tr '\n' ' ')" "0 $(seq 0 63 | tr '\n' ' ')"

# within a rank
run -q -np 2 "$MPIRUN" -q -np 2 sh -c 'echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $PMIX_RANK; [ -d "$TERN_SESSION_DIR" ]'
is "mpirun in mpirun" "$rc $(sort out | tr '\n' ,)" "0 0 2 0,0 2 0,1 2 1,1 2 1,"
tmp_is_empty || complain "nested jobs leave $(find "$TMPDIR")"

# the node's memory is inherited, also through scripts
printf '#!/bin/sh\nexec sh -c "exec ./second"\n' >first
printf '#!/bin/sh\nfd=${TERN_NODE_MEMORY%%%%:*}; token=${TERN_NODE_MEMORY##*:}\n[ "$(head -c 40 /proc/self/fd/$fd)" = "TERNSHM1$token" ] && [ "$fd" -ge 64 ] && echo $TERN_NODE_MEMORY\n' >second
chmod +x first second
run -q -np 3 ./first
is "node memory" "$rc $(sort -u out | wc -l) $(wc -l <out)" "0 1 3"
size=$(cut -d: -f2 out | head -n 1)
[ "$size" -ge $((1024 * 1024 * 1024)) ] || complain "node memory of $size bytes"
run -q -np 1 sh -c 'ls /proc/self/fd | tr "\n" " "'
is "no other descriptors" "$(cat out)" "0 1 2 3 64 65 66 " # 3 is ls's own
run -q -np 1 "$MPIRUN" -np 1 sh -c 'ls /proc/self/fd | tr "\n" " "'
is "no descriptor of the outer job" "$(cat out)" "0 1 2 3 64 65 66 "

# what it is
run --version
has "--version" out '^mpirun \(Open MPI\) 5\.0\.7'
is "--version" "$rc $(head -n 1 out | grep -cE 'Open MPI|OpenRTE')" "0 1"
run -V
is "-V" "$rc $(head -n 1 out | grep -c 'Open MPI')" "0 1"
for option in -h --help -help; do
    run $option
    is "$option" "$rc $(grep -c '^Usage: mpirun' out)" "0 1"
done
run -np 1 -initial-errhandler MPI_ERRORS_RETURN sh -c 'echo $OMPI_MCA_mpi_initial_errhandler' : \
    -np 1 sh -c 'echo ${OMPI_MCA_mpi_initial_errhandler-none}'
is "-initial-errhandler" "$rc $(sort out | tr '\n' ' ')" "0 mpi_errors_return none "
run --report-pid pid -np 1 sh -c 'cat pid; ps -o comm= -p $(cat pid)'
has "--report-pid" out '^[0-9]+$'
has "--report-pid" out 'mpirun'
run -v -np 2 true
has "-v" err 'rank 1 is process [0-9]+'
run -np 1 --index-argv-by-rank sh -c 'tr "\0" " " </proc/$$/cmdline'
has "--index-argv-by-rank" out '^sh-0 -c'
finish
