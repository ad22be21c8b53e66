#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The table of procedures agrees with the MPI Forum's data of MPI-4.0, and the comparison would notice if it did not.
set -eu
check=$TERN_SRCDIR/test/api/check_table.py
"$PYTHON3" -B "$check" "$TERN_SRCDIR"
"$PYTHON3" -B "$check" --prove "$TERN_SRCDIR"
