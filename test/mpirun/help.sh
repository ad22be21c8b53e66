#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What mpirun says of itself: why a job runs as it does (--explain), --help, parameters that it knows, completion by shells.
. "$(dirname "$0")/check.bash"
. "$here/lines.bash"

# why a job runs as it does
echo 'pml_lanes = 4' >params
HWLOC_SYNTHETIC=$small OMPI_MCA_mca_param_files=$PWD/params OMPI_MCA_rmaps_base_mapping_policy=socket \
    run -q --dry-run --explain --mca btl_tcp_links 2 --host far1:2,far2:1 true
has "--explain: environment" out '^    OMPI_MCA_rmaps_base_mapping_policy = socket$'
has "--explain: option" out '^    btl_tcp_links +2 \(option\)$'
has "--explain: file" out "^    pml_lanes +4 \($PWD/params\)\$"
has "--explain: default" out '^    launch_timeout +10 \(default\)$'
has "--explain: map" out '^Ranks: mapped by socket \(asked for\), numbered by the map \(default\), bound to socket \(default\)$'
has "--explain: processors" out '^    rank 1 on far1: processors 4-7$'
has "--explain: this node" out '^    ranks of the same host: shm'
has "--explain: long messages" out '^        Long messages: (one copy|two copies, because)'
has "--explain: other nodes" out '^    ranks of other hosts: tcp'
run -q --dry-run --explain --oversubscribe -np 2 --mca btl_shm_single_copy never true
has "--explain: two copies" out 'Long messages: two copies, because btl_shm_single_copy is never\.$'
hasnt "--explain: one host" out 'ranks of other hosts'

# --help TOPIC, in Open MPI's topics
for topic in general debug output input mapping ranking binding devel compatibility launch dvm unsupported; do
    run --help $topic
    is "--help $topic" "$rc $(head -n 1 out | cut -c1-13) $(cat err)" "0 Usage: mpirun "
    [ "$(wc -l <out)" -ge 3 ] && [ "$(wc -l <out)" -lt 60 ] || complain "--help $topic: $(wc -l <out) lines"
done
run --help devel
has "--help devel" out '^  --display-map'
is "--help devel: what comes before what has no effect" "$(sed -n '/^Accepted without effect/,$p' out | grep -cE -- '--(display-map|explain|debug-daemons) ')" 0
has "--help devel: one dash" out '^  -d$'
run --help unsupported
hasnt "--help unsupported" out '--where'
run --explain --mca pml ucx --dry-run -np 1 true
has "--explain: no effect" out '^    --mca pml = ucx: no effect'
run --tag-output --report-bindings --bind-to core --cpu-set 0 -np 1 true
has "--report-bindings with --tag-output" err '^\[1,0\]<stderr>:\[.*MCW rank 0 '
has "--report-bindings with --cpu-set" err '^mpirun: sockets and cores are counted within the list of --cpu-set'
gives "--timeout 0" "0 a" --timeout 0 -np 1 echo a
refuses "option -check_mpi is a word of other launchers (MPICH, Intel MPI); here it is --mca check_level full" -check_mpi
run --help mapping
has "--help mapping" out '^  --map-by OBJECT'
hasnt "--help mapping" out '^  --tag-output'
run --help --tag-output
is "--help of an option" "$rc $(grep -c '^  ' out)" "0 1"
run --help nonsense
has "--help of nothing" err '^mpirun: --help nonsense: there is no such topic or option, so all of it is printed$'
has "--help of nothing" out '^  --tag-output'

# Every parameter of Open MPI's launcher is known: its own list, where it is installed.
if ompi_info --version 2>/dev/null | grep -q 'Open MPI v4\.1\.'; then
    ompi_info --all --parsable 2>/dev/null | tr -d '"' |
        sed -nE 's/^mca:(errmgr|ess|filem|grpcomm|hwloc|iof|odls|oob|orte|plm|ras|regx|rmaps|rml|routed|rtc|schizo|snapc|sstore|state):[^:]*:param:([^:]*):value:.*/\2/p' |
        sort -u >parameters
    [ "$(wc -l <parameters)" -gt 100 ] || complain "ompi_info lists $(wc -l <parameters) parameters of the launcher"
    while read -r name; do echo "-mca $name ''"; done <parameters >all
    run --tune all -np 1 true
    hasnt "parameters of the launcher" err 'there is no parameter'
fi

# every option that does something is in --help, in mpirun(1) and completed by shells
share=${MPIRUN%/bin/*}/share
"$MPIRUN" --help rows | awk -F'\t' '$1 && $2 == "used" { print $1 }' | tr -d ' ' | tr , '\n' >used
[ "$(wc -l <used)" -gt 90 ] || complain "mpirun --help rows has $(wc -l <used) names of options"
"$MPIRUN" --help all >help_all
sed -n 's/^\.It Fl //p' "$share/man/man1/mpirun.1" | sed 's/\(^\|, Fl \)\([^ ]*\)/\n-\2\n/g' >manual
tr -s '" ' '\n' <"$share/bash-completion/completions/mpirun" >completed
while read -r name; do
    bare=${name#-} bare=${bare#-}
    grep -qE -e "^  (.*, )?$name(,| |\$)" help_all || complain "--help does not have $name"
    grep -qx -e "-$bare" -e "--$bare" manual || complain "mpirun(1) does not have $name"
    grep -qx -e "--$bare" completed || complain "shells do not complete $name"
    run --help "$bare"
    [ "$bare" = output ] || # a topic, too
        is "--help $bare" "$rc $(grep -cE -e "^  (.*, )?$name(,| |\$)" out) $(cat err)" "0 1 "
done <used

# options are completed: those of the table
completions=${MPIRUN%/bin/*}/share/bash-completion/completions/mpirun
if [ -e "$completions" ]; then
    # completed WORD...: what the shell offers for the last word
    completed() {
        # shellcheck disable=SC2016
        bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tern_mpirun; echo "${COMPREPLY[*]}"' - "$completions" "$@"
    }
    is "mpirun --npers" "$(completed mpirun --npers)" "--npersocket"
    is "mpirun --mca btl_tcp_l" "$(PATH=${MPIRUN%/*}:$PATH completed mpirun --mca btl_tcp_l)" "btl_tcp_links"
    is "a foreign option" "$(completed mpirun --perhos)" ""
else
    complain "no completion in $completions"
fi
if command -v zsh >/dev/null; then
    # offered WORD...: all that zsh is offered for the last word
    offered() {
        # shellcheck disable=SC2016
        zsh -fc 'compadd() { print -l -- $@ }; _alternative() { print $@ }; file=$1; shift; words=($@) CURRENT=$# PREFIX=$@[-1]; . $file' \
            - "${MPIRUN%/bin/*}/share/zsh/site-functions/_mpirun" "$@" | grep -cxFe "$OFFER"
    }
    is "zsh: mpirun --npers" "$(OFFER=--npersocket offered mpirun --npers)" 1
    is "zsh: mpirun --mca btl_tcp_l" "$(PATH=${MPIRUN%/*}:$PATH OFFER=btl_tcp_links offered mpirun --mca btl_tcp_l)" 1
    is "zsh: a foreign option" "$(OFFER=--perhost offered mpirun --perhos)" 0
    is "zsh: a program" "$(OFFER='commands:program:_command_names -e files:file:_files' offered mpirun ri)" 1
fi
finish
