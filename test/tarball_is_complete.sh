#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `make dist` packs is all that git knows, with configure. So a build from the tarball is a build from a clone; make distcheck
# does one, which takes as long as all tests.
set -eu
export LC_ALL=C
if ! git -C "$TERN_SRCDIR" ls-files --error-unmatch configure.ac >/dev/null 2>&1; then
    echo "SKIPPED: this is no clone: nothing says which files there should be"
    exit 77
fi
scratch=$(mktemp -d "$TERN_BUILDDIR/tarball.XXXXXX")
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
make -C "$TERN_BUILDDIR" distdir distdir="${scratch##*/}/packed" >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log"; exit 1; }
(cd "$scratch/packed" && find . ! -type d | sed 's,^\./,,' | sort) >"$scratch/there"
{
    (cd "$TERN_SRCDIR" && git ls-files -- . ':!.gitignore' ':!.clang-format' | while read -r file; do [ ! -e "$file" ] || echo "$file"; done)
    printf '%s\n' configure config.h.in Makefile.in build-aux/ltmain.sh # which autoreconf makes
} | sort >"$scratch/wanted"
comm -13 "$scratch/there" "$scratch/wanted" >"$scratch/missing"
while read -r file; do
    echo "$file is not in the tarball: name it in the Makefile.am of its folder (EXTRA_DIST)"
done <"$scratch/missing"
[ ! -s "$scratch/missing" ]
