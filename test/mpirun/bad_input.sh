#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A mistake gets one clear sentence on standard error, an exit status that is not 0, and nothing is started.
. "$(dirname "$0")/check.bash"

# bad REGEX ARGUMENT...: the arguments are refused in one sentence that matches
bad() {
    local sentence=$1
    shift
    rm -f started
    run "$@"
    [ "$rc" != 0 ] || complain "mpirun $*: exit status 0"
    is "mpirun $*: sentences" "$(wc -l <err)" 1
    has "mpirun $*" err "^mpirun: .*$sentence"
    [ ! -s out ] || complain "mpirun $*: writes to standard output"
    [ ! -e started ] || complain "mpirun $*: the program was started"
}
go=(sh -c '>started')

bad 'no program' -np 2
bad 'no program'
bad 'no program' -np 1 "${go[@]}" : -np 1
bad 'unknown option --tag-outptu; did you mean --tag-output\?' --tag-outptu -np 1 "${go[@]}"
bad 'unknown option -hostfil; did you mean --hostfile\?' -hostfil x "${go[@]}"
bad 'unknown option --qqqqqqqqqqqq ' --qqqqqqqqqqqq "${go[@]}"
bad '-n -3 is too small; at least 0' -n -3 "${go[@]}"
bad '-np needs a number, not "two"' -np two "${go[@]}"
bad '-np needs a number, not "2x"' -np 2x "${go[@]}"
bad '-np 99999999999999999999 is too large' -np 99999999999999999999 "${go[@]}"
bad '-np needs a value' -np
bad '--mca needs a name and a value' --mca btl
bad '-x needs NAME' -x =3 "${go[@]}"
bad 'program 1 has no -np' "${go[@]}" : "${go[@]}"
bad 'program 2 has no -np' -np 1 "${go[@]}" : "${go[@]}"

bad 'no program nosuchprogram in .*/bin' -np 1 nosuchprogram
is "a missing program" "$rc" 127
bad 'no program nosuchprogram in /nowhere:/neither' -np 1 -x PATH=/nowhere:/neither nosuchprogram
bad 'no program p in /there or ' --path /there -np 1 p
printf '#!/bin/sh\n>started\n' >here
bad 'cannot run .*/here: it is not executable' -np 1 here
chmod +x here
bad 'cannot run .*/nosuch: No such file' -np 1 ./nosuch
chmod -x here
bad 'cannot run .*/here: it is not executable' -np 1 ./here
is "a program that is not executable" "$rc" 126
bad 'cannot run /tmp: it is a directory' -np 1 /tmp
printf '#!/no/such/interpreter\n' >script
chmod +x script
bad 'its first line names the interpreter /no/such/interpreter' -np 1 ./script
bad 'no program nosuchprogram' -np 1 "${go[@]}" : -np 1 nosuchprogram
bad 'cannot use the working directory .*/nodir: No such file' --wdir nodir -np 1 "${go[@]}"
bad 'cannot use the working directory .*/here: it is not a directory' --wdir here -np 1 "${go[@]}"

# names that would be options of ssh, or commands for a terminal
bad '"-lroot" in --host is not the name of a host' --host -lroot -np 1 "${go[@]}"
bad '"-oProxyCommand=>started" in --host is not' --host 'localhost,-oProxyCommand=>started' -np 1 "${go[@]}"
bad '"-lroot@far" in --host is not' --host -lroot@far -np 1 "${go[@]}"
bad 'far.x1b.2J" in --host is not' --host $'far\e[2J' -np 1 "${go[@]}"
printf 'localhost\n-oProxyCommand=>started slots=2\n' >hosts
bad '"-oProxyCommand=>started" in hosts is not' --hostfile hosts -np 1 "${go[@]}"
printf 'rank 0=-lroot slot=0\n' >ranks
bad '"-lroot" in ranks is not' --rankfile ranks "${go[@]}"
for list in PBS_NODEFILE:PBS_JOBID PE_HOSTFILE:JOB_ID LSB_HOSTS:LSB_JOBID SLURM_JOB_NODELIST:SLURM_JOB_ID; do
    printf -- '-lroot 1\n' >list
    case ${list%:*} in PBS*) echo -lroot >list ;; esac
    case ${list%:*} in *FILE) value=$scratch/list ;; *) value=-lroot ;; esac
    (export "${list#*:}=7" "${list%:*}=$value" PE=mpi ARC=lx SGE_ROOT=/ && bad '"-lroot" in this .* allocation.* is not' -np 1 "${go[@]}"; exit $wrong) || wrong=$((wrong + 1))
done

# a script that was written on Windows, words that are near to nothing, another MPI's mpirun, a prompt
printf '#!/bin/sh\r\necho yes\r\n' >windows
chmod +x windows
bad 'cannot run .*windows: its first line ends with a carriage return' -np 1 ./windows
bad 'unknown option -TCP \(mpirun --help lists them\)$' -TCP -np 1 "${go[@]}"
bad '-bind-to user:0,1 is a word of other launchers .*; here it is --cpu-list 0,1 --bind-to cpu-list:ordered' -bind-to user:0,1 "${go[@]}"
printf '#!/bin/sh\necho "$0: Error: unknown option \\"--agent\\"" >&2\necho "Type $0 --help for usage." >&2\nexit 1\n' >foreign
printf '#!/bin/sh\nprintf "me@far password: " >&2\nexec sleep 1000\n' >prompts
chmod +x foreign prompts
bad 'cannot start on host far: .*/bin/mpirun there is the mpirun of another MPI library; expected that of Tern' \
    --mca plm_rsh_agent "$PWD/foreign" --host far -np 1 "${go[@]}"
bad 'cannot start on host far: me@far password: ; no answer within 5 s \(launch_timeout\); ssh must do without a password' \
    --mca launch_timeout 5 --mca plm_rsh_agent "$PWD/prompts" --host far -np 1 "${go[@]}"

# files that never end, and such that nobody writes to
mkfifo fifo
for option in --app --hostfile --rankfile; do
    bad 'cannot read the .* /dev/zero: it is not a text' $option /dev/zero "${go[@]}"
    bad 'cannot read the .* fifo: it is a FIFO, and nobody writes to it' $option fifo "${go[@]}"
done
for parameter in OMPI_MCA_mca_param_files OMPI_MCA_mca_base_param_files; do
    (export $parameter=fifo && run -np 1 true) # parameters: the job goes on without them
    has "$parameter=fifo" err 'parameter file fifo cannot be read: it is a FIFO, and nobody writes to it'
done
(export PBS_JOBID=7 PBS_NODEFILE=$scratch/fifo && bad 'cannot read the .* .*fifo: it is a FIFO' -np 1 "${go[@]}"; exit $wrong) || wrong=$((wrong + 1))
run --hostfile <(echo localhost slots=3) echo yes
is "a pipe of the shell's" "$rc $(cat out)" $'0 yes\nyes\nyes'
printf '%s\n' '-np 2 echo \' >app
bad 'app ends with a backslash, but no line follows' --app app

bad 'cannot start on host no-such-host.invalid: .*(resolve|ssh)' --host no-such-host.invalid -np 1 "${go[@]}"
bad 'cannot start on host 192.0.2.77: .+' --mca launch_timeout 1 --host localhost,192.0.2.77 -np 2 "${go[@]}"
bad 'cannot start on host far: cannot run nosuchagent' --mca plm_rsh_agent nosuchagent --host far -np 1 "${go[@]}"
bad 'cannot start on host far: false ended with exit status 1' --mca plm_rsh_agent false --host far -np 1 "${go[@]}"
bad '"0" is not a number of slots \(in localhost:0\); expected 1 to [0-9]+' --host localhost:0 -np 1 "${go[@]}"
bad '"x" is not a number of slots' -H localhost:x -np 1 "${go[@]}"
bad 'cannot read the hostfile nofile: No such file' --hostfile nofile -np 1 "${go[@]}"
echo '# nobody' >empty
bad 'the hostfile empty names no host' --hostfile empty -np 1 "${go[@]}"
echo 'localhost slots=many' >hosts
bad 'hosts, line 1: "many" is not a number of slots' --hostfile hosts -np 1 "${go[@]}"
echo 'localhost slotz=1' >hosts
bad '"slotz=1" is not valid in a hostfile' --hostfile hosts -np 1 "${go[@]}"
echo '192.0.2.77 slots=2' >hosts
bad 'cannot start on host 192.0.2.77' --mca launch_timeout 1 --hostfile hosts -np 1 "${go[@]}"
for name in '^far' '"far"' 'far:2:3' 'a;b' 'far*'; do
    echo "$name slots=2" >hosts
    bad 'in hosts is not the name of a host: it begins with "-", or contains a blank, a slash, a quote or' --hostfile hosts \
        -np 1 "${go[@]}"
done
echo 'rank 0=far slot=1' >hosts
bad '"0=far" is not valid in a hostfile; .* \(a rankfile is for --rankfile\)' --hostfile hosts -np 1 "${go[@]}"
echo 'far slots=0' >hosts
bad 'hosts, line 1: "0" is not a number of slots' --hostfile hosts -np 1 "${go[@]}"
echo 'localhost' >hosts
bad 'cannot start on host far' --hostfile hosts --host far -np 1 "${go[@]}"
bad '--nolocal excludes this machine, and there is no other host' --nolocal -np 1 "${go[@]}"

printf 'localhost\n\nlocalhost slots=0 # again\n' >hosts
bad 'hosts, line 3: "0" is not a number of slots .*; expected 1 to [0-9]+' --hostfile hosts -np 1 "${go[@]}"
printf 'localhost\nfar slots=3 max_slots=2\n' >hosts
bad 'hosts, line 2: host far has slots=3, more than its max_slots=2' --hostfile hosts -np 1 "${go[@]}"
for filter in 10.0.0.0/33 10.0.0/8 10.0.0.256/8 10.0.0.0/ 10.0.0.0/8x 10.0.0.0/-1 fd00::/129 eth0/8 10.0.0.0/255.0.0.0; do
    bad "btl_tcp_if_include: .$filter. is not a subnet; expected one such as 192" --mca btl_tcp_if_include "lo,$filter" -np 2 "${go[@]}"
done
bad 'btl_tcp_if_exclude: .10.0.0.0/99. is not a subnet; expected one such as 192' --mca btl_tcp_if_exclude 10.0.0.0/99 -np 2 "${go[@]}"
OMPI_MCA_btl_tcp_if_include=10.0.0.0/99 bad 'btl_tcp_if_include: .10.0.0.0/99. is not a subnet' -np 2 "${go[@]}"
bad 'parameter heartbeat_timeout is "-1" .option --mca.; expected a whole number from 0 to 86400' --mca heartbeat_timeout -1 --host far1,far2 "${go[@]}"
bad 'parameter launch_timeout is "0" .option --mca.; expected a whole number from 1 to 86400' --mca launch_timeout 0 --host far1,far2 "${go[@]}"
bad 'parameter launch_width is "99999999999" .option --mca.; expected a whole number from 1 to' --mca launch_width 99999999999 --host far1,far2 "${go[@]}"
bad '--bind-to: there is no word "foo"; known are overload-allowed' --bind-to core:foo -np 1 "${go[@]}"
bad '--rank-by: there is no word "foo"; known are span, fill' --rank-by core:foo -np 1 "${go[@]}"
bad '--output-filename: there is no word "foo"; known are nocopy, nojobid' --output-filename d:foo -np 1 "${go[@]}"
printf 'n1 slots=2\nn2 slots=4 max_slots=4\n' >hosts
bad 'the hostfile allows at most 4 ranks on n2 .max_slots., but this job needs more there' --hostfile hosts -N 9 "${go[@]}"
bad 'btl_tcp_if_exclude: .10.0.0.1. is an address; expected .* a subnet such as 10.0.0.1/24' --mca btl_tcp_if_exclude 10.0.0.1 -np 2 "${go[@]}"
echo 'localhost slots=2 max_slots=0' >hosts
bad 'hosts, line 1: "0" is not a number of slots' --hostfile hosts -np 1 "${go[@]}"
bad 'cannot read the hostfile /: Is a directory' --hostfile / -np 1 "${go[@]}"
echo localhost >unreadable
chmod 0 unreadable
[ "$(id -u)" = 0 ] || bad 'cannot read the hostfile unreadable: Permission denied' --hostfile unreadable -np 1 "${go[@]}"
bad '"me@" is not a host name' --host me@ -np 1 "${go[@]}"

# More ranks than slots, and what each host offers.
table() {
    run "$@"
    is "mpirun $*: exit status" "$rc" 1
    [ ! -s out ] || complain "mpirun $*: writes to standard output"
    [ ! -e started ] || complain "mpirun $*: the program was started"
}
table --host far1:2,far2:3 -np 6 "${go[@]}"
is "the table" "$(cat err)" 'mpirun: 6 ranks on 5 slots, and --oversubscribe was not given
    host  slots  max
    far1      2
    far2      3'
printf 'far1 slots=2 max_slots=2\nfar1234 slots=3\nfar1234 slots=1 max_slots=4\n' >hosts
table --hostfile hosts -np 7 "${go[@]}"
is "the table, with limits" "$(cat err)" 'mpirun: the job has 7 ranks, but the hostfile allows at most 6
    host     slots  max
    far1         2    2
    far1234      4    4'
# A host that is named more than once, here or there, is one with the slots of all.
table --host far1,far2:2,far1,far1 -np 6 "${go[@]}"
is "the table, of hosts named again" "$(cat err)" 'mpirun: 6 ranks on 5 slots, and --oversubscribe was not given
    host  slots  max
    far1      3
    far2      2'
run --host localhost,127.0.0.1:2 --dry-run --display allocation -q true
is "a host under two names" "$rc $(grep -c 'slots=' out) $(grep -c ': slots=3 ' out)" "0 1 1"
table --hostfile hosts -np 7 --oversubscribe "${go[@]}"
is "limits hold with --oversubscribe" "$(head -n 1 err)" 'mpirun: the job has 7 ranks, but the hostfile allows at most 6'
run --host far1:2,far2:3 -np 6 --oversubscribe --dry-run -q true
is "--oversubscribe" "$rc $(grep -c 'Process rank' out)" "0 6"
run --host far1:2 --host far2:3 -np 6 --map-by :OVERSUBSCRIBE --dry-run -q true
is ":OVERSUBSCRIBE" "$rc $(grep -c 'Process rank' out)" "0 6"
run -q --host localhost:2 -np 3 true
is "a single host" "$rc" 0
bad '3 ranks on 2 slots, and --nooversubscribe was given' --host localhost:2 --nooversubscribe -np 3 "${go[@]}"
bad '3 ranks on 2 slots, and --nooversubscribe was given' --host localhost:2 --map-by core:NOOVERSUBSCRIBE -np 3 "${go[@]}"

# Rankfiles: refused are those that cannot be meant, by file and line.
rankfile() {
    local sentence=$1 text=$2
    shift 2
    printf '%s\n' "$text" >ranks
    bad "$sentence" -q --rankfile ranks "$@" "${go[@]}"
}
bad 'cannot read the rankfile nofile: No such file' --rankfile nofile -np 1 "${go[@]}"
bad 'cannot read the rankfile /: Is a directory' -rf / -np 1 "${go[@]}"
bad '--map-by rankfile needs the option --rankfile FILE' --map-by rankfile -np 1 "${go[@]}"
bad '--map-by: there is no word "FILE=x"' --map-by core:FILE=x -np 1 "${go[@]}"
rankfile 'the rankfile ranks names no rank' '# nobody'
rankfile 'ranks, line 2: expected "rank N=HOST slot=SLOTS"' $'\nrang 0=localhost slot=0'
rankfile 'ranks, line 1: expected "rank N=HOST slot=SLOTS"' 'rank x=localhost slot=0'
rankfile 'ranks, line 1: expected "rank N=HOST slot=SLOTS"' 'rank 0=localhost slit=0'
rankfile 'ranks, line 1: expected "rank N=HOST slot=SLOTS"' 'rank 99999999999999999999=localhost slot=0'
rankfile 'ranks, line 1: "0-" is not a list of slots such as' 'rank 0=localhost slot=0-'
rankfile 'ranks, line 1: "" is not a list of slots such as' 'rank 0=localhost slot='
rankfile 'ranks, line 3: line 1 already says where rank 0 runs' $'rank 0=localhost slot=0\n\nrank 0=localhost slot=0'
rankfile 'the rankfile ranks does not say where rank 1 runs; each of 0 to 2 needs a line' $'rank 0=localhost\nrank 2=localhost'
rankfile 'the rankfile ranks says where 1 rank runs; expected all 2' 'rank 0=localhost' -np 2
rankfile 'ranks, line 1: host .* has no usable core 4000' 'rank 0=localhost slot=4000' --host localhost
rankfile 'ranks, line 1: host .* has [0-9]+ usable sockets?, but no socket 77' 'rank 0=localhost slot=77:0' --host localhost
rankfile 'ranks, line 2: host far is not in --host' $'rank 0=localhost\nrank 1=far slot=0' --host localhost:2
rankfile 'ranks, line 1: there is no host \+n1 in --host; expected \+n0 to \+n0' 'rank 0=+n1 slot=0' --host localhost
rankfile 'ranks, line 1: "\+x1" is not a host' 'rank 0=+x1 slot=0'
rankfile '--rankfile and --map-by seq both choose' 'rank 0=localhost' --map-by seq
echo localhost >hosts
rankfile 'ranks, line 1: host far is not in hosts' 'rank 0=far' --hostfile hosts
export SLURM_JOB_ID=7 SLURM_JOB_NODELIST='n[1-2]'
rankfile "ranks, line 1: host far is not in this Slurm job's allocation" 'rank 0=far'
bad "host far is not in this Slurm job's allocation" --map-by seq --host n1,far "${go[@]}"
SLURM_JOB_NODELIST='n[1-' bad '"n\[1-" is not a list of hosts as Slurm writes it' "${go[@]}"
unset SLURM_JOB_ID SLURM_JOB_NODELIST
bad '--map-by seq needs one host for each rank: there are 3 ranks, but 2 hosts' --map-by seq --host far1,far2 -np 3 "${go[@]}"

bad '--bind-to: no object "cores"' --bind-to cores -np 1 "${go[@]}"
bad '--map-by: no object "nodes"' --map-by nodes -np 1 "${go[@]}"
bad '--map-by: there is no word "pee=2"' --map-by core:pee=2 -np 1 "${go[@]}"
bad 'PE= needs a number' --map-by core:PE=x -np 1 "${go[@]}"
bad 'ppr:N:OBJECT' --map-by ppr:2 -np 1 "${go[@]}"
bad '-np is 3, but 1 per node on 1 host gives 1 ranks' -N 1 -np 3 "${go[@]}"
bad '--rank-by: no object "x"' --rank-by x -np 1 "${go[@]}"
for list in 0-99999999999 4096 -1 3-1 0,,1 0,x 1.5 "" 0-3- 99999999999999999999; do
    bad "--cpu-set: \"$list\" is not a list of processors; expected numbers from 0 to 4095 and ranges" --cpu-set "$list" -np 1 "${go[@]}"
done
bad '--cpu-set 4000-4001: there is no core 4000; this machine has [0-9]+' --cpu-set 4000-4001 -np 1 "${go[@]}"
bad '--stdin needs a number' --stdin some -np 1 "${go[@]}"
bad '--stdin names rank 3, but there are 2 ranks' -q --stdin 3 -np 2 "${go[@]}"
bad '--timeout -1 is too small; at least 0' --timeout -1 -np 1 "${go[@]}"
bad '--timeout needs a number' --timeout soon -np 1 "${go[@]}"
bad '--xterm is not supported' --xterm 0 -np 1 "${go[@]}"
MPIEXEC_TIMEOUT=x bad 'MPIEXEC_TIMEOUT needs a number' -np 1 "${go[@]}"
TMPDIR=/nonexistent XDG_RUNTIME_DIR=$PWD run -q -np 1 sh -c 'echo "$TERN_SESSION_DIR"'
has "TMPDIR that is not there" out "^$PWD/tern-[0-9]+/"
TMPDIR=/nonexistent XDG_RUNTIME_DIR=/proc run -q -np 1 sh -c 'echo "$TERN_SESSION_DIR"'
has "XDG_RUNTIME_DIR that cannot be used" out '^/tmp/tern-'

echo '--app again -np 1 true' >again
bad 'the application file again is nested in 16 others' --app again

# A misspelt parameter is no reason not to run, but worth a word; an unset variable likewise.
run -np 1 --mca btl_shm_single_cpoy 1 true
is "a misspelt parameter" "$rc $(wc -l <err)" "0 1"
has "a misspelt parameter" err 'no parameter btl_shm_single_cpoy; did you mean btl_shm_single_copy'
run -np 1 --initial-errhandler mpi_errors_retrun true
is "--initial-errhandler" "$rc $(wc -l <err)" "1 1"
has "--initial-errhandler" err 'mpi_initial_errhandler is "mpi_errors_retrun" \(--initial-errhandler\); expected one of mpi_errors_are_fatal, '
unset NO_SUCH_VARIABLE
run -np 1 -x NO_SUCH_VARIABLE true
has "an unset variable" err 'NO_SUCH_VARIABLE: the environment has no such variable'
is "an unset variable" "$rc" 0

# A program that the kernel refuses: found out when it is started.
printf 'neither a script nor a program\n' >data
chmod +x data
run -q -np 2 ./data
is "data as a program" "$rc $(wc -l <err)" "126 1"
has "data as a program" err 'cannot start rank [01] on host .*: Exec format error|executing the program'
tmp_is_empty || complain "left behind: $(find "$TMPDIR")"
finish
