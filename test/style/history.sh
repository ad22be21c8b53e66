#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NEWS and the commits tell of changes in one form: test/style/history.py says which; first, that it finds planted faults.
set -eu
"$PYTHON3" -B "$TERN_SRCDIR/test/style/history.py" --self-test
"$PYTHON3" -B "$TERN_SRCDIR/test/style/history.py" "$TERN_SRCDIR"
