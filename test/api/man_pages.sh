#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Each procedure that works has a manual page in section 3 of the installation, and so has its form with large counts. The
# pages name the parameters of mpi.h in its order, and the errors that the checks raise. MPI.3 lists all procedures. The
# formatter gives no warning.
set -eu
pages=$TERN_PREFIX/share/man/man3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "$*"
    exit 1
}

# A page for each procedure, and no other page.
"$TERN_PREFIX/bin/mpi_info" --parsable --procedures | sed -n 's/^procedure:\(.*\):yes$/\1/p' >"$scratch/works"
"$TERN_PREFIX/bin/mpi_info" --parsable --procedures | sed -n 's/^procedure:\(.*\):no$/\1/p' >"$scratch/absent"
[ -s "$scratch/works" ]
find "$pages" -name '*.3' | sed 's#.*/\(.*\)\.3$#\1#' | sort >"$scratch/pages"
{ cat "$scratch/works"; echo MPI; echo MPI_Constants; } | sort | diff - "$scratch/pages"

"$PYTHON3" -B - "$TERN_PREFIX/include/mpi.h" "$TERN_PREFIX/include/mpi-ext.h" "$pages" "$scratch/works" <<'PYTHON'
import os
import re
import sys

headers, pages, works = sys.argv[1:3], sys.argv[3], open(sys.argv[4]).read().split()
text = ''.join(open(h).read() for h in headers)
text = re.sub(r'/\*.*?\*/|"[^"\n]*"', '', text, flags=re.S)
macros = re.findall(r'^#define (MPI_[A-Z][a-z]\w+)\(([^()]*)\)', text, re.M)
text = re.sub(r'^ *#(?:.*\\\n)*.*$', '', text, flags=re.M)
declared = {name: inside.split(', ') for name, inside in macros}
for statement in text.split(';'):
    found = re.search(r'^\s*\w[\w \n*]*\b((?:MPIX?|OMPI)_\w+)\(([^()]*)\)(?:\s*TERN_MPI_\w+\(\))?$', statement)
    if not found or statement.lstrip().startswith('typedef'):
        continue
    name, inside = found.groups()
    parts = [re.sub(r'\[\w*\]', '', part).strip() for part in inside.split(',')]
    declared[name] = [re.search(r'(\w+|\.\.\.)$', part).group(1) for part in parts if part not in ('void', '')]


def section(text, title):
    found = re.search(r'^\.SH %s\n(.*?)(?=^\.SH )' % title, text, re.M | re.S)
    return found.group(1) if found else ''


faults, compared = [], 0
for name in works:
    page = open(os.path.join(pages, name + '.3')).read()
    if page.startswith('.so '):
        target = page.split('\n')[0][len('.so man3/'):]
        if target != name[:-2] + '.3' or not os.path.exists(os.path.join(pages, target)):
            faults.append('%s.3 leads to %s' % (name, target))
        continue
    for title in ('NAME', 'SYNOPSIS', 'ERRORS', 'SOURCE'):
        if not section(page, title).strip():
            faults.append('%s.3 has no section %s' % (name, title))
    for other in re.findall(r'^\.BR (\w+) \(3\)', page, re.M):
        if not os.path.exists(os.path.join(pages, other + '.3')):
            faults.append('%s.3 refers to %s(3), which does not exist' % (name, other))
    documented = [n.replace('\\&', '') for n in re.findall(r'^\.BR (\S+) " \(', section(page, 'PARAMETERS'), re.M)]
    if name not in declared:
        faults.append('%s is not in mpi.h' % name)
        continue
    # Some parameters exist in the form with large counts only.
    want = declared.get(name + '_c', declared[name])
    compared += 1
    if documented != want or not set(declared[name]) <= set(documented):
        faults.append('%s.3 has the parameters %s; mpi.h has %s' % (name, documented, want))
    # The C forms are those of the header.
    flat = re.sub(r'\s+', ' ', section(page, 'SYNOPSIS').replace('\\&', ''))
    for form in [name] + [name + '_c'] * (name + '_c' in declared):
        if not re.search(r'\b%s\(' % form, flat):
            faults.append('%s.3 does not show %s' % (name, form))
print('%d pages have parameters compared with mpi.h' % compared)
if faults or compared < 300:
    raise SystemExit('\n'.join(faults[:20] + ['%d faults' % len(faults)]))
PYTHON

# errors PROCEDURE: the error classes on its page
errors() {
    sed -n '/^\.SH ERRORS/,/^\.SH [^E]/s/^\.BR \(MPI_ERR_[A-Z_]*\)$/\1/p' "$pages/$1.3" | tr '\n' ' '
}
for fact in 'MPI_Send:MPI_ERR_BUFFER MPI_ERR_COMM MPI_ERR_COUNT MPI_ERR_RANK MPI_ERR_TAG MPI_ERR_TYPE ' \
    'MPI_Comm_size:MPI_ERR_ARG MPI_ERR_COMM ' 'MPI_Wtime:'; do
    [ "$(errors "${fact%%:*}")" = "${fact#*:}" ] || fail "${fact%%:*}.3 has the errors $(errors "${fact%%:*}"); expected ${fact#*:}"
done
errors MPI_Recv | grep -q MPI_ERR_TRUNCATE
grep -q '^Collective: all ranks of comm ' "$pages/MPI_Bcast.3"
if grep -q '^Collective: ' "$pages/MPI_Send.3"; then fail 'MPI_Send.3 says that it is collective'; fi
grep -q '^Nonblocking: ' "$pages/MPI_Ibcast.3"
grep -q '^Persistent: ' "$pages/MPI_Bcast_init.3"
grep -q '^ *integer(kind=MPI_COUNT_KIND), intent(in) :: count$' "$pages/MPI_Send.3"

# MPI.3: each procedure once, marked if it is not there.
sed 's/_c$//' "$scratch/works" "$scratch/absent" | sort -u >"$scratch/all"
sed -n 's/^\.BR \(\(MPIX\{0,1\}\|OMPI\)_[^ ]*\)\( ", .*_c"\)\{0,1\}$/\1/p' "$pages/MPI.3" | sed 's/_c$//' | sort >"$scratch/listed"
diff "$scratch/all" "$scratch/listed"
marked() {
    grep -A1 -E "^\.BR $1( |\$)" "$pages/MPI.3" | grep -q 'Not in this version\.$'
}
if marked MPI_Send; then fail 'MPI.3 says that MPI_Send is not in this version'; fi
[ "$(grep -c 'Not in this version\.$' "$pages/MPI.3")" = "$(grep -vc '_c$' "$scratch/absent")" ] ||
    fail 'MPI.3 marks another number of procedures as not in this version than mpi_info --procedures'
while read -r name; do
    case $name in *_c) continue ;; esac
    marked "$name" || fail "MPI.3 does not say that $name is not in this version"
done <"$scratch/absent"

# MPI_Constants.3: each number of mpi.h with its value, no other number for C, and all predefined handles.
sed -nE 's/^#define ((MPI|OMPI_COMM|IMPI)_\w*|OMPI_[A-Z]*_VERSION) \(?(-?[0-9]+)\)?$/\1 \3/p' "$TERN_PREFIX/include/mpi.h" |
    sort >"$scratch/numbers"
sed -nE 's/^    (MPI_T_\w+) = ([0-9]+),?$/\1 \2/p' "$TERN_PREFIX/include/mpi.h" | sort - "$scratch/numbers" >"$scratch/defined"
sed -nE '/^\.BR (\w+) " = (-?[0-9]+)"$/{N;/Fortran only\.$/!s/^\.BR (\w+) " = (-?[0-9]+)"\n.*/\1 \2/p}' "$pages/MPI_Constants.3" |
    sort | diff "$scratch/defined" -
[ "$(wc -l <"$scratch/defined")" -ge 240 ] || fail "only $(wc -l <"$scratch/defined") numbers in mpi.h"
sed -nE 's/^#define (MPI_\w+) \(&ompi_\w+\)$/\1/p' "$TERN_PREFIX/include/mpi.h" | sort >"$scratch/handles"
sed -n '/^\.SH PREDEFINED HANDLES/,/^\.SH SEE/p' "$pages/MPI_Constants.3" | grep -oE '\bMPI_[A-Z0-9_]+\b' | sort |
    diff "$scratch/handles" -

# What formats the pages. The first of these that is installed.
if command -v groff >/dev/null; then
    (cd "$pages/.." && groff -man -ww -z -Tascii man3/*.3) >"$scratch/warnings" 2>&1
elif command -v mandoc >/dev/null; then
    (cd "$pages/.." && mandoc -T lint -W warning man3/*.3) >"$scratch/warnings" 2>&1 || true
else
    echo 'neither groff nor mandoc is installed: the pages were not formatted'
    : >"$scratch/warnings"
fi
[ ! -s "$scratch/warnings" ] || { head -20 "$scratch/warnings"; fail 'warnings from the formatter'; }
