#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make_constants.py LIST c|mpif.h|mpi|mpi_f08: writes a program that compiles only if it knows every name of the list for
its language, and ends with status 0 only if each has the value that the list says."""

import sys

CONVERT = {'MPI_Datatype': 'MPI_Type'}


def read(path):
    """Returns [(name, kind, type, languages, value)]."""
    out = []
    for line in open(path, encoding='utf-8'):
        if line.strip() and not line.startswith('#'):
            name, kind, languages, value = line.split()
            kind, _, type_name = kind.partition(':')
            out.append((name, kind, type_name, languages, value))
    return out


# ---- C ----

C_HEAD = '''#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int wrong;
static void same(const char *name, long long got, long long expected)
{
    if (got != expected)
        wrong += printf("%s is %lld in C; expected %lld\\n", name, got, expected) > 0;
}
/* A class has a text behind its name. */
static void has_text(int class, const char *name)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(class, text, &length);
    size_t own = strlen(name);
    if (strncmp(text, name, own) || strncmp(text + own, ": ", 2) || !text[own + 2])
        wrong += printf("the text of %s is \\"%s\\"\\n", name, text) > 0;
}
'''
# the preprocessor does not know members of enumerations
C_ENUM = '_Static_assert({name} == {value}, "{name}");\n'
C_NUMBER = '''#if {name} != {value}
#error {name} has another value
#endif
''' + C_ENUM


def is_class(name):
    return name.startswith(('MPI_ERR_', 'MPI_T_ERR_', 'MPI_SUCCESS')) and name != 'MPI_ERR_LASTCODE'


def program_c(names):
    top, calls = [], []
    for name, kind, type_name, languages, value in names:
        if languages == 'Fortran':
            continue
        if kind in ('int', 'length', 'offset', 'enum'):
            top.append((C_ENUM if kind == 'enum' else C_NUMBER).format(name=name, value=value))
            if is_class(name):
                calls.append('has_text(%s, "%s");' % (name, name))
        elif kind == 'type':
            top.append('extern %s type_%s;\n' % (name, name))
        elif kind == 'callback':
            top.append('extern %s *function_%s;\n' % (name, name))
        elif kind == 'address':
            top.append('static %s address_%s(void)\n{\n    return %s;\n}\n' % (type_name, name, name))
            get = '(intptr_t)address_%s()' % name
            calls.append('same("%s", %s, %s);' % ((name, get + ' != 0', 1) if value == '-' else (name, get, value)))
        elif kind == 'handle':
            calls.append('same("%s", %s_c2f(%s), %s);' % (name, CONVERT.get(type_name, type_name), name, value))
        else:
            calls.append('same("%s", %s != NULL, 1);' % (name, name))
    body = ['MPI_Init(NULL, NULL);'] + calls + ['MPI_Finalize();', 'if (!wrong)', '    puts("all right in c");', 'return wrong != 0;']
    return C_HEAD + ''.join(top) + 'int main(void)\n{\n' + ''.join('    %s\n' % line for line in body) + '}\n'



# ---- Fortran ----

# The module mpi_f08 does not have these.
OLD = ('MPI_NULL_COPY_FN', 'MPI_DUP_FN', 'MPI_NULL_DELETE_FN')

FORTRAN_TAIL = '''  call MPI_Finalize(ierror)
  if (wrong > 0) stop 1
  print '(a)', 'all right in {how}'
contains
  subroutine same(name, got, expected)
    character(*), intent(in) :: name
    integer, intent(in) :: got, expected
    if (got == expected) return
    print '(a, i0, a, i0)', name // ' is ', got, '; expected ', expected
    wrong = wrong + 1
  end subroutine
  subroutine is_there(name, address)
    character(*), intent(in) :: name
    integer(8), intent(in) :: address
    if (address /= 0) return
    print '(a)', name // ' is at no address'
    wrong = wrong + 1
  end subroutine
end program
'''


def program_fortran(names, how):
    f08 = how == 'mpi_f08'
    top, calls = [], []
    for name, kind, _, languages, value in names:
        if languages == 'C':
            continue
        if kind == 'type' and f08:
            top.append('type(%s) :: a_%s' % (name, name))
        elif kind == 'callback' and f08:
            top.append('procedure(%s), pointer :: f_%s => null()' % (name, name))
        elif kind in ('int', 'offset', 'length'):
            calls.append('same("%s", int(%s), %d)' % (name, name, int(value) - (kind == 'length')))
        elif kind == 'logical':
            calls.append('same("%s", merge(1, 0, %s), %d)' % (name, name, value == how))
        elif kind == 'handle':
            calls.append('same("%s", %s, %s)' % (name, name + '%MPI_VAL' * f08, value))
        elif kind in ('address', 'function') and not (f08 and name in OLD):
            calls.append('is_there("%s", loc(%s))' % (name, name))
    head = ['program constants'] + ['  use ' + how] * (how != 'mpif.h') + ['  implicit none']
    head += ["  include 'mpif.h'"] * (how == 'mpif.h')
    body = ['  ' + line for line in top] + ['  integer :: ierror, wrong = 0', '  call MPI_Init(ierror)']
    body += ['  call ' + line for line in calls]
    return '\n'.join(head + body) + '\n' + FORTRAN_TAIL.format(how=how)


def main():
    path, how = sys.argv[1:]
    names = read(path)
    if len(names) < 400:
        raise SystemExit('only %d names in %s' % (len(names), path))
    print(program_c(names) if how == 'c' else program_fortran(names, how), end='')


main()
