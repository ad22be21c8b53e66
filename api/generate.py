#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes from the tables in this folder everything that repeats the MPI interface; README.md lists it.

    generate.py --out DIR          writes all files below DIR, except those that would not change
    generate.py --list             names the files, one per line
    generate.py --check            only reads the tables and reports errors in them
"""

import argparse
import os
import re
import sys
import textwrap

import bad_arguments
import collective_bodies
import constants
import entry
import faces
import fortran
import fortran_calls
import fortran_modules
import fortran_results
import interpose
import kinds
import man_constants
import man_pages
import table

MPI_H_IN = os.path.join(table.HERE, '..', 'include', 'mpi.h.in')
BANNER = '/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by api/generate.py from %s; do not edit. */\n'

# Exported in addition to procedures, objects.txt and what constants.txt names: functions written by
# hand ...
OTHER_FUNCTIONS = ['ompi_mpi_init', 'ompi_op_set_cxx_callback', 'tern_core', 'tern_face_calls']
# What Tern's Fortran libraries use of libmpi.
OTHER_FUNCTIONS += ['tern_fortran_' + name for name in 'calls few follow handle refuse tables'.split()]
# ... symbols without which Open MPI's own Fortran and C++ libraries cannot be loaded at all
# (lib/mpi/life/other_mpi.c).
FOREIGN = ['ompi_errcode_intern_lastused', 'ompi_errcodes_intern', 'ompi_mpi_param_check',
           'ompi_mpi_state', 'ompi_registered_datareps', 'ompi_status_empty']
FOREIGN += ['ompi_%s' % name for name in (
    'attr_create_keyval attr_create_keyval_aint attr_create_keyval_fint attr_get_aint attr_get_fint attr_set_aint '
    'attr_set_fint datatype_match_size errhandler_create errhandler_invoke fortran_argv_blank_f2c fortran_argv_count_f2c '
    'fortran_multiple_argvs_f2c fortran_string_c2f fortran_string_f2c mpi_errors_are_fatal_comm_handler').split()]

STRUCT_TAGS = {
    'comm': 'ompi_communicator_t', 'group': 'ompi_group_t', 'request': 'ompi_request_t', 'message': 'ompi_message_t',
    'op': 'ompi_op_t', 'errhandler': 'ompi_errhandler_t', 'info': 'ompi_info_t', 'win': 'ompi_win_t',
    'file': 'ompi_file_t', 'datatype': 'ompi_datatype_t', 'session': 'ompi_instance_t',
}


def attributes(procedure):
    """Returns what mpi.h adds to the declaration of a deprecated or removed procedure."""
    for word in ('deprecated', 'removed'):
        if word in procedure.words:
            version, advice = procedure.words[word].split(', ')
            text = '%s was %s in MPI-%s; %s instead' % (procedure.name, word, version, advice)
            if word == 'removed':
                return '\n    TERN_MPI_REMOVED("%s")' % text
            # Procedures deprecated by 4.x have no replacement in the version of the standard that
            # mpi.h names.
            if version < '4':
                return '\n    TERN_MPI_DEPRECATED("%s")' % text
    return ''


def bindings(procedures, chapters):
    """Returns the declarations of the working procedures for mpi.h."""
    out = []
    for chapter, title in chapters.items():
        working = [p for p in procedures if p.chapter == chapter and p.declared]
        if not working:
            continue
        out += ['', '/* %s */' % title]
        for prefix in ('', 'P'):
            for p in working:
                if prefix and not p.has_profiling:
                    continue
                for large in ((False, True) if p.has_twin else (False,)):
                    out.append(kinds.wrap(kinds.prototype(p, large, prefix)) + attributes(p) + ';')
    return '\n'.join(out[1:])


def predefined(objects):
    out, kind = [], None
    for o in objects:
        if kind != o.kind:
            out.append('')
        kind = o.kind
        out.append('extern struct %s %s;' % (STRUCT_TAGS[o.kind], o.symbol))
        out += ['#define %s (&%s)' % (name, o.symbol) for name in o.names]
    return '\n'.join(out[1:])


def make_mpi_h(chapters, procedures, objects):
    text = open(MPI_H_IN, encoding='utf-8').read()
    for marker, value in (('@CONSTANTS@', constants.declarations()), ('@OBJECTS@', predefined(objects)),
                          ('@PROCEDURES@', bindings(procedures, chapters))):
        if text.count(marker) != 1:
            raise SystemExit('%s: expected %s once' % (MPI_H_IN, marker))
        text = text.replace(marker, value)
    return text


def comparable(prototype):
    """Returns a prototype without names of parameters and without const. Two procedures with one
    implementing function must have equal ones."""
    text = re.sub(r'\bconst\b ?', '', prototype)
    text = text.replace('MPI_Copy_function', 'MPI_Comm_copy_attr_function')
    text = text.replace('MPI_Delete_function', 'MPI_Comm_delete_attr_function')
    return re.sub(r'\b\w+(?=[,)\[])', '', text).replace('[]', '*').replace(' ', '')


def make_procedures_h(chapters, procedures, objects):
    out = [BANNER % 'api/procedures.txt', '#ifndef TERN_PROCEDURES_H', '#define TERN_PROCEDURES_H', '',
           '/* What implements each working procedure. Arguments are checked as far as the comment says; api/README.md has '
           'the rules. */', '', '#include "lib/util/base/ints.h"', '', '#include <mpi.h>', '#include <stdbool.h>', '']
    out += ['struct %s;' % h.state for h in kinds.HANDLES.values()]
    out += ['', '/* A collective is done, started or prepared; ret_request is NULL if it is done. */',
            'enum tern_form {TERN_BLOCKING, TERN_NONBLOCKING, TERN_PERSISTENT};']
    first = {}
    for chapter, title in chapters.items():
        out += ['', '/* ---- %s ---- */' % title]
        for p in procedures:
            if p.chapter != chapter or not p.declared:
                continue
            prototype = kinds.private_prototype(p)
            if p.does in first:
                if comparable(first[p.does]) != comparable(prototype):
                    raise SystemExit('procedures.txt:%d: %s and an earlier procedure want different parameters of %s:\n'
                                     '    %s\n    %s' % (p.line, p.name, p.does, first[p.does], prototype))
                out.append('/* %s: the same as above (%s). */' % (p.name, p.does))
                continue
            first[p.does] = prototype
            out += ['', '\n'.join(textwrap.wrap('/* %s: %s%s */' % (p.name, p.description, entry.promises(p)), 110,
                                                subsequent_indent=' * ')), kinds.wrap(prototype) + ';']
    return '\n'.join(out + ['', '#endif', ''])


def make_objects_c(chapters, procedures, objects):
    magics = {'comm': 'COMM', 'group': 'GROUP', 'request': 'REQUEST', 'message': 'MESSAGE', 'op': 'OP',
              'errhandler': 'ERRHANDLER', 'info': 'INFO', 'win': 'WIN', 'file': 'FILE', 'datatype': 'DATATYPE',
              'session': 'SESSION'}
    out = [BANNER % 'api/objects.txt and api/constants.txt',
           '/* mpi.h is not included: there these objects have other types. */',
           '#include "lib/util/base/handle.h"', '', '#define EXPORTED __attribute__((visibility("default")))', '']
    for size in sorted({o.size for o in objects}):
        out += ['union object_%d {' % size, '    struct tern_handle handle;', '    char size[%d];' % size, '};']
    out.append('')
    out += ['extern struct tern_%s %s;' % (o.kind, o.state) for o in objects if o.state]
    out.append('')
    for o in objects:
        state = '&' + o.state if o.state else 'NULL'
        out.append('EXPORTED union object_%d %s = {{TERN_MAGIC_%s, %d, %s}};'
                   % (o.size, o.symbol, magics[o.kind], o.fortran, state))
    out += ['', '/* All of them, for MPI_Xxx_f2c; ended by NULL. */',
            'struct tern_handle *const tern_predefined_handles[] = {']
    out += ['    &%s.handle,' % o.symbol for o in objects] + ['    NULL,', '};']
    out += ['', '/* Fortran programs bring these themselves, in COMMON; the dynamic linker takes theirs. */']
    out += ['EXPORTED _Alignas(int) char %s[%d];' % s for s in constants.sentinels()]
    out.append('')
    out += ['extern int *%s;\nEXPORTED int *%s = (int *)%s;' % (name, name, target)
            for name, target in constants.pointers()]
    return '\n'.join(out + [''])


def make_conversions_c(chapters, procedures, objects):
    out = [BANNER % 'api/procedures.txt', '/* An integer without a handle becomes a NULL pointer, which every procedure refuses '
           'with the error of its kind. */', '#include "lib/mpi/object/fortran.h"', '#include "lib/mpi/procedures.h"']
    for p in procedures:
        kind, _, way = p.name[len('MPI_'):].partition('_')
        if way not in ('c2f', 'f2c') or kind == 'Status':
            continue
        magic = 'DATATYPE' if kind == 'Type' else kind.upper()
        value = p.parameters[0].name
        out += ['', kinds.private_prototype(p), '{']
        out += ['    return tern_fortran_index((struct tern_handle *)%s);' % value if way == 'c2f' else
                '    return (void *)tern_fortran_handle(TERN_MAGIC_%s, %s);' % (magic, value), '}']
    return '\n'.join(out + [''])


def make_map(chapters, procedures, objects):
    names = []
    for p in procedures:
        if p.exported:
            for suffix in ('', '_c') if p.has_twin else ('',):
                names += [p.name + suffix] + (['P' + p.name + suffix] if p.has_profiling else [])
    names += constants.functions() + OTHER_FUNCTIONS + FOREIGN + [o.symbol for o in objects]
    names += [name for name, _ in constants.sentinels() + constants.pointers()]
    lines = ['# Made by api/generate.py; do not edit. No version name: Open MPI\'s symbols have none either.', '{',
             'global:']
    lines += ['    %s;' % n for n in sorted(names)] + ['local:', '    *;', '};', '']
    return '\n'.join(lines)


def make_procedures_inc(chapters, procedures, objects):
    out = [BANNER % 'api/procedures.txt', '/* {name, chapter, since, works, where in Fortran}: of `mpi_info --procedures`. */']
    for p in procedures:
        for suffix in ('', '_c') if p.has_twin else ('',):
            since = '4.0' if suffix and p.since < '4.0' else p.since
            out.append('{"%s%s", "%s", "%s", %d, "%s"},' % (p.name, suffix, chapters[p.chapter], since, p.works,
                                                            fortran.where(p, bool(suffix))))
    return '\n'.join(out + [''])


def artefacts(chapters, procedures):
    """Returns {path below DIR: function that makes its text}."""
    files = {
        'mpi.h': make_mpi_h,
        'lib/mpi/procedures.h': make_procedures_h,
        'collectives.c': collective_bodies.make,
        'conversions.c': make_conversions_c,
        'error_classes.inc': constants.make_error_classes,
        'objects.c': make_objects_c,
        'libmpi.map': make_map,
        'procedures.inc': make_procedures_inc,
        'bad_arguments.c': bad_arguments.make,
        'interpose.c': interpose.make_library,
        'interpose.h': interpose.make_header,
        'fortran_glue.c': fortran.make,
        'fortran_sections.c': fortran.make_sections,
        'fortran_sizeof.c': fortran.make_sizeof_c,
        'fortran_types.c': fortran.make_types_c,
        'mpif.h': fortran_modules.make_mpif_h,
        'mpi.F90': fortran_modules.make_mpi,
        'mpi_f08.F90': fortran_modules.make_mpi_f08,
        'calls_mpif_h.f90': fortran_calls.make('mpif.h'),
        'calls_mpi.f90': fortran_calls.make('mpi'),
        'calls_mpi_f08.f90': fortran_calls.make('mpi_f08'),
        'results_mpif_h.f90': fortran_results.make('mpif.h'),
        'results_mpi.f90': fortran_results.make('mpi'),
        'results_mpi_f08.f90': fortran_results.make('mpi_f08'),
        'hand_names.inc': fortran.make_hand_names,
        'libmpi_mpifh.map': fortran.make_mpifh_map,
        'libmpi_usempif08.map': fortran.make_f08_map,
        'libmpi_usempi_ignore_tkr.map': fortran.make_ignore_tkr_map,
        'face_core.h': faces.make_core_h,
        'face_core.c': faces.make_core_c,
        'standard_values.h': faces.make_values('standard'),
        'abi/mpi.h': faces.make_header,
        'standard_calls.c': faces.make_calls('standard'),
        'libmpi_abi.map': faces.make_map,
        **man_pages.files(procedures),
        man_pages.FOLDER + 'MPI_Constants.3': man_constants.make,
    }
    for chapter in chapters:
        files['entry_%s.c' % chapter] = lambda c, p, o, chapter=chapter: entry.make(chapter, c, p)
    return files


def write(path, text):
    """Writes the file, unless it already has this text: a new time would make other files
    rebuild."""
    try:
        if open(path, encoding='utf-8').read() == text:
            return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path + '.new', 'w', encoding='utf-8') as f:
        f.write(text)
    os.replace(path + '.new', path)


def remove_old_pages(out, files):
    """Removes manual pages of an earlier run: the folder is installed as it is."""
    for name in os.listdir(os.path.join(out, man_pages.FOLDER)):
        if man_pages.FOLDER + name not in files:
            os.remove(os.path.join(out, man_pages.FOLDER, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', metavar='DIR')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--check', action='store_true')
    arguments = parser.parse_args()
    chapters, procedures = table.read_procedures()
    objects = table.read_objects()
    files = artefacts(chapters, procedures)
    if arguments.list:
        print('\n'.join(files))
        return
    texts = {name: make(chapters, procedures, objects) for name, make in files.items()}
    if arguments.check:
        return
    if not arguments.out:
        parser.error('one of --out, --list, --check is needed')
    for name, text in texts.items():
        write(os.path.join(arguments.out, name), text)
    remove_old_pages(arguments.out, files)


if __name__ == '__main__':
    main()
