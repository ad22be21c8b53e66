#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The generator gives the same text each time, whatever the hash seed and the folder it is called from; it leaves files
# alone that would not change, and says what is wrong in a table that has a fault.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
generate() {
    "$PYTHON3" -B "$TERN_SRCDIR/api/generate.py" "$@"
}

PYTHONHASHSEED=1 generate --out one
(cd /; PYTHONHASHSEED=2 generate --out "$scratch/two")
diff -r one two
[ "$(generate --list | sort)" = "$(cd one && find . -type f | sed 's#^\./##' | sort)" ]

find one -type f -exec touch -d '2001-01-01' {} +
generate --out one
rewritten=$(find one -type f -newermt '2001-01-02')
[ -z "$rewritten" ] || { echo "written again without a change: $rewritten"; exit 1; }

# A fault in the table: file, line and what is wrong.
cp -r "$TERN_SRCDIR/api" api
mkdir -p include
cp "$TERN_SRCDIR"/include/mpi*.h.in include/
chmod -R u+w api include
for fault in 's/const BUFFER buf,/const BUFER+ buf,/' 's/^MPI_Send /MPI_Recv /' 's/ yes 1\.0/ maybe 1.0/' 's/does:/dose:/'; do
    sed "$fault" "$TERN_SRCDIR/api/procedures.txt" >api/procedures.txt
    if "$PYTHON3" -B api/generate.py --check 2>message; then
        echo "the generator took a table with $fault"
        exit 1
    fi
    grep -qE 'procedures\.txt:[0-9]+: ' message || { echo "no file and line for $fault:"; cat message; exit 1; }
done
cp "$TERN_SRCDIR/api/procedures.txt" api/
for fault in 's/^MPI_ANY_TAG /MPI_ANY_SOURCE /' 's/ int 4 all/ int four all/' 's/ error 2 all/ error 1 all/' 's/ length / lenght /' \
    's/ instead: / points: /'; do
    sed "$fault" "$TERN_SRCDIR/api/constants.txt" >api/constants.txt
    if "$PYTHON3" -B api/generate.py --check 2>message; then
        echo "the generator took a table with $fault"
        exit 1
    fi
    grep -qE 'constants\.txt:[0-9]+: ' message || { echo "no file and line for $fault:"; cat message; exit 1; }
done
cp "$TERN_SRCDIR/api/constants.txt" api/

# One word changes what is declared, and what the function does; it is there in both cases.
for word in no yes; do
    sed "s/^MPI_Ibarrier *[a-z]* /MPI_Ibarrier $word /" "$TERN_SRCDIR/api/procedures.txt" >api/procedures.txt
    "$PYTHON3" -B api/generate.py --out $word
    grep -qx '    PMPI_Ibarrier;' $word/libmpi.map
done
if grep 'MPI_Ibarrier(' no/mpi.h; then exit 1; fi
grep -q 'int MPI_Ibarrier(MPI_Comm comm, MPI_Request \*request);' yes/mpi.h
grep -q 'tern_raise_on(.*"MPI_Ibarrier", TERN_ERR_UNSUPPORTED_OPERATION)' no/entry_coll.c
grep -q 'tern_mpi_barrier(' yes/entry_coll.c
