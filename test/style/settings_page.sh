#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# docs/from-open-mpi.md has what the rows of the settings say, and mpirun(1) has a place for every option. A planted row is found.
set -eu
page="$TERN_SRCDIR/test/style/settings_page.py"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$MPIRUN" --help rows >"$work/rows"
"$PYTHON3" -B "$page" "$TERN_SRCDIR" <"$work/rows" ||
    { echo "write it anew: mpirun --help rows | test/style/settings_page.py . --write"; exit 1; }
{ cat "$work/rows"; printf -- '--planted\tnone\t\t\t\t\n--hidden\tused\t\tdebug\t\tdoes something\n'; } >"$work/more"
if found=$("$PYTHON3" -B "$page" "$TERN_SRCDIR" <"$work/more"); then echo "a planted row was not found"; exit 1; fi
grep -qF -e '--planted' <<<"$found"
if awk -f "$TERN_SRCDIR/man/options.awk" "$work/more" "$TERN_SRCDIR/man/mpirun.1.in" >"$work/page" 2>"$work/said"; then
    echo "mpirun(1) takes an option without a place in it"
    exit 1
fi
grep -qx 'mpirun.1.in has no place for --hidden' "$work/said"
