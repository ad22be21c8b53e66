#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The commands of the pages run as they stand, for somebody who has an installation and nothing else. Those for several hosts:
# hosts/pages.sh.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset MPIRUN MPICC MPICXX
run_page=("$PYTHON3" -B "$TERN_SRCDIR/test/tools/run_page.py")

# reader NAME: a folder of one's own, in which a page's reader begins
reader() {
    mkdir "$scratch/$1"
    cd "$scratch/$1"
    export HOME=$PWD
}

# README: in a clone, into which quickstart has installed
reader clone
ln -s "$TERN_PREFIX" install
cp -r "$TERN_PREFIX/share/tern-mpi/examples" .
"${run_page[@]}" "$TERN_SRCDIR/README.md"

# the guide: at home, with the installation only
reader home
ln -s "$TERN_PREFIX" tern
"${run_page[@]}" "$TERN_SRCDIR/docs/user-guide.md"

# pages whose readers have read the guide
export PATH=$HOME/tern/bin:$PATH
for page in checking tuning; do "${run_page[@]}" "$TERN_SRCDIR/docs/$page.md"; done

# a page that is wrong is found
fails() {
    printf '%s\n' "$1" >wrong.md
    if PAGE_AGAIN_S=0 "${run_page[@]}" wrong.md >said 2>&1; then
        echo "a wrong page passes:"
        cat wrong.md
        exit 1
    fi
    grep -q "^WRONG: wrong.md:[0-9]*: $2: " said || { cat said; exit 1; }
}
fails "    no-such-command" "ends with 127"
fails "    true   # exit status 3" "ends with 0"
fails "    exit 4" "ends the shell"
fails '    $ echo one' "prints something else than the page"
# shellcheck disable=SC2016 # the page's shell expands it
printf '    %s\n' "true   # exit status 3 (bad 4), 1 or 0" 'x=1' '' '[ "$x" = 1 ]' "    echo a b  # \"a ...\"" >right.md
"${run_page[@]}" right.md >/dev/null
printf '    %s\n' '$ echo on host me, pid 12, for 3 s; seq 3' 'on host you, pid 99, for 0.5 s' 1 ... >right.md
"${run_page[@]}" right.md >/dev/null
