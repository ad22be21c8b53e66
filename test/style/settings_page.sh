#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# docs/from-open-mpi.md has what the rows of the settings say, and man/mpirun.1 every option that does something. A planted row is found.
set -eu
page="$TERN_SRCDIR/test/style/settings_page.py"
"$PYTHON3" -B "$page" "$TERN_SRCDIR" || { echo "write it anew: test/style/settings_page.py . --write"; exit 1; }
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
for file in docs/from-open-mpi.md man/mpirun.1 mpirun/plan/words/option_table.c lib/settings/open_mpi.c; do
    mkdir -p "$copy/$(dirname "$file")"
    cp "$TERN_SRCDIR/$file" "$copy/$file"
done
sed -i 's|^    { "cf", IGNORED(1) },|    { "planted", IGNORED(1) },\n    { "hidden", FLAG(explain) },|' "$copy/mpirun/plan/words/option_table.c"
if found=$("$PYTHON3" -B "$page" "$copy"); then echo "a planted row was not found"; exit 1; fi
grep -qF -e '--planted' <<<"$found"
grep -qF 'man/mpirun.1 does not name the option --hidden' <<<"$found"
