#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The user guide's commands for several hosts run as they stand; see tools/pages.sh.
HOSTS=4 LEAVE_SIGNALS=yes
. "$(dirname "$0")/hosts.bash"
mkdir home
ln -s "$TERN_PREFIX" home/tern
cd home || exit 1
nsenter -t "${inits[1]}" -m -n -u -i -p --wd="$PWD" -- env -u MPIRUN -u MPICC -u MPICXX HOME="$PWD" \
    "$PYTHON3" -B "$TERN_SRCDIR/test/tools/run_page.py" --have hosts "$TERN_SRCDIR/docs/user-guide.md" >../said 2>&1 ||
    complain "the page"
cat ../said
finish
