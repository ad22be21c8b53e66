# SPDX-License-Identifier: BSD-3-Clause
"""Makes a tool for tests, built as profilers are. interpose.c is a library to be preloaded. It
defines every procedure, counts the calls, and passes them on to the PMPI_ name. interpose.h,
included before a program's text, counts the program's own calls. When a process ends both counts
must be equal. They differ if a call bypasses the tool, or if a call of the library to itself
goes through the tool."""

import kinds

HEAD = '''/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by api/generate.py (interpose.py) from api/procedures.txt; do not edit. */
#define _GNU_SOURCE 1 /* RTLD_NEXT */
#define OMPI_BUILDING 1 /* removed procedures, too, and no warnings about deprecated ones */
#include <mpi.h>
#include <mpi-ext.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    const char *name;
    long seen, expected;
} calls[] = {
@TABLE@
};
enum { COUNT = sizeof calls / sizeof *calls };

/* Another preloaded library may define these, and is told when a call begins and ends. */
void interpose_entered(void) __attribute__((weak));
void interpose_left(void) __attribute__((weak));
/* and which arguments are buffers of a communication */
void interpose_buffer(const void *buffer) __attribute__((weak));

static int see(int index)
{
    if (interpose_entered)
        interpose_entered();
    __atomic_fetch_add(&calls[index].seen, 1, __ATOMIC_RELAXED);
    return index;
}

static void note_buffer(const void *buffer)
{
    if (interpose_buffer)
        interpose_buffer(buffer);
}

static void leave(int *index)
{
    (void)index;
    if (interpose_left)
        interpose_left();
}

void interpose_expect(int index);
void interpose_expect(int index)
{
    __atomic_fetch_add(&calls[index].expected, 1, __ATOMIC_RELAXED);
}

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

static pid_t owner;

__attribute__((constructor)) static void begin(void)
{
    owner = getpid();
}

/* Says what was called; the program's own count is known only to one that includes interpose.h. */
__attribute__((destructor)) static void end(void)
{
    long total = 0, expected = 0;
    int names = 0, wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        names += calls[i].seen > 0;
        total += calls[i].seen;
        expected += calls[i].expected;
    }
    if (expected == 0 || owner != getpid())
        return; /* mpirun, a shell, a child made by fork */
    for (int i = 0; i < COUNT; i++)
        if (calls[i].seen != calls[i].expected) {
            fprintf(stderr, "%s was seen %ld times by the tool, called %ld times by the program\\n", calls[i].name,
                    calls[i].seen, calls[i].expected);
            wrong++;
        }
    printf("interposed: %d procedures, %ld calls, %d wrong\\n", names, total, wrong);
    fflush(stdout);
    if (wrong)
        _exit(1);
}
'''

HEADER = '''/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by api/generate.py (interpose.py) from api/procedures.txt; do not edit. */
#ifndef INTERPOSE_H
#define INTERPOSE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C"
#endif
void interpose_expect(int index);

@MACROS@

#endif
'''


def entries(procedures):
    """Returns (procedure, large) of each function, in the order of the table."""
    return [(p, large) for p in procedures if p.declared for large in ((False, True) if p.has_twin else (False,))]


def wrapper(index, procedure, large):
    prototype = kinds.prototype(procedure, large)
    arguments = ', '.join(p.name for p in procedure.parameters if kinds.passed(p, large) and p.kind != 'VARARGS')
    name = procedure.name + ('_c' if large else '')
    if procedure.has_profiling:
        call = 'P%s(%s)' % (name, arguments)
    else:
        returned, parameters = prototype.split(' ' + name, 1)
        call = '((%s (*)%s)next("%s"))(%s)' % (returned, parameters, name, arguments)
    # memory that is given to MPI for longer is no buffer
    given = name.startswith('MPI_Win_') or 'attach' in name.lower() or name == 'MPI_Free_mem'
    buffers = ''.join('    note_buffer(%s);\n' % p.name for p in procedure.parameters if p.kind == 'BUFFER' and not given)
    return ('%s\n{\n%s    __attribute__((cleanup(leave), unused)) int numbered = see(%d);\n    return %s;\n}\n'
            % (kinds.wrap(prototype), buffers, index, call))


def make_library(chapters, procedures, objects):
    rows, functions = [], []
    for index, (procedure, large) in enumerate(entries(procedures)):
        rows.append('    {"%s%s", 0, 0},' % (procedure.name, '_c' if large else ''))
        functions.append(wrapper(index, procedure, large))
    return HEAD.replace('@TABLE@', '\n'.join(rows)) + '\n' + '\n'.join(functions)


def make_header(chapters, procedures, objects):
    names = [p.name + ('_c' if large else '') for p, large in entries(procedures)]
    return HEADER.replace('@MACROS@', '\n'.join(
        '#define %s(...) (interpose_expect(%d), %s(__VA_ARGS__))' % (name, i, name) for i, name in enumerate(names)))
