# SPDX-License-Identifier: BSD-3-Clause
"""Makes the manual page MPI_Constants.3 from constants.txt and objects.txt."""

import fortran_modules
import table
from man_pages import escape, item, sentence

BANNER = '.\\" SPDX-License-Identifier: BSD-3-Clause\n.\\" Made by api/generate.py from api/constants.txt; do not edit.\n'
ONLY = {'all': '', 'C': ' C only.', 'Fortran': ' Fortran only.'}
WITH_VALUE = ('int', 'length', 'offset', 'error', 'enum')

DESCRIPTION = '''The constants of MPI-4.1, with those that Open MPI has besides, and their values. Where nothing else is said, C has them \
in mpi.h, and Fortran in mpif.h and in the modules mpi and mpi_f08.
A program uses the names: other MPI libraries have other values.'''


def constant(c):
    value = ' " = %s"' % c.value if c.kind in WITH_VALUE else ' " = \\(dq%s\\(dq"' % c.value if c.kind == 'string' else ''
    return item(c.name + value, sentence(c.text) + ONLY[c.languages])


def handles(objects):
    """Returns an item for each kind of handle: the names of the predefined ones."""
    out = []
    for kind, type_name in fortran_modules.HANDLE_TYPES.items():
        names = [name for o in objects if o.kind == kind for name in o.names]
        out += item(type_name, ', '.join(names) + '.')
    return out


def make(chapters, procedures, objects):
    out = ['.TH MPI_Constants 3 "" "Tern MPI" "MPI constants"', '.ad l', '.nh', '.SH NAME',
           'MPI_Constants \\- the constants of Tern MPI', '.SH DESCRIPTION'] + DESCRIPTION.split('\n')
    section = None
    for c in table.read_constants():
        if c.languages == '-' or c.kind == 'removed':
            continue
        if c.section != section:
            title, _, more = c.section.partition('. ')
            out += ['.SH ' + title.upper()] + [escape(more)] * bool(more)
        section = c.section
        out += constant(c)
    out += ['.SH PREDEFINED HANDLES'] + handles(objects)
    out += ['.SH SEE ALSO', '.BR MPI (3),', '.BR mpi_info (1)']
    return BANNER + '\n'.join(out) + '\n'
