#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The commands of the pages run as they stand, for somebody who has an installation and nothing else. Those for several hosts:
# hosts/pages.sh.
LEAVE_SIGNALS=yes
. "$(dirname "$0")/../mpirun/check.bash"
unset MPIRUN MPICC MPICXX
run_page() { "$PYTHON3" -B "$here/../tools/run_page.py" "$@"; }
# runs FOLDER PAGE: as its reader there
runs() { (cd "$1" && HOME=$PWD run_page "$2") || complain "$2"; }

# README: in a clone, into which quickstart has installed
mkdir clone home
ln -s "$TERN_PREFIX" clone/install
cp -r "$TERN_PREFIX/share/tern-mpi/examples" clone
runs clone "$TERN_SRCDIR/README.md"

# the guide: at home, with the installation only; then pages whose readers have read the guide
ln -s "$TERN_PREFIX" home/tern
runs home "$TERN_SRCDIR/docs/user-guide.md"
for page in abi checking fortran tuning; do PATH=$scratch/home/tern/bin:$PATH runs home "$TERN_SRCDIR/docs/$page.md"; done

# a page that is wrong is found
finds() {
    printf '    %s\n' "$1" >page.md
    PAGE_AGAIN_S=0 run_page page.md >out 2>&1 && complain "a wrong page passes: $1"
    has "a wrong page" out "^WRONG: page.md:1: $2: "
}
finds "no-such-command" "ends with 127"
finds "true   # exit status 3" "ends with 0"
finds "exit 4" "ends the shell"
finds '$ echo one' "prints something else than the page"
finds 'echo two  # "three"' "prints something else than the page"
accepts() {
    printf '    %s\n' "$@" >page.md
    run_page page.md >out 2>&1 || complain "a right page does not pass: $*"
}
# shellcheck disable=SC2016 # the page's shell expands it
accepts 'true   # exit status 3 (bad 4), 1 or 0' 'x=1' '' '[ "$x" = 1 ]' 'echo a b  # "a ..."'
accepts '$ echo on host me, pid 12, for 3 s; seq 3' 'on host you, pid 99, for 0.5 s' 1 ...
finish
