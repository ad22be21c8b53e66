#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The sources keep their walls: test/style/source.py says what is checked; first, that it finds planted faults.
set -eu
"$PYTHON3" -B "$TERN_SRCDIR/test/style/source.py" --self-test
"$PYTHON3" -B "$TERN_SRCDIR/test/style/source.py" "$TERN_SRCDIR" "$TERN_BUILDDIR"
