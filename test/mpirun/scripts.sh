#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What ranks get, what starts, and what cannot, as public job scripts, containers and tools write it.
. "$(dirname "$0")/check.bash"
. "$here/lines.bash"

printf -- '-x A=1 -x B="two words"\n--mca btl_tcp_links 3 -x C=4\n' >variables
gives "-x in a tune file" "0 1 two words" -q --tune variables -np 1 sh -c "$show"
gives "the command line prevails" "0 5 two words" -q -x A=5 --tune variables -np 1 sh -c "$show"
gives "--mca in a tune file" "0 3" -q --tune variables -np 1 sh -c 'echo $OMPI_MCA_btl_tcp_links'
gives "a list of variables" "0 1 x y" -q --mca mca_base_env_list 'A=1;B=x y' -np 1 sh -c "$show"
gives "a list in the environment" "0 1 2" OMPI_MCA_mca_base_env_list='A=1;B=2' -q -np 1 sh -c "$show"
gives "another delimiter" "0 1 2;3" OMPI_MCA_mca_base_env_list_delimiter=, OMPI_MCA_mca_base_env_list='A=1,B=2;3' \
    -q -np 1 sh -c "$show"
gives "a tune file that is not there" "1 mpirun: --tune: cannot read the file nowhere: No such file or directory" --tune nowhere true
gives "a settings file that is not there" "1 mpirun: --am: cannot read the file nowhere: No such file or directory" --am nowhere true
gives "--prepend-env" "0 /x:/y c/" A=/y B=c -q --prepend-env A /x --append-env 'B[/]' '' -np 1 sh -c "$show"
gives "an absolute path to mpirun" "0 $(realpath "${MPIRUN%/bin/*}")/lib" LD_LIBRARY_PATH= -q -np 1 sh -c 'echo "${LD_LIBRARY_PATH%%:*}"'
gives "--noprefix" "0 " LD_LIBRARY_PATH= -q --noprefix -np 1 sh -c 'echo "${LD_LIBRARY_PATH%%:*}"'
gives "orte_tag_output" "0 [1,0]<stdout>:a" -q --mca orte_tag_output 1 -np 1 echo a
gives "stderr as stdout" "0 a" -q --mca iof_base_redirect_app_stderr_to_stdout 1 -np 1 sh -c 'echo a >&2'
[ ! -s err ] || complain "iof_base_redirect_app_stderr_to_stdout: nothing is redirected"
gives "--output file=" "0 " -q --output file=log -np 1 echo a
is "--output file=: the file" "$(cat log.0.out)" a
gives "--output raw" "0 a" -q --output :raw -np 1 echo a
gives "--rtos" "0 " --rtos donotlaunch -np 1 echo a

# what starts, and what cannot
run --debug-daemons --mca plm_rsh_agent "$PWD/elsewhere" --host far1,far2 true
is "--debug-daemons" "$rc $(sort err | tr '\n' ';')" \
    "0 mpirun: host far1: answers;mpirun: host far1: started from here;mpirun: host far2: answers;mpirun: host far2: started from here;"
run --mca plm_base_verbose 5 --mca plm_rsh_agent "$PWD/elsewhere" --host far1 true
has "plm_base_verbose" err '^mpirun: host far1: answers$'
printf '#!/bin/sh\necho "$1: Permission denied (publickey,password)." >&2\nexit 255\n' >denied
printf '#!/bin/sh\necho "bash: line 1: /opt/bin/mpirun: No such file or directory" >&2\nexit 127\n' >missing
chmod +x denied missing
run --mca plm_rsh_agent "$PWD/denied" --host far1 true
has "a password is wanted" err 'far1: Permission denied .*; ssh must do without a password: ssh-copy-id puts your key there$'
run --mca plm_rsh_agent "$PWD/missing" --host far1 true
has "no mpirun there" err '; install mpirun there at the same path, or name it with --prefix or --launch-agent$'
# the first bytes of a program of a processor that does not exist
printf '\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\002\0\376\377\001\0\0\0%0200d' 0 >alien
echo 'echo hello' >headless
chmod +x alien headless
run -np 1 ./alien
is "a program for another processor" "$rc" 126
has "a program for another processor" err 'Exec format error \(it was built for another kind of processor\)$'
run -np 1 ./headless
has "a script without a first line" err 'Exec format error \(a script needs a first line such as #!/bin/sh\)$'

# Input that no rank reads is left to the next program.
printf '%s\n' one two three >input
while read -r line; do
    "$MPIRUN" -q -np 1 true
    echo "$line"
done <input >out
is "a loop over lines" "$(tr '\n' ' ' <out)" "one two three "
# shellcheck disable=SC2002
cat input | { while read -r line; do
    "$MPIRUN" -q --oversubscribe -np 2 true
    echo "$line"
done; } >out
is "a loop over a pipe" "$(tr '\n' ' ' <out)" "one two three "

# lists of networks that are not here: over what there is, one warning
if [ -n "${MPICC:-}" ]; then
    "$MPICC" -o ring "$here/../../examples/ring.c" || complain "cannot build ring"
    # travels WARNING WORD...
    travels() {
        local wanted=$1
        shift
        lines=$((lines + 1))
        run -q --mca plm_rsh_agent "$PWD/elsewhere" "$@" ./ring
        is "$*" "$rc $(wc -l <out) $(sed 's/.*\(the parameter btl is\)/\1/' err)" "0 1 $wanted"
    }
    for list in openib,self ^vader,tcp,openib,uct uct,self ofi,self; do
        travels "the parameter btl is \`$list\` and leaves out what these ranks need; self, shm and tcp are used, the only ones that can carry messages here" \
            --oversubscribe -np 2 --mca btl "$list"
    done
    travels "the parameter btl is \`^tcp\` and leaves out what these ranks need; self, shm and tcp are used, the only ones that can carry messages here" \
        --host localhost:1,far1:2 --mca btl ^tcp
    travels "the parameter btl is \`self\` and leaves out what these ranks need; self, shm and tcp are used, the only ones that can carry messages here" \
        --oversubscribe -np 2 --mca pml ucx --mca btl self
    travels "" --oversubscribe -np 2 --mca btl ^openib
    travels "" --oversubscribe -np 2 --mca btl ^tcp --mca pml ucx
    travels "" --oversubscribe -np 2 --mca btl vader,openib,self
    travels "" --oversubscribe -np 2 --mca btl smcuda,openib,self
    run -q --oversubscribe -np 2 --mca btl self ./ring
    [ "$rc" != 0 ] || complain "--mca btl self: ranks reach each other"
fi
finish
