# SPDX-License-Identifier: BSD-3-Clause
"""Makes from constants.txt what C has of each constant, and gives the other makers what Fortran and
the libraries have."""

import itertools

import table

BANNER = '/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by api/generate.py from api/constants.txt; do not edit. */\n'


def in_fortran(*kinds):
    return [c for c in table.read_constants() if c.in_fortran and c.kind in kinds]


# ---- C ----

def define(name, value):
    return '#define %s %s' % (name, '(%s)' % value if value.startswith('-') else value)


def refuse(c):
    """Returns a definition that makes the compiler say what to use instead."""
    return define(c.name, '%s_was_removed_in_MPI_3_0_use_%s' % (c.name, c.words['instead']))


def of_c(c):
    """Returns the lines of mpi.h for a constant that is no member of an enumeration."""
    star = c.type.find('*')
    spaced = c.type if star < 0 else c.type[:star] + ' ' + c.type[star:]
    if c.kind == 'address':
        return ['#define %s TERN_MPI_CAST(%s, %s)' % (c.name, spaced, c.value)]
    if c.kind == 'variable':
        return ['extern %s%s;' % (spaced, c.name)]
    if c.kind == 'function':
        return [define(c.name, 'OMPI_C_' + c.name)]
    if c.kind == 'string':
        return [define(c.name, '"%s"' % c.value)]
    if c.kind == 'removed':
        return [define('OMPI_WAS_' + c.name, c.value)] * (c.value != '-') + [refuse(c)]
    return [define(c.name, c.value)]


def enumeration(type_name, members):
    lines = ['    %s = %s,' % (c.name, c.value) for c in members]
    lines[-1] = lines[-1].rstrip(',')
    return ['typedef enum {'] + lines + ['} %s;' % type_name]


def declarations():
    """Returns the part of mpi.h that has the constants. It refuses removed names."""
    out, section = [], None
    wanted = [c for c in table.read_constants() if c.in_c or c.kind == 'removed']
    for (kind, type_name), group in itertools.groupby(wanted, lambda c: (c.kind, c.type)):
        group = list(group)
        for c in group:
            if c.section != section:
                out += ['', '/* %s */' % c.section]
            section = c.section
            out += of_c(c) if kind != 'enum' else []
        if kind == 'enum':
            out += enumeration(type_name, group)
    return '\n'.join(out[1:])


def make_error_classes(chapters, procedures, objects):
    """Makes the names and texts of the error classes, also of those that mpi.h does not name."""
    out = [BANNER, '/* {name, text} by number */']
    out += ['[%s] = {"%s", "%s"},' % (c.value, c.name, c.text) for c in table.read_constants() if c.kind == 'error']
    return '\n'.join(out + [''])


# ---- what Fortran has ----

def numbers():
    """Returns [(name, kind, value)] of the numbers that Fortran has. A name that C refuses still has
    its number in Fortran."""
    numbered = [c for c in in_fortran('int', 'length', 'offset', 'error', 'removed') if c.value != '-']
    return [(c.name, c.kind, int(c.value) - (c.kind == 'length')) for c in numbered]


def logicals(module):
    """Returns [(name, '.true.' or '.false.')]: what is so in the module."""
    return [(c.name, '.true.' if c.value == module else '.false.') for c in in_fortran('logical')]


def commons():
    """Returns [(COMMON block, name, type, shape)] of the variables whose addresses mean something."""
    out = []
    for c in in_fortran('address'):
        if 'fortran' in c.words:
            block, type_name, shape, _ = c.words['fortran'].split()
            out.append((block, c.name, type_name, '' if shape == '-' else shape))
    return out


def callbacks():
    """Returns the names of predefined functions that Fortran programs pass."""
    return [c.name for c in in_fortran('address', 'function') if 'fortran' not in c.words]


# ---- what libmpi exports ----

def functions():
    """Returns the functions: for C, and under each name by which a Fortran compiler may call one."""
    out = ['OMPI_C_' + c.name for c in table.read_constants() if c.kind == 'function']
    for name in callbacks():
        out += [name.lower() + '_', name.lower() + '__', name.lower(), name]
    return out


def sentinels():
    """Returns [(symbol, bytes)] of the variables whose addresses Fortran programs pass."""
    words = [c.words['fortran'].split() for c in in_fortran('address') if 'fortran' in c.words]
    return [(block + '_', int(size)) for block, _, _, size in words]


def pointers():
    """Returns [(symbol, symbol of the variable that it points to)]."""
    return [(c.name, c.words['points'] + '_') for c in table.read_constants() if c.kind == 'variable']
