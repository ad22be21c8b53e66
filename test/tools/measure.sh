#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi_info --measure stores figures that jobs then use, all ranks of a job the same; a file with a fault is named with the
# line and does not count; without a second core, or a home, there is a message.
set -u
bin=$(dirname "$MPICC")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset XDG_CONFIG_HOME
export HOME=$scratch/home
fail() {
    echo "$*"
    tail -n 20 out 2>/dev/null
    exit 1
}
# how NAME FIELD [COMMAND...]: a field of a figure, as the command sees it
how() {
    local name=$1 field=$2
    shift 2
    "$@" "$bin/mpi_info" --parsable --model 2>err | sed -n "s/^model:$name:$field://p"
}

one=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
! taskset -c "$one" "$bin/mpi_info" --measure >out 2>&1 || fail "one core is enough"
grep -q 'needs two cores' out || fail "no word about the one core"
! env -u HOME "$bin/mpi_info" --measure >out 2>&1 || fail "stored without a home"
grep -q 'neither XDG_CONFIG_HOME nor HOME' out || fail "no word about the home that is missing"
[ ! -e home ] || fail "something was stored"
[ "$(how coll_switch source)" = default ] || fail "not the default, but nothing is stored"
if [ "$(nproc)" -lt 2 ]; then
    echo "this machine has one core: nothing more can be measured"
    exit 77
fi

file=$("$bin/mpi_info" --parsable --path all | sed -n 's/^path:figures://p')
# A link under a name that can be guessed is not followed.
mkdir -p "$(dirname "$file")"
echo precious >victim
if bash -c 'ln -s "$PWD/victim" "$1.$$"; exec "$2" --measure' - "$file" "$bin/mpi_info" >out 2>&1; then
    [ "$(cat victim)" = precious ] || fail "--measure wrote into the file behind a link: $(cat victim)"
    [ -f "$file" ] || fail "no $file"
    measured=$(sed -n 's/^coll_switch = //p' "$file")
    [ "$measured" -gt 0 ] || fail "$file has no coll_switch"
    grep -q "coll_switch *$measured ns" out || fail "not printed with its unit"
    [ "$(grep -cE '^shm_(again_gap|take_gap|turns_gap|prepared) = [0-9]+$' "$file")" = 4 ] || fail "$file does not say what lines cost"
else # nothing sensible can be measured while others use the cores
    grep -q 'cannot believe.*_.*found to be.*expected.*nothing is stored.*taskset' out || fail "exit status $?"
    [ ! -e "$file" ] || fail "stored nevertheless"
    measured=1234
    mkdir -p "$(dirname "$file")"
    "$bin/mpi_info" --parsable --model | sed -n 's/^model:\([a-z_]*\):measured:yes$/\1 = 1234/p' >names
    { echo '# by hand'; cat names; echo "end = $(wc -l <names)"; } >"$file"
fi
[ "$(how coll_switch value)" = "$measured" ] || fail "mpi_info --model does not show the measured value"
[ "$(how coll_switch source)" = "$file" ] || fail "nor where it comes from"

# the file that a parameter names comes first
printf 'coll_switch = 6\nend = 1\n' >named
[ "$(how coll_switch value env OMPI_MCA_coll_model_file=named)" = 6 ] || fail "coll_model_file does not come first"
[ "$(how coll_call source env OMPI_MCA_coll_model_file=named)" = default ] || fail "two files are mixed"

# ranks get what mpirun has read, whatever they could read themselves
mkdir other
cp -r home/.tern other
sed -i 's/^coll_switch = .*/coll_switch = 77777/' other/.tern/figures-*
cat >show <<SH
#!/bin/sh
[ \$OMPI_COMM_WORLD_RANK = 0 ] || HOME=$scratch/other
exec $bin/mpi_info --parsable --model
SH
chmod +x show
"$MPIRUN" -n 2 ./show >out 2>&1 || fail "exit status $? of ranks"
[ "$(grep -c ":coll_switch:value:$measured\$" out)" = 2 ] || fail "not all ranks have the figures that mpirun has read"
[ "$(grep -c ':coll_switch:source:mpirun$' out)" = 2 ] || fail "nor do they say that they are mpirun's"
[ "$(grep -c ":coll_cores:value:$(getconf _NPROCESSORS_ONLN)\$" out)" = 2 ] || fail "nor have they the number of cores from there"
# also those on a host where the user has others
cat >reach <<SH
#!/bin/sh
shift
HOME=$scratch/other exec "\$@"
SH
chmod +x reach
OMPI_MCA_plm_rsh_agent=$scratch/reach "$MPIRUN" --host localhost:1,far:1 -n 2 ./show >out 2>&1 || fail "exit status $? of far ranks"
[ "$(grep -c ":coll_switch:value:$measured\$" out)" = 2 ] || fail "a far rank has other figures"
"$MPIRUN" -n 2 --mca coll_model_file named ./show >out 2>&1 || fail "exit status $?"
[ "$(grep -c ':coll_switch:value:6$' out)" = 2 ] || fail "--mca coll_model_file does not come first"
# under another launcher they have none
[ "$(how coll_switch source env PMIX_NAMESPACE=other PMIX_RANK=1 TERN_FIGURES=coll_switch=9)" = default ] ||
    fail "figures under a launcher that did not read them"

# faults
cp "$file" good
faulty() { # faulty LINE WHAT: the file does not count, the message names the line
    [ "$(how coll_switch source)" = default ] || fail "$2: the file counts"
    grep -q "$file line $1: " err || fail "$2: no word of line $1: $(cat err)"
    "$MPIRUN" -n 2 ./show >out 2>&1 || fail "$2: exit status $?"
    [ "$(grep -c "line $1: " out)" = 1 ] || fail "$2: not said once"
    [ "$(grep -c ':coll_switch:source:default$' out)" = 2 ] || fail "$2: ranks do not use the default"
}
head -n 5 good >"$file"
faulty 6 "cut off"
sed '3s/=.*/= fast/' good >"$file"
faulty 3 "no number"
sed '4s/.*/coll_speed = 3/' good >"$file"
faulty 4 "unknown"
sed 3d good >"$file"
faulty "$(wc -l <"$file")" "one is missing"
: >"$file"
faulty 1 "empty"
cp good "$file"
[ "$(how coll_switch source)" = "$file" ] || fail "the good file does not count again"

# XDG_CONFIG_HOME is a home of its own
mkdir -p config/tern
cp good "config/tern/$(basename "$file")"
[ "$(how coll_switch source env XDG_CONFIG_HOME="$scratch/config")" = "$scratch/config/tern/$(basename "$file")" ] ||
    fail "XDG_CONFIG_HOME is not looked at"
exit 0
