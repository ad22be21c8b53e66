# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by scripts that need a program or library of others.

# in_archive PACKAGE: does this system's archive have it? Also true where nothing is known of the archive.
in_archive() {
    [ -z "$(apt-cache madison gcc 2>/dev/null)" ] || [ -n "$(apt-cache madison "$1" 2>/dev/null)" ]
}

# needs FILE PACKAGE...: ends the test if there is no such file. It has failed if one of the packages, any of which would
# bring the file, can be had; else it is skipped.
needs() {
    local file=$1 package
    shift
    [ -z "$file" ] || [ ! -e "$file" ] || return 0
    for package; do
        if in_archive "$package"; then
            echo "${file:-a file of $package} is missing; as root: apt-get install $package"
            exit 1
        fi
    done
    echo "SKIPPED: this system's archive has no package $*"
    exit 77
}

# needs_libfabric: skips the test where the library under test was built without libfabric.
needs_libfabric() {
    [ "${TERN_HAVE_LIBFABRIC:-no}" = no ] || return 0
    echo "SKIPPED: this build has no byte mover ofi: configure found no libfabric 1.17 or newer"
    exit 77
}
