#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A test that no Makefile.am names never runs; a source or a page that none names is not in the tarball.
set -eu
cd "$TERN_SRCDIR"

missing=0
# listed MAKEFILE FOLDER FILE...: each file, as written below FOLDER, stands in the makefile (with or without its .c)
listed() {
    local makefile=$1 folder=$2 file
    shift 2
    for file; do
        [ ! -e "$file" ] || echo "${file#"$folder"/}"
    done | awk -v folder="$folder" -v makefile="$makefile" '
        FNR == NR { for (n = 1; n <= NF; n++) there[$n] = 1; next }
        { name = $0; sub(/\.c$/, "", name) }
        !(name in there || name ".c" in there) { print folder "/" $0 " is not named in " makefile; missing = 1 }
        END { exit missing }' "$makefile" - || missing=1
}

listed test/Makefile.am test test/unit/*.c test/mpi/*.c test/*/*.sh test/*/*.py
listed lib/Makefile.am lib lib/*/*.[ch] lib/*/*/*.[ch] lib/*/*.cpp
listed mpirun/Makefile.am mpirun mpirun/*.[ch] mpirun/*/*.[ch]
listed tools/Makefile.am tools tools/*.[ch]
listed mpicheck/Makefile.am mpicheck mpicheck/*.[ch] mpicheck/*/*.[ch]
listed Makefile.am . README.md docs/*.md docs/*/*.md
listed lib/Makefile.am lib lib/*/*.md
[ "$missing" = 0 ]
