# SPDX-License-Identifier: BSD-3-Clause
"""Makes a face: a library with another binary interface over the one core, and the mpi.h of its programs.

faces/NAME.txt has the values of the interface. A generated function converts the arguments, calls the core's
entry point through the table tern_core, and converts the results. What cannot be told from the kinds stands in
lib/face/NAME_by_hand.c (BY_HAND)."""

import functools
import os
import re
from dataclasses import dataclass

import kinds
import table

HERE = os.path.dirname(os.path.abspath(__file__))
BANNER = '/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by api/generate.py from api/faces/%s.txt and the other tables; do not edit. */\n'

# Kinds whose numbers are members of an enumeration, as a pattern of their names. Other numbers of such a kind
# have no meaning: they stay, unless the core would take them for one that has.
ENUMERATIONS = {
    'THREAD_LEVEL': 'MPI_THREAD_.*', 'COMM_COMPARISON': 'MPI_(IDENT|CONGRUENT|SIMILAR|UNEQUAL)',
    'GROUP_COMPARISON': 'MPI_(IDENT|CONGRUENT|SIMILAR|UNEQUAL)', 'COMBINER': 'MPI_COMBINER_.*', 'LOCK_TYPE': 'MPI_LOCK_.*',
    'ORDER': 'MPI_ORDER_.*', 'SPLIT_TYPE': 'MPI_COMM_TYPE_.*', 'TOPOLOGY_TYPE': 'MPI_(CART|GRAPH|DIST_GRAPH)',
    'TYPECLASS': 'MPI_TYPECLASS_.*', 'UPDATE_MODE': 'MPI_SEEK_.*', 'DISTRIB_ENUM': 'MPI_DISTRIBUTE_(BLOCK|CYCLIC|NONE)',
    'DTYPE_DISTRIBUTION': 'MPI_DISTRIBUTE_DFLT_DARG', 'BIND_TYPE': 'MPI_T_BIND_.*', 'TOOL_VAR_VERBOSITY': 'MPI_T_VERBOSITY_.*',
    'VARIABLE_SCOPE': 'MPI_T_SCOPE_.*', 'PVAR_CLASS': 'MPI_T_PVAR_CLASS_.*', 'CALLBACK_SAFETY': 'MPI_T_CB_.*',
    'SOURCE_ORDERING': 'MPI_T_SOURCE_.*', 'WIN_FLAVOR': 'MPI_WIN_FLAVOR_.*', 'WIN_MODEL': 'MPI_WIN_(UNIFIED|SEPARATE)',
    'KEYVAL': 'MPI_(TAG_UB|HOST|IO|WTIME_IS_GLOBAL|APPNUM|LASTUSEDCODE|UNIVERSE_SIZE|KEYVAL_INVALID)|MPI_WIN_'
              '(BASE|SIZE|DISP_UNIT|CREATE_FLAVOR|MODEL)',
    'ERROR_CLASS': 'MPI_SUCCESS|MPI_ERR_(?!LASTCODE).*|MPI_T_ERR_.*',
}
# Any positive number may be a block size.
ANY_NUMBER = {'DTYPE_DISTRIBUTION'}
FLAGS = {'ACCESS_MODE': 'MPI_MODE_(APPEND|CREATE|DELETE_ON_CLOSE|EXCL|RDONLY|RDWR|SEQUENTIAL|UNIQUE_OPEN|WRONLY)',
         'ASSERT': 'MPI_MODE_(NOCHECK|NOPRECEDE|NOPUT|NOSTORE|NOSUCCEED)'}
RANKS = ('RANK', 'RANK_NNI')
CODES = ('ERROR_CODE', 'ERROR_CLASS')

# What the standard interface does not have: names of MPI-1, Fortran's integers, Open MPI's own.
ABSENT = re.compile(r'MPIX_|OMPI_|.*_(c2f|f2c|c2f08|f2f08|f082c|f082f)$|MPI_(Address|Errhandler_(create|get|set)|'
                    r'Type_(extent|hindexed|hvector|lb|struct|ub))$')
# Procedures that lib/face has: they take functions of the program, or values whose meaning depends on another argument.
BY_HAND = set('''MPI_Abi_get_version MPI_Abi_get_info MPI_Get_version MPI_Pcontrol MPI_Aint_add MPI_Aint_diff MPI_Comm_create_keyval
    MPI_Type_create_keyval MPI_Win_create_keyval MPI_Keyval_create MPI_Comm_get_attr MPI_Attr_get MPI_Win_get_attr
    MPI_Op_create MPI_Comm_create_errhandler MPI_Win_create_errhandler MPI_File_create_errhandler
    MPI_Session_create_errhandler MPI_Grequest_start MPI_Register_datarep MPI_T_event_register_callback
    MPI_T_event_handle_free MPI_T_event_set_dropped_handler MPI_T_cvar_handle_alloc MPI_T_pvar_handle_alloc
    MPI_T_event_handle_alloc MPI_Type_get_contents MPI_Comm_spawn_multiple
    MPI_Psend_init MPI_Precv_init MPI_Info_set
    MPI_Info_get MPI_Info_delete MPI_Info_get_string MPI_Info_get_valuelen MPI_Info_get_nthkey'''.split())


@dataclass
class Value:
    name: str
    kind: str
    value: int


@dataclass
class Face:
    name: str
    values: list

    def of_kind(self, *kinds_wanted):
        return [v for v in self.values if v.kind in kinds_wanted]

    def number(self, name):
        return next(v.value for v in self.values if v.name == name)


@functools.lru_cache(maxsize=None)
def read(name):
    """Returns the face that faces/NAME.txt describes."""
    values, path = [], os.path.join(HERE, 'faces', name + '.txt')
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        words = line.split()
        if not words or words[0].startswith('#'):
            continue
        if len(words) != 3:
            table.fail(path, number, 'expected NAME KIND VALUE')
        values.append(Value(words[0], words[1], int(words[2], 0)))
    return Face(name, values)


def core_numbers():
    """Returns {name: value} of the core's constants that are numbers."""
    return {c.name: int(c.value) for c in table.read_constants() if c.kind in table.NUMBERS}


def functions(procedures, has):
    """Yields (procedure, large) for each function of an interface."""
    for p in procedures:
        if p.exported and p.works and has(p):
            for large in (False, True) if p.has_twin else (False,):
                yield p, large


def in_standard(p):
    return not ABSENT.match(p.name)


def in_core(p):
    """Returns true if the table of the core has the procedure: toint and fromint need c2f and f2c."""
    return in_standard(p) or p.name.endswith(('_c2f', '_f2c')) and 'Status' not in p.name


def name_of(p, large):
    return p.name + ('_c' if large else '')


# ---- the core's table ----

def make_core_h(chapters, procedures, objects):
    out = [BANNER % 'standard', '#ifndef TERN_FACE_CORE_H', '#define TERN_FACE_CORE_H', '',
           '/* The entry points of the core. A face calls them here: by name it would find its own. */', '',
           '#ifndef OMPI_BUILDING', '#define OMPI_BUILDING 1', '#endif', '#include <mpi.h>', '', 'struct tern_core {']
    out += ['    __typeof__(P%s) *%s;' % (name_of(p, large), name_of(p, large)[4:])
            for p, large in functions(procedures, in_core) if p.has_profiling]
    return '\n'.join(out + ['};', '', 'extern const struct tern_core tern_core;', '', '#endif', ''])


def make_core_c(chapters, procedures, objects):
    names = [name_of(p, large) for p, large in functions(procedures, in_core) if p.has_profiling]
    out = [BANNER % 'standard', '#include "face_core.h"', '',
           '/* By names of their own: PMPI_Send may be the one of a face. */']
    out += ['extern __typeof__(P%s) tern_core_%s __attribute__((visibility("hidden")));' % (n, n[4:]) for n in names]
    out += ['', 'const struct tern_core tern_core __attribute__((visibility("default"))) = {']
    out += ['    .%s = tern_core_%s,' % (n[4:], n[4:]) for n in names]
    return '\n'.join(out + ['};', ''])


# ---- conversions of numbers ----

def pairs(face, pattern):
    """Returns [(name, core's value, the face's value)] of the names that both have."""
    core = core_numbers()
    return [(v.name, core[v.name], v.value) for v in face.of_kind('int') if re.fullmatch(pattern, v.name) and v.name in core]


def switch(name, cases, otherwise):
    """Returns a function that maps numbers."""
    seen, out = set(), ['static inline int %s(int value)' % name, '{', '    switch (value) {']
    for text, source, target in cases:
        if source not in seen:
            out.append('    case %d: return %d; /* %s */' % (source, target, text))
        seen.add(source)
    return out + ['    default: return %s;' % otherwise, '    }', '}', '']


def convert_enumeration(face, kind, pattern):
    names = pairs(face, pattern)
    out = []
    # a number that the core takes for something, and the program did not mean
    stray = sorted({c for _, c, _ in names} - {f for _, _, f in names})
    if kind in ANY_NUMBER:
        stray = []
    otherwise = 'value'
    if kind == 'KEYVAL':
        otherwise = 'value >= FACE_KEYVALS ? value - FACE_KEYVALS : MPI_KEYVAL_INVALID'
        stray = []
    if kind == 'ERROR_CLASS':
        otherwise = 'value > FACE_LASTCODE ? value - FACE_LASTCODE + TERN_CORE_LASTCODE : FACE_NO_CODE'
        stray = []
    cases = [(n, f, c) for n, c, f in names] + [('no such %s' % kind.lower(), c, -99999) for c in stray]
    out += switch('in_%s' % kind, cases, otherwise)
    otherwise = {'KEYVAL': 'value + FACE_KEYVALS',
                 'ERROR_CLASS': 'value > TERN_CORE_LASTCODE ? value - TERN_CORE_LASTCODE + FACE_LASTCODE : %d' %
                 face.number('MPI_ERR_OTHER')}.get(kind, 'value')
    return out + switch('out_%s' % kind, [(n, c, f) for n, c, f in names], otherwise)


def convert_flags(face, kind, pattern):
    out = []
    for way, swap in (('in', True), ('out', False)):
        names = [(n, f, c) if swap else (n, c, f) for n, c, f in pairs(face, pattern)]
        known = 0
        out += ['static inline int %s_%s(int value)' % (way, kind), '{', '    int flags = 0;']
        for name, source, target in names:
            out.append('    flags |= value & %d ? %d : 0; /* %s */' % (source, target, name))
            known |= source
        # what has no meaning there keeps a bit that has none here either
        out += ['    return value & ~%d ? flags | 1 << 30 : flags;' % known, '}', '']
    return out


def convert_handles(face, objects):
    """Returns the tables of predefined handles: the core's by the face's value, and the face's by the core's Fortran index."""
    symbols = {name: o for o in objects for name in o.names}
    most = max(v.value for v in face.values if v.kind in {o.kind for o in objects})
    out = ['enum { FACE_PREDEFINED = 0x%x };' % (most + 1), '', 'static const void *const in_handle[FACE_PREDEFINED] = {']
    seen = set()
    for v in face.values:
        if v.kind in {o.kind for o in objects} and v.value not in seen:
            seen.add(v.value)
            symbol = symbols[v.name].symbol if v.name in symbols else \
                next(o.symbol for o in objects if o.kind == v.kind and '_NULL' in o.names[0] if o.names)
            out.append('    [0x%x] = &%s, /* %s */' % (v.value, symbol, v.name))
    out += ['};', '']
    out += ['enum {']
    out += ['    NULL_INDEX_%s = %d,' % (o.kind, o.fortran) for o in objects if any(
        re.fullmatch(r'MPI_[A-Z]+_NULL', n) for n in o.names)] + ['};', '']
    for kind in dict.fromkeys(o.kind for o in objects):
        back = {}
        for v in face.of_kind(kind):
            if v.name in symbols:
                back.setdefault(symbols[v.name].symbol, (symbols[v.name], v))
        out += ['static const struct predefined out_%s_table[] = {' % kind]
        out += ['    [%d] = {&%s, 0x%x}, /* %s */' % (o.fortran, o.symbol, v.value, v.name) for o, v in back.values() if o.fortran >= 0]
        out += ['};', '']
    return out


STRUCT_HANDLES = {'comm': 'MPI_Comm', 'datatype': 'MPI_Datatype', 'errhandler': 'MPI_Errhandler', 'file': 'MPI_File',
                  'group': 'MPI_Group', 'info': 'MPI_Info', 'session': 'MPI_Session', 'message': 'MPI_Message', 'op': 'MPI_Op',
                  'request': 'MPI_Request', 'win': 'MPI_Win'}


def make_values(name):
    def make(chapters, procedures, objects):
        face = read(name)
        out = [BANNER % name, '/* How numbers and handles of the %s interface become the core\'s (in_), and back (out_). */' % name, '',
               'enum { FACE_LASTCODE = %d, TERN_CORE_LASTCODE = %d, FACE_NO_CODE = -1 };' % (
                   face.number('MPI_ERR_LASTCODE'), core_numbers()['MPI_ERR_LASTCODE']), '']
        for kind, pattern in ENUMERATIONS.items():
            out += convert_enumeration(face, kind, pattern)
        for kind, pattern in FLAGS.items():
            out += convert_flags(face, kind, pattern)
        out += ['enum {']
        out += ['    FACE_%s = %d,' % (n, face.number('MPI_' + n)) for n in
                'MAX_INFO_KEY MAX_INFO_VAL PROC_NULL ANY_TAG UNWEIGHTED WEIGHTS_EMPTY BUFFER_AUTOMATIC DISPLACEMENT_CURRENT VERSION SUBVERSION ABI_VERSION '
                'ABI_SUBVERSION COMM_NULL_COPY_FN COMM_DUP_FN T_PVAR_ALL_HANDLES'.split()]
        out += ['};', '']
        out += convert_handles(face, objects)
        for kind, c_type in STRUCT_HANDLES.items():
            out += ['HANDLES(%s, %s)' % (kind, c_type)]
        return '\n'.join(out + [''])
    return make


# ---- the header ----

def define(v):
    """Returns the line of mpi.h for a constant."""
    if v.kind == 'int':
        return '#define %-36s %s' % (v.name, '(%d)' % v.value if v.value < 0 else v.value)
    constant = {c.name: c for c in table.read_constants()}.get(v.name)
    c_type = STRUCT_HANDLES.get(v.kind) or (constant.type if constant.kind == 'address' else callback_type(v.name))
    return '#define %-36s MPI_ABI_CAST(%s, %s)' % (v.name, c_type.replace('*', ' *', 1), hex(v.value))


def callback_type(name):
    """Returns the type of a predefined function for attributes: MPI_COMM_NULL_COPY_FN."""
    kind, what = re.fullmatch(r'MPI_(?:(COMM|TYPE|WIN)_)?(.*)', name).groups()
    kind = kind.capitalize() if kind else 'Comm'
    return 'MPI_%s_%s_attr_function*' % (kind, 'delete' if what == 'NULL_DELETE_FN' else 'copy')


def make_header(chapters, procedures, objects):
    face = read('standard')
    path = os.path.join(HERE, '..', 'include', 'mpi_abi.h.in')
    prototypes = []
    for prefix in ('', 'P'):
        for p, large in functions(procedures, in_standard):
            text = kinds.prototype(p, large, prefix)
            if p.name in ('MPI_Psend_init', 'MPI_Precv_init'):
                prototypes.append(kinds.wrap(re.sub(r'(_init)\b', r'\1_c', text, count=1)) + ';')
                text = text.replace('MPI_Count count', 'int count')
            prototypes.append(kinds.wrap(text) + ';')
    for kind, name in CONVERSIONS.items():
        for prefix in ('', 'P'):
            prototypes.append('int %sMPI_%s_toint(%s handle);' % (prefix, name, STRUCT_HANDLES[kind]))
            prototypes.append('%s %sMPI_%s_fromint(int handle);' % (STRUCT_HANDLES[kind], prefix, name))
    text = open(path, encoding='utf-8').read()
    for marker, lines in (('@CONSTANTS@', [define(v) for v in face.values]), ('@PROCEDURES@', prototypes)):
        if text.count(marker) != 1:
            raise SystemExit('%s: expected %s once' % (path, marker))
        text = text.replace(marker, '\n'.join(lines))
    return text


# ---- calls ----

def face_type(declaration):
    return re.sub(r'\bMPI_Status\b', 'struct face_status', declaration)


def state_kind(p):
    return kinds.HANDLES[p.kind].state[5:]


class Call:
    """One function of a face: what is declared and done before the core's call, its arguments, and what is done after."""

    def __init__(self, procedure, large):
        self.procedure, self.large = procedure, large
        self.name = name_of(procedure, large)
        self.before, self.arguments, self.after = [], [], []
        for p in procedure.parameters:
            if kinds.passed(p, large):
                self.arguments.append(self.argument(p))

    def length(self, p):
        """Returns the number of elements of an array, as an expression."""
        procedure, names = self.procedure, {q.name: q for q in self.procedure.parameters}
        length = p.lengths[0]
        if length != '*':
            return '(%s ? *%s : 0)' % (length, length) if names[length].direction != 'in' else length
        if p.kind == 'STATUS':
            return 'incount' if 'incount' in names else 'count'
        if p.name == 'array_of_errcodes':
            return 'face_is_root(comm, root) ? maxprocs : 0'
        if p.name == 'edges':
            return 'nnodes > 0 && index ? index[nnodes - 1] : 0'
        if procedure.name == 'MPI_Dist_graph_create':
            return 'face_sum(degrees, n)'
        if 'eighbor_alltoallw' in procedure.name:
            return 'face_neighbors(comm, %s)' % ('true' if p.name == 'sendtypes' else 'false')
        if 'alltoallw' in procedure.name.lower():
            return 'face_blocks(comm)'
        raise SystemExit('faces.py: how long is %s of %s?' % (p.name, procedure.name))

    def argument(self, p):
        kind, name = p.kind, p.name
        if kind in kinds.HANDLES:
            return self.handle(p)
        if kind == 'STATUS':
            return self.status(p)
        conversion = {'RANK': 'rank', 'RANK_NNI': 'rank', 'TAG': 'tag', 'ERROR_CODE': 'ERROR_CLASS'}.get(kind, kind)
        if kind in RANKS + CODES + ('TAG',) or kind in ENUMERATIONS or kind in FLAGS:
            # the exit status; what stays in the program's status; triples of first, last and stride
            if self.procedure.name in ('MPI_Abort', 'MPI_Status_get_error', 'MPI_Status_set_error') or len(p.lengths) == 2:
                return name
            return self.number(p, conversion)
        if kind == 'WEIGHT':
            return 'face_weights(%s)' % name
        if kind == 'BUFFER' and 'attach' in self.procedure.name:
            return 'face_buffer(%s)' % name
        if kind == 'C_BUFFER2':
            self.after.append('face_buffer_back(rc, %s);' % name)
            return name
        if kind == 'OFFSET' and self.procedure.name == 'MPI_File_set_view':
            return '%s == FACE_DISPLACEMENT_CURRENT ? MPI_DISPLACEMENT_CURRENT : %s' % (name, name)
        if kind == 'PVAR' and p.direction == 'in':
            return 'face_pvar(%s)' % name
        return name

    def number(self, p, conversion):
        name, c_type = p.name, kinds.scalar(p.kind, self.large)
        if p.lengths and p.direction == 'in':
            self.before.append('NUMBERS_IN(%s, %s, %s);' % (name, self.length(p), conversion))
            return name + '_in'
        if p.lengths:
            self.after.append('NUMBERS_OUT(rc, %s, %s, %s);' % (name, self.length(p), conversion))
            return name
        if p.direction == 'in' and 'by-pointer' not in p.flags:
            cast = '' if c_type == 'int' else '(%s)' % c_type
            return '%sin_%s(%s%s)' % (cast, conversion, '' if c_type == 'int' else '(int)', name)
        if p.direction == 'inout':
            self.before.append('int %s_in = %s ? in_%s(*%s) : 0;' % (name, name, conversion, name))
            self.after.append('if (%s && !rc)' % name)
            self.after.append('    *%s = out_%s(%s_in);' % (name, conversion, name))
            return '%s ? &%s_in : NULL' % (name, name)
        self.after.append('if (%s && !rc)' % name)
        self.after.append('    *%s = %sout_%s(%s*%s);' % (name, '' if c_type == 'int' else '(%s)' % c_type, conversion,
                                                          '' if c_type == 'int' else '(int)', name))
        return name

    def handle(self, p):
        kind, name, c_type = state_kind(p), p.name, kinds.HANDLES[p.kind].c
        if p.lengths and p.direction == 'in':
            length = self.length(p)
            if name == 'sendtypes':
                length = 'sendbuf == MPI_IN_PLACE ? 0 : ' + length if 'eighbor' not in self.name else length
            self.before.append('HANDLES_IN(%s, %s, %s, %s);' % (name, length, c_type, kind))
            return name + '_in'
        if p.lengths and p.direction == 'inout':
            self.before.append('face_requests_in(%s, %s);' % (self.length(p), name))
            self.after.append('face_requests_out(%s, %s);' % (self.length(p), name))
            return name
        if p.lengths:
            self.after.append('HANDLES_OUT(rc, %s, %s, %s);' % (name, self.length(p), kind))
            return name
        if p.direction == 'in' and 'by-pointer' not in p.flags:
            return 'in_%s(%s)' % (kind, name)
        if p.direction == 'out':
            self.after.append('out_%s_new(rc, %s);' % (kind, name))
            return name
        self.before.append('%s %s_in = %s ? in_%s(*%s) : NULL, %s_was = %s_in;' % (c_type, name, name, kind, name, name, name))
        self.after.append('if (%s && %s_in != %s_was)' % (name, name, name))
        self.after.append('    *%s = out_%s(%s_in);' % (name, kind, name))
        return '%s ? &%s_in : NULL' % (name, name)

    def status(self, p):
        name = p.name
        if p.lengths:
            self.before.append('STATUSES(%s, %s);' % (name, self.length(p)))
            count = '*outcount' if any(q.name == 'outcount' for q in self.procedure.parameters) else self.length(p)
            self.after.append('face_statuses_out(rc, %s, %s, %s_in);' % (name, count, name))
            return name + '_in'
        if p.direction == 'in':
            self.before.append('MPI_Status %s_in = face_status_in(%s);' % (name, name))
            return '%s ? &%s_in : NULL' % (name, name)
        self.before.append('MPI_Status %s_in = face_status_in(%s);' % (name, name))
        self.after.append('face_status_out(%s, &%s_in);' % (name, name))
        return '%s ? &%s_in : MPI_STATUS_IGNORE' % (name, name)

    def lines(self):
        p = self.procedure
        prototype = face_type(kinds.prototype(p, self.large, name='face_' + self.name))
        out = [kinds.wrap(face_type(kinds.prototype(p, self.large, name='face_' + self.name)) + ' EXPORTED(%s);' % self.name),
               'ALSO(%s);' % self.name, kinds.wrap(prototype), '{']
        call = 'tern_core.%s(%s)' % (self.name[4:], ', '.join(self.arguments))
        if not p.returns_error:
            return out + ['    return %s;' % call, '}', '']
        out += ['    ' + line for line in self.before]
        if self.after or any('_IN(' in line or 'STATUSES(' in line for line in self.before):
            out.append('    int rc = %s;' % call)
            out += ['    ' + line for line in self.after]
            out += ['    FREE_ROOM(%s);' % re.search(r'\((\w+)', line).group(1) for line in self.before
                    if line.startswith(('NUMBERS_IN', 'HANDLES_IN', 'STATUSES'))]
            out.append('    return face_code(rc);')
        else:
            out.append('    return face_code(%s);' % call)
        return [kinds.wrap(line) if len(line) > 110 else line for line in out] + ['}', '']


def make_calls(name):
    def make(chapters, procedures, objects):
        out = [BANNER % name, '#include "lib/face/%s.h"' % name, '']
        for p, large in functions(procedures, in_standard):
            if p.name not in BY_HAND and p.has_profiling:
                out += Call(p, large).lines()
        for kind, names in CONVERSIONS.items():
            out += ['TO_AND_FROM_INT(%s, %s, %s)' % (names, kind, STRUCT_HANDLES[kind])]
        return '\n'.join(out + [''])
    return make


CONVERSIONS = {'comm': 'Comm', 'errhandler': 'Errhandler', 'file': 'File', 'group': 'Group', 'info': 'Info', 'message': 'Message',
               'op': 'Op', 'request': 'Request', 'session': 'Session', 'datatype': 'Type', 'win': 'Win'}


def exported_names(procedures):
    """Returns the names of the functions of the standard interface."""
    names = [name_of(p, large) for p, large in functions(procedures, in_standard)]
    names += ['MPI_%s_%s' % (kind, way) for kind in CONVERSIONS.values() for way in ('toint', 'fromint')]
    names += ['MPI_Abi_' + n for n in ('get_version', 'get_info', 'get_fortran_info', 'set_fortran_info', 'get_fortran_booleans',
                                       'set_fortran_booleans')]
    names += ['MPI_Aint_add', 'MPI_Aint_diff', 'MPI_Psend_init_c', 'MPI_Precv_init_c']
    return sorted(set(names))


def make_map(chapters, procedures, objects):
    lines = ['# Made by api/generate.py; do not edit.', '{', 'global:']
    lines += ['    %s;\n    P%s;' % (n, n) for n in exported_names(procedures)]
    return '\n'.join(lines + ['local:', '    *;', '};', ''])
