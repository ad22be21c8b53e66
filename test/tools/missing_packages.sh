#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# On a machine that lacks something, configure and quickstart name all of it at once, with Debian's packages.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/build"
failures=0
# says FILE WORD...
says() {
    local file=$1 word
    shift
    for word; do
        if ! grep -qF -- "$word" "$file"; then
            echo "no '$word' in what was said:"
            cat "$file"
            failures=$((failures + 1))
        fi
    done
}

cd "$scratch/build"
! PKG_CONFIG_LIBDIR=/nonexistent PKG_CONFIG_PATH='' "$TERN_SRCDIR/configure" >/dev/null 2>"$scratch/said" ||
    { echo "configure goes on without PMIx and hwloc"; exit 1; }
says "$scratch/said" PMIx hwloc "apt-get install libpmix-dev libhwloc-dev"

# a library that pkg-config knows, without its headers
mkdir "$scratch/pc"
printf 'libdir=%s\nName: pmix\nDescription: none\nVersion: 4.0\nLibs: -lpmix\n' "$scratch/pc" >"$scratch/pc/pmix.pc"
! PKG_CONFIG_PATH=$scratch/pc "$TERN_SRCDIR/configure" >/dev/null 2>"$scratch/said" ||
    { echo "configure goes on without PMIx's headers"; exit 1; }
says "$scratch/said" "the header pmix_server.h" "apt-get install libpmix-dev"

# a dpkg-query that knows of no package but make, and an archive that has some only
cat >"$scratch/bin/dpkg-query" <<'TEXT'
#!/bin/sh
for last; do :; done
test "$last" = make && echo installed
TEXT
cat >"$scratch/bin/apt-cache" <<'TEXT'
#!/bin/sh
case $2 in abinit | chromium-headless-shell | libclang-rt-dev) ;; *) echo "$2 | 1.0" ;; esac
TEXT
chmod +x "$scratch/bin/dpkg-query" "$scratch/bin/apt-cache"
cd "$scratch"
for command in "check --drop-in" "packages --drop-in"; do
    # shellcheck disable=SC2086 # words
    ! PATH=$scratch/bin:$PATH "$TERN_SRCDIR/quickstart" $command --no-install >"$scratch/said" 2>&1 ||
        { echo "quickstart $command --no-install goes on without packages"; exit 1; }
    says "$scratch/said" "missing: gcc " "apt-get install gcc g++" libhwloc-dev gromacs \
        "not in the archive of this system, left out: abinit"
    ! grep -qE 'install.* (make|abinit)( |$)' "$scratch/said" || { echo "make or abinit is installed"; exit 1; }
    grep -qE 'install.* chromium( |$)' "$scratch/said" || { echo "no second name is tried"; exit 1; }
done
! PATH=$scratch/bin:$PATH "$TERN_SRCDIR/quickstart" check --no-install >"$scratch/said" 2>&1
! grep -q gromacs "$scratch/said" || { echo "quickstart check fetches the programs of others"; exit 1; }
! "$TERN_SRCDIR/quickstart" --nonsense >"$scratch/said" 2>&1 || { echo "quickstart --nonsense is accepted"; exit 1; }
says "$scratch/said" "unknown argument '--nonsense'"

# What automake and libtool cannot build in or for is said before anything is installed.
mkdir "$scratch/a blank"
cp "$TERN_SRCDIR/quickstart" "$scratch/a blank"
! "$scratch/a blank/quickstart" --no-install >"$scratch/said" 2>&1 || { echo "a clone in 'a blank' is accepted"; exit 1; }
says "$scratch/said" "'$scratch/a blank' has a blank"
! "$TERN_SRCDIR/quickstart" --no-install --prefix 'a blank' >"$scratch/said" 2>&1 ||
    { echo "--prefix 'a blank' is accepted"; exit 1; }
says "$scratch/said" "/a blank' has a blank"
cd "$scratch/build"
! "$TERN_SRCDIR/configure" --prefix="$scratch/a blank" >/dev/null 2>"$scratch/said" ||
    { echo "configure --prefix='a blank' is accepted"; exit 1; }
says "$scratch/said" "/a blank has a blank"
[ $failures = 0 ]
