#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The fuzzer finds no fault in any target within FUZZ_SECONDS (30) each.
exec "$TERN_SRCDIR/test/fuzz/run" --build "$PWD/.." --seconds "${FUZZ_SECONDS:-30}"
