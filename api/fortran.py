# SPDX-License-Identifier: BSD-3-Clause
"""Makes the Fortran entry points in C: for each procedure of the table one function that converts
Fortran's arguments and calls PMPI_Xxx, and all names by which Fortran programs call it.
lib/fortran/glue.h has the conversions."""

import re

import checks
import kinds

# Procedures of C that Fortran does not have, or that are written by hand (lib/fortran/handwritten.c).
NOT_FORTRAN = {'tool'}
C_ONLY = re.compile(r'MPI_\w+_(c2f|f2c|c2f08|f082c)$|MPIX_Query_|OMPI_')
BY_HAND = ['MPI_Wtime', 'MPI_Wtick', 'MPI_Aint_add', 'MPI_Aint_diff', 'MPI_Pcontrol', 'MPI_F_sync_reg']

# The Xxx of PMPI_Xxx_f2c for each kind of handle.
HANDLE = {'COMMUNICATOR': 'Comm', 'DATATYPE': 'Type', 'OPERATION': 'Op', 'GROUP': 'Group', 'INFO': 'Info',
          'ERRHANDLER': 'Errhandler', 'REQUEST': 'Request', 'MESSAGE': 'Message', 'WINDOW': 'Win', 'FILE': 'File',
          'SESSION': 'Session'}

# These return positions in an array of requests: in Fortran from 1 on.
POSITIONS = re.compile(r'MPI_(Wait|Test|Request_get_status_)(any|some)$')
# Procedures with an array whose length the table does not tell.
CART_DIMENSIONS = {'MPI_Cart_sub'}
# The leading blanks of these procedures' strings do not count (MPI-4.1 sections 10 and 11): keys and values,
# commands and their arguments, names of services and ports. Other strings keep them.
STRIPPED = re.compile(r'MPI_(Info_|Comm_(spawn|connect|accept)|(Publish|Lookup|Unpublish)_name$|Close_port$)')
# Procedures that keep the address of extra_state: their callbacks get the caller's own variable.
KEEPS_STATE = {'MPI_Grequest_start'}

# Procedures that keep the address of a buffer, or find out where it ends.
WHOLE_ARRAYS = {'MPI_Buffer_attach', 'MPI_Comm_attach_buffer', 'MPI_Session_attach_buffer', 'MPI_Win_create',
                'MPI_Win_attach'}

# The number of arguments that are passed in registers. `ierror` is a further one.
REGISTERS = 6

# Other names by which programs call some functions.
OTHER_NAMES = {'MPI_Alloc_mem': ['MPI_Alloc_mem_cptr'], 'MPI_Win_allocate': ['MPI_Win_allocate_cptr'],
               'MPI_Win_allocate_shared': ['MPI_Win_allocate_shared_cptr'],
               'MPI_Win_shared_query': ['MPI_Win_shared_query_cptr']}


def in_fortran(procedure):
    """Returns true if Fortran has this procedure."""
    return procedure.chapter not in NOT_FORTRAN and not C_ONLY.match(procedure.name)


def is_old(procedure):
    """Returns true if mpi_f08 never had this procedure."""
    return 'removed' in procedure.words or procedure.words.get('deprecated', '').startswith('2.0')


def where(procedure, large):
    """Returns the Fortran interfaces that have the procedure, for `mpi_info --procedures`."""
    if not in_fortran(procedure):
        return ''
    if large:  # under the name without _c
        return 'mpi_f08'
    return 'mpif.h mpi' if is_old(procedure) else 'mpif.h mpi mpi_f08'


def spellings(name):
    """Yields the names of a procedure that `mpif.h` and `use mpi` programs of all compilers use,
    and the names that tools use."""
    for prefix in ('', 'P'):
        lower = (prefix + name).lower()
        yield from (lower + '_', lower + '__', lower, lower.upper(), prefix + name + '_f', prefix + name + '_f08')


def f08_spellings(name):
    """Returns the names that `use mpi_f08` programs use for a procedure whose buffers, if any, are
    passed by address."""
    return [(prefix + name).lower() + '_f08_' for prefix in ('', 'P')]


def has_string_beside_buffer(procedure):
    return bool(procedure.of_kind('BUFFER') and procedure.of_kind('STRING'))


def by_address_c(procedure):
    """Returns true if there is a procedure for large counts that gets addresses only."""
    return procedure.has_twin and (not procedure.of_kind('BUFFER') or has_string_beside_buffer(procedure))


def way_of(procedure, p):
    """Returns how to handle an array section that is passed as the buffer p
    (lib/fortran/section.h), its count and its datatype (or None)."""
    described = checks.triple(procedure, p)
    rest = procedure.parameters[procedure.parameters.index(p) + 1:]
    datatype = next((q for q in rest if q.kind == 'DATATYPE'), None)
    collective = procedure.rules in checks.COLLECTIVE or procedure.chapter == 'op'
    if procedure.name in WHOLE_ARRAYS:
        return 'refuse', None, None
    if checks.partitioned(procedure):
        return 'stretch_only', None, datatype
    if collective and procedure.operation != 'bcast':
        if procedure.of_kind('OPERATION') or not datatype or datatype.lengths:
            return 'copy', None, None
        return 'stretch', None, datatype
    if described and kinds.passed(described[0], False):
        return 'type', *described
    if procedure.chapter == 'datatype' and p.name in ('inbuf', 'outbuf'):
        return 'copy', None, None
    return 'address', None, None


def message(procedure):
    """Returns the buffer, the communicator and the datatype of a procedure that sends or receives
    one message, and that passes ierror on the stack; else None. These procedures have a short way."""
    if procedure.chapter != 'pt2pt' or len(procedure.parameters) < REGISTERS:
        return None
    found = [procedure.of_kind(kind) for kind in ('BUFFER', 'COMMUNICATOR', 'DATATYPE')]
    return [f[0] for f in found] if all(len(f) == 1 for f in found) else None


class Glue:
    """The text of one function. `large`: it calls PMPI_Xxx_c. `sections`: its buffers are
    descriptors of arrays. `short`: the arguments are those of most messages (tern_glue_plain)."""

    def __init__(self, procedure, large=False, sections=False, short=False):
        self.procedure, self.large, self.sections, self.short = procedure, large, sections, short
        self.name = 'tern_f_' + procedure.name.lower() + '_c' * large + '_ts' * sections + '_short' * short
        self.own = {}           # for a parameter: the expression to pass in its place
        if short:
            buffer, comm, datatype = (p.name for p in message(procedure))
            self.own = {buffer: buffer, comm: 'tern_glue_plain_Comm(*%s)' % comm,
                        datatype: 'tern_glue_plain_Type(*%s)' % datatype}
        if sections:
            for p in procedure.of_kind('BUFFER'):
                way, count, datatype = way_of(procedure, p)
                if way == 'type':
                    c = kinds.scalar(count.kind, large)
                    self.own[count.name] = ('' if c == 'MPI_Count' else '(%s)' % c) + 'n_' + count.name
                if datatype:
                    self.own[datatype.name] = 't_' + datatype.name
        self.signature, self.lengths = [], []   # parameters, hidden lengths of strings
        self.before, self.arguments = [], []
        self.always, self.success, self.after = [], [], []
        self.language = ''
        self.declared, self.prepared, self.ended = [], [], []
        for p in procedure.parameters:
            if kinds.passed(p, large):
                self.add(p)

    def add(self, p):
        kind = p.kind
        if kind in ('ARGUMENT_COUNT', 'ARGUMENT_LIST'):
            self.arguments.append('0' if kind == 'ARGUMENT_COUNT' and 'by-value' in p.flags else 'NULL')
        elif kind in HANDLE:
            (self.add_handles if p.lengths else self.add_handle)(p)
        elif kind == 'BUFFER' and self.sections:
            self.add_array(p)
        elif kind == 'BUFFER':
            self.take('void *' + p.name, self.own.get(p.name, '%s(%s)' % (self.conversion(), p.name)))
        elif kind == 'C_BUFFER':
            self.take('void *' + p.name, p.name)
        elif kind == 'C_BUFFER2':
            self.take('void *' + p.name, p.name)
            self.success.append('tern_glue_detached(%s);' % p.name)
        elif kind == 'STATUS':
            status = 'tern_glue_status(%s)' if p.direction != 'in' else '(const MPI_Status *)%s'
            self.take('void *' + p.name, status % p.name)
        elif kind in ('F90_STATUS', 'F08_STATUS'):
            self.take('void *' + p.name, p.name)
        elif kind == 'LOGICAL':
            self.add_logical(p)
        elif kind == 'STRING':
            self.add_string(p)
        elif kind in ('STRING_ARRAY', 'STRING_2DARRAY'):
            self.add_strings(p)
        elif kind == 'WEIGHT':
            self.take('void *' + p.name, 'tern_glue_weights(%s)' % p.name)
        elif kind == 'ERROR_CODE' and p.lengths:
            self.take('void *' + p.name, 'tern_glue_errcodes(%s)' % p.name)
        elif p.function:
            self.add_function(p)
        elif kind.startswith(('EXTRA_STATE', 'ATTRIBUTE_VAL')):
            self.add_attribute(p)
        elif self.one_based(p):
            self.add_position(p)
        elif kind in ('INFO_VALUE_LENGTH', 'STRING_LENGTH') and p.direction == 'inout':
            self.add_string_length(p)
        elif self.old_address(p):
            self.add_old_address(p)
        else:
            self.add_number(p)

    def conversion(self):
        """Returns the function that converts a buffer's address."""
        return 'tern_glue_attached' if re.search('Buffer_attach$|attach_buffer$', self.procedure.name) else 'tern_glue_buffer'

    def add_array(self, p):
        """Adds a buffer that may be a section of an array."""
        n = p.name
        way, count, datatype = way_of(self.procedure, p)
        self.take('struct tern_descriptor *' + n, 'b_' + n)
        self.declared.append('void *b_%s = %s(%s->base);' % (n, self.conversion(), n))
        if way == 'address':
            return
        type_name = 't_' + datatype.name if datatype else ''
        writes = 'true' if p.direction != 'in' else 'false'
        declaration = '%s t_%s = tern_glue_Type(*%s);' % ('MPI_Datatype', datatype.name, datatype.name) if datatype else ''
        if declaration and declaration not in self.declared:
            self.declared.append(declaration)
        if way == 'type':
            self.declared.append('MPI_Count n_%s = *%s;' % (count.name, count.name))
        self.declared.append('struct tern_section s_%s = {0};' % n)
        prepare = {
            'type': 'tern_section_type(&s_{n}, {n}, {writes}, &n_{count}, &{type}, &b_{n})',
            'copy': 'tern_section_copy(&s_{n}, {n}, {writes}, &b_{n})',
            'stretch': 'tern_section_stretch(&s_{n}, {n}, {writes}, &{type}, &b_{n})',
            'stretch_only': 'tern_section_stretch_only(&s_{n}, {n}, &{type})',
            'refuse': 'tern_section_refuse()',
        }[way].format(n=n, count=count.name if count else '', type=type_name, writes=writes)
        self.prepared += ['if (TERN_UNLIKELY(!wrong && !tern_section_dense(%s))) {' % n, '    wrong = %s;' % prepare, '}']
        if way == 'refuse':
            self.declared.pop()
            return
        request = self.procedure.of_kind('REQUEST')
        if request and way != 'stretch_only':
            persistent = 'true' if self.procedure.name.endswith('_init') else 'false'
            end = 'tern_section_end_with(&s_%s, rc, c_%s, %s);' % (n, request[0].name, persistent)
        else:
            end = 'tern_section_end(&s_%s);' % n
        self.ended += ['if (TERN_UNLIKELY(s_%s.made || s_%s.copy))' % (n, n), '    ' + end]

    def take(self, declaration, argument):
        self.signature.append(declaration)
        self.arguments.append(argument)

    def one_based(self, p):
        return p.kind == 'INDEX' and POSITIONS.match(self.procedure.name)

    def old_address(self, p):
        """Returns true if the parameter is an address in a procedure of MPI-1, where addresses are
        default integers."""
        return 'removed' in self.procedure.words and kinds.scalar(p.kind, False) == 'MPI_Aint'

    def length(self, p):
        """Returns a C expression for the number of elements of an array."""
        names = [q.name for q in self.procedure.parameters]
        if p.lengths[0] in names:
            return '*' + p.lengths[0]
        if self.procedure.name in CART_DIMENSIONS:
            return 'tern_glue_dimensions(c_comm)'
        if self.procedure.rules == 'neighbor':
            return 'tern_glue_%s(c_comm)' % ('destinations' if p.name.startswith('send') else 'sources')
        in_place = 'b_sendbuf == MPI_IN_PLACE' if self.sections else '(char *)sendbuf == &mpi_fortran_in_place_'
        guard = in_place + ' ? 0 : ' if p.name.startswith('send') else ''
        return guard + 'tern_glue_peers(c_comm)'

    def add_handle(self, p):
        n, middle, c = p.name, HANDLE[p.kind], kinds.HANDLES[p.kind].c
        self.signature.append('MPI_Fint *' + n)
        if p.direction == 'in' and 'by-pointer' not in p.flags:
            needed = p.kind == 'COMMUNICATOR' and any('*' in q.lengths and q.kind in ('DATATYPE', 'LOGICAL')
                                                      for q in self.procedure.parameters)
            if needed:  # for the lengths of arrays
                self.before.insert(0, '%s c_%s = tern_glue_%s(*%s);' % (c, n, middle, n))
                self.arguments.append('c_' + n)
            else:
                self.arguments.append(self.own.get(n, 'tern_glue_%s(*%s)' % (middle, n)))
            return
        start = 'NULL' if p.direction == 'out' else 'tern_glue_%s(*%s)' % (middle, n)
        self.before.append('%s c_%s = %s;' % (c, n, start))
        self.arguments.append('&c_' + n)
        if p.direction != 'in':
            if p.direction == 'out':  # a null handle after some errors, else unchanged
                self.always.append('if (c_%s)' % n)
            self.always.append('%s*%s = tern_glue_index_of_%s(c_%s);' % (
                '    ' * (p.direction == 'out'), n, middle, n))

    def add_handles(self, p):
        n, middle, c, length = p.name, HANDLE[p.kind], kinds.HANDLES[p.kind].c, self.length(p)
        self.signature.append('MPI_Fint *' + n)
        self.before.append('TERN_GLUE_ARRAY(%s, c_%s, %s);' % (c, n, length))
        loop = 'for (int64_t i = 0; i < length_c_%s; i++)' % n
        if p.direction == 'out':
            self.before += [loop, '    c_%s[i] = NULL;' % n]
            self.success += [loop, '    if (c_%s[i])' % n,
                             '        %s[i] = tern_glue_index_of_%s(c_%s[i]);' % (n, middle, n)]
        else:
            self.before += [loop, '    c_%s[i] = tern_glue_%s(%s[i]);' % (n, middle, n)]
        if p.direction == 'inout':
            self.always += [loop, '    if (c_%s[i])' % n,
                            '        %s[i] = tern_glue_index_of_%s(c_%s[i]);' % (n, middle, n)]
        self.arguments.append('c_' + n)
        self.after.append('TERN_GLUE_RELEASE(c_%s);' % n)

    def add_logical(self, p):
        n = p.name
        self.signature.append('MPI_Fint *' + n)
        if p.lengths:
            self.before.append('TERN_GLUE_ARRAY(int, c_%s, %s);' % (n, self.length(p)))
            loop = 'for (int64_t i = 0; i < length_c_%s; i++)' % n
            if p.direction == 'out':
                self.success += [loop, '    %s[i] = c_%s[i] != 0;' % (n, n)]
            else:
                self.before += [loop, '    c_%s[i] = %s[i] != 0;' % (n, n)]
            self.arguments.append('c_' + n)
            self.after.append('TERN_GLUE_RELEASE(c_%s);' % n)
        elif p.direction == 'in':
            self.arguments.append('*%s != 0' % n)
        else:
            self.before.append('int c_%s = 0;' % n)
            self.arguments.append('&c_' + n)
            self.success.append('*%s = c_%s != 0;' % (n, n))

    def add_string(self, p):
        n = p.name
        if self.sections:  # bind(C) passes a descriptor
            self.signature.append('struct tern_descriptor *d_' + n)
            self.declared += ['char *%s = d_%s->base;' % (n, n), 'size_t len_%s = d_%s->element_bytes;' % (n, n)]
        else:
            self.signature.append('char *' + n)
            self.lengths.append('size_t len_' + n)
        if p.direction == 'in':
            strip = 'true' if STRIPPED.match(self.procedure.name) else 'false'
            self.before.append('char *c_%s = tern_glue_string(%s, len_%s, %s);' % (n, n, n, strip))
        else:
            names = [q.name for q in self.procedure.parameters]
            room, limits = '4096', []
            if p.lengths and p.lengths[0] in names:
                room = '*' + p.lengths[0]
            elif p.lengths:
                room = p.lengths[0]
            else:
                limits = [q.name for q in self.procedure.parameters
                          if q.direction == 'inout' and q.kind in ('INFO_VALUE_LENGTH', 'STRING_LENGTH')]
                if limits:
                    room = '*' + limits[0]
            self.before.append('char *c_%s = tern_glue_string_room(%s);' % (n, room))
            found = [q.name for q in self.procedure.parameters if q.kind == 'LOGICAL' and q.direction == 'out']
            conditions = ['c_' + name for name in found]
            if room.startswith('*') and limits:  # no characters are asked for: the variable stays as it is
                self.before.append('bool asked_%s = %s > 0;' % (n, room))
                conditions.append('asked_' + n)
            if conditions:
                self.success.append('if (%s)' % ' && '.join(conditions))
            self.success.append('%stern_glue_set_string(%s, len_%s, c_%s);' % ('    ' * bool(conditions), n, n, n))
        self.arguments.append('c_' + n)
        self.after.append('free(c_%s);' % n)

    def add_strings(self, p):
        n = p.name
        self.signature.append('char *' + n)
        self.lengths.append('size_t len_' + n)
        if p.kind == 'STRING_2DARRAY':
            count = p.lengths[0]
            self.before.append('char ***c_%s = tern_glue_argvs(%s, len_%s, *%s);' % (n, n, n, count))
            self.after.append('tern_glue_free_argvs(c_%s, *%s);' % (n, count))
        else:
            count = next((q.name for q in self.procedure.parameters if q.name == 'count'), '')
            make = ('tern_glue_strings(%s, len_%s, len_%s, *%s)' % (n, n, n, count) if count
                    else 'tern_glue_argv(%s, len_%s)' % (n, n))
            self.before.append('char **c_%s = %s;' % (n, make))
            self.after.append('tern_glue_free_strings(c_%s);' % n)
        self.arguments.append('c_' + n)

    def add_string_length(self, p):
        """Adds the length of a string. Fortran's lengths do not count the end of a C string."""
        n = p.name
        self.signature.append('MPI_Fint *' + n)
        self.before.append('int c_%s = *%s > 0 ? *%s + 1 : *%s;' % (n, n, n, n))
        self.arguments.append('&c_' + n)
        self.success.append('*%s = c_%s > 0 ? c_%s - 1 : c_%s;' % (n, n, n, n))

    def add_function(self, p):
        c = p.function + ('_c' if p.kind == 'POLYFUNCTION' and self.large else '')
        self.language = self.language or 'TERN_LANGUAGE_FORTRAN'
        self.take('void (*%s)(void)' % p.name, '(%s *)%s' % (c, p.name))

    def add_attribute(self, p):
        """Adds an attribute value, or the extra state of callbacks: integers in place of C's
        pointers."""
        n, old = p.name, p.kind in ('ATTRIBUTE_VAL_10', 'EXTRA_STATE2')
        self.language = 'TERN_LANGUAGE_FORTRAN_77' if old else 'TERN_LANGUAGE_FORTRAN'
        self.signature.append(('MPI_Fint *' if old else 'MPI_Aint *') + n)
        if p.direction == 'in':
            self.arguments.append(n if self.procedure.name in KEEPS_STATE else '(void *)(MPI_Aint)*' + n)
            return
        flag = next(q.name for q in self.procedure.parameters if q.kind == 'LOGICAL')
        self.before.append('MPI_Aint c_%s = 0;' % n)
        self.arguments.append('&c_' + n)
        self.success += ['if (c_%s)' % flag, '    *%s = %sc_%s;' % (n, '(MPI_Fint)' if old else '', n)]

    def add_position(self, p):
        n = p.name
        self.signature.append('MPI_Fint *' + n)
        if p.lengths:
            count = next(q.name for q in self.procedure.parameters if q.name == 'outcount')
            self.arguments.append(n)
            self.always += ['if (rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS)',
                            '    for (int i = 0; i < *%s; i++)' % count,
                            '        %s[i] = tern_glue_one_based(%s[i]);' % (n, n)]
        else:
            self.before.append('int c_%s = MPI_UNDEFINED;' % n)
            self.arguments.append('&c_' + n)
            self.always += ['if (rc == MPI_SUCCESS || c_%s >= 0)' % n,
                            '    *%s = tern_glue_one_based(c_%s);' % (n, n)]

    def add_old_address(self, p):
        n = p.name
        self.signature.append('MPI_Fint *' + n)
        if p.lengths:
            self.before.append('TERN_GLUE_ARRAY(MPI_Aint, c_%s, %s);' % (n, self.length(p)))
            self.before += ['for (int64_t i = 0; i < length_c_%s; i++)' % n, '    c_%s[i] = %s[i];' % (n, n)]
            self.arguments.append('c_' + n)
            self.after.append('TERN_GLUE_RELEASE(c_%s);' % n)
        elif p.direction == 'in':
            self.arguments.append('*' + n)
        else:
            self.before.append('MPI_Aint c_%s;' % n)
            self.arguments.append('&c_' + n)
            self.success.append('*%s = (MPI_Fint)c_%s;' % (n, n))

    def add_number(self, p):
        c = kinds.scalar(p.kind, self.large)
        if len(p.lengths) == 2:
            self.take('%s (*%s)[%s]' % (c, p.name, p.lengths[1]), p.name)
        elif p.direction == 'in' and not p.lengths and 'by-pointer' not in p.flags:
            self.take('%s *%s' % (c, p.name), self.own.get(p.name, '*' + p.name))
        else:
            self.take('%s *%s' % (c, p.name), p.name)

    def call(self):
        """Returns lines that declare rc and call PMPI_Xxx."""
        name = 'P' + self.procedure.name + ('_c' if self.large else '')
        call = '%s(%s);' % (name, ', '.join(self.arguments))
        if not self.prepared:
            return [kinds.wrap('int rc = ' + call)]
        comm = [p for p in self.procedure.of_kind('COMMUNICATOR') if p.direction == 'in']
        refuse = 'tern_fortran_refuse(%s, "%s", wrong);' % (
            'tern_glue_Comm(*%s)' % comm[0].name if comm else 'NULL', self.procedure.name)
        return ['const char *wrong = NULL;'] + self.prepared + [
            'int rc;', 'if (TERN_UNLIKELY(wrong != NULL))', '    rc = ' + refuse, 'else',
            kinds.wrap('    rc = ' + call).replace('\n    ', '\n        ')] + self.ended

    def text(self):
        head = 'TERN_GLUE void %s(%s)' % (self.name, ', '.join(self.signature + ['MPI_Fint *ierror'] + self.lengths))
        out = ['', kinds.wrap(head + ';'), kinds.wrap(head), '{']
        out += ['    ' + line for line in self.declared + self.before]
        if self.language:
            out.append('    tern_fortran_calls(%s);' % self.language)
        out += ['    ' + line for line in self.call()]
        if self.language:
            out.append('    tern_fortran_calls(TERN_LANGUAGE_C);')
        out += ['    ' + line for line in self.always]
        if self.success:
            out += ['    if (rc == MPI_SUCCESS) {'] + ['        ' + line for line in self.success] + ['    }']
        out += ['    ' + line for line in self.after]
        out += ['    *ierror = rc;', '}'] if self.short else ['    if (ierror)', '        *ierror = rc;', '}']
        return '\n'.join(out)

    def short_way(self):
        """Returns a function that does what this function does for most messages in few instructions,
        and calls this function for the others. mpif.h and `use mpi` always pass ierror."""
        buffer, comm, datatype = (p.name for p in message(self.procedure))
        short = Glue(self.procedure, short=True)
        names = [d.replace('*', ' ').split()[-1] for d in short.signature] + ['ierror']
        test = ['    if (!tern_glue_plain(%s, *%s, *%s)) {' % (buffer, comm, datatype),
                kinds.wrap('        %s(%s);' % (self.name, ', '.join(names))).replace('\n    ', '\n            '),
                '        return;', '    }']
        return short.text().replace('\n{\n', '\n{\n%s\n' % '\n'.join(test), 1)


def aliases(target, names):
    return '\n'.join('TERN_ALIAS(%d, "%s", %s)' % (i, name, target) for i, name in enumerate(names))


def has_address_of_detached(procedure):
    return any(p.kind == 'C_BUFFER2' for p in procedure.parameters)


# In mpif.h the address of a detached buffer has no meaning, because the argument is any variable.
DETACH = '''
TERN_GLUE void {name}_old({signature}, MPI_Fint *ierror);
TERN_GLUE void {name}_old({signature}, MPI_Fint *ierror)
{{
    void *address;
    (void)buffer_addr;
    {name}({arguments}, ierror);
}}'''


def names_of(procedure):
    return [procedure.name] + OTHER_NAMES.get(procedure.name, [])


BANNER = """/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by api/fortran.py from api/%s; do not edit. */
"""


def make_hand_names(chapters, procedures, objects):
    """Makes the names of the functions in lib/fortran/handwritten.c."""
    return BANNER % 'procedures.txt' + '\n'.join(
        aliases('tern_f_' + name.lower(), [*spellings(name), *f08_spellings(name), *section_names(name),
                                           *(n + '_' for n in section_names(name))])
        for name in BY_HAND) + '\n'


# The types of MPI_SIZEOF, and their sizes in bytes.
SIZEOF = {'character': 1, 'logical': 4, 'int8': 1, 'int16': 2, 'int32': 4, 'int64': 8, 'real32': 4, 'real64': 8,
          'real128': 16, 'complex32': 8, 'complex64': 16, 'complex128': 32}
RANKS = ['scalar'] + ['r%d' % rank for rank in range(1, 16)]


def sizeof_names(type_name):
    return [prefix + 'mpi_sizeof_%s_%s_' % (type_name, rank) for prefix in ('', 'p') for rank in RANKS]


def make_sizeof_c(chapters, procedures, objects):
    out = [BANNER % 'fortran.py' + '#include "lib/fortran/glue.h"']
    for type_name, size in SIZEOF.items():
        head = 'TERN_GLUE void tern_f_sizeof_%s(void *x, MPI_Fint *size, MPI_Fint *ierror)' % type_name
        out += ['', head + ';', head, '{', '    (void)x;', '    *size = %d;' % size, '    if (ierror)',
                '        *ierror = MPI_SUCCESS;', '}', aliases('tern_f_sizeof_' + type_name, sizeof_names(type_name))]
    return '\n'.join(out) + '\n'


# The derived types of mpi_f08_types, and the part of their operators' names that tells the type
# ('': no operators).
F08_TYPES = {'Mpi_comm': 'comm', 'Mpi_datatype': 'datatype', 'Mpi_errhandler': 'errhandler', 'Mpi_file': 'file',
             'Mpi_group': 'group', 'Mpi_info': 'info', 'Mpi_message': 'message', 'Mpi_op': 'op',
             'Mpi_request': 'request', 'Mpi_session': 'session', 'Mpi_win': 'win', 'Mpi_status': ''}
F08_CALLBACKS = ['%s_%s' % (kind, what) for kind in ('comm', 'type', 'win')
                 for what in ('null_copy_fn', 'dup_fn', 'null_delete_fn')] + ['conversion_fn_null']


# The modules that define the types: up to Open MPI 5 (and ours), and from Open MPI 6 on.
TYPE_MODULES = ['mpi_f08_types', 'mpi_types']


def type_hash(module, name):
    """Returns gfortran's number of a derived type, which SELECT TYPE compares."""
    value = 0
    for character in module + '_' + name:
        value = ((value << 6) + (value << 16) - value + ord(character)) & 0xffffffff
    return value % 100000000


def f08_constants(objects):
    """Returns {name in lower case: Fortran index} of the predefined handles."""
    return {name.lower(): o.fortran for o in objects if o.fortran >= 0
            for name in o.names or [o.symbol.replace('ompi_', '')]}


TYPES_C = """#include <mpi.h>

#define EXPORTED __attribute__((visibility("default")))

/* What gfortran makes of a derived type: a description, an initial value, a function that copies one. */
struct type_description {
    int hash;
    MPI_Aint bytes;
    const void *parent, *initial;
    void *copy, *finalize, *free;
};

#define TYPE(module, name, of_hash, type)                                                 \\
    EXPORTED type __##module##_MOD___def_init_##module##_##name;                         \\
    EXPORTED void __##module##_MOD___copy_##module##_##name(type *from, type *to);       \\
    void __##module##_MOD___copy_##module##_##name(type *from, type *to)                 \\
    {                                                                                    \\
        *to = *from;                                                                     \\
    }                                                                                    \\
    EXPORTED struct type_description __##module##_MOD___vtab_##module##_##name = {       \\
        .hash = of_hash,                                                                 \\
        .bytes = sizeof(type),                                                           \\
        .initial = &__##module##_MOD___def_init_##module##_##name,                       \\
        .copy = (void *)__##module##_MOD___copy_##module##_##name,                       \\
    };

/* == and /= of handles */
#define COMPARE(name, ending, operator)                                                  \\
    EXPORTED MPI_Fint __mpi_f08_types_MOD_ompi_##name##_op_##ending(MPI_Fint *, MPI_Fint *); \\
    MPI_Fint __mpi_f08_types_MOD_ompi_##name##_op_##ending(MPI_Fint *a, MPI_Fint *b)     \\
    {                                                                                    \\
        return *a operator *b;                                                           \\
    }                                                                                    \\
    SAME(name, ending, flang, "_QMmpi_f08_typesPompi_")                                  \\
    SAME(name, ending, open_mpi_6, "__mpi_types_MOD_ompi_")
/* The same functions by the names of flang, and of Open MPI 6, where the module has another name. */
#define SAME(name, ending, who, prefix)                                                  \\
    EXPORTED extern __typeof__(__mpi_f08_types_MOD_ompi_##name##_op_##ending) who##_##name##_##ending \\
        __asm__(prefix #name "_op_" #ending)                                             \\
        __attribute__((alias("__mpi_f08_types_MOD_ompi_" #name "_op_" #ending)));
#define OPERATORS(name) COMPARE(name, eq, ==) COMPARE(name, ne, !=)

/* A named constant, for debuggers and programs of old compilers: others have the number in themselves. */
#define CONSTANT(name, old_name, index)                  \\
    EXPORTED extern const MPI_Fint __mpi_f08_types_MOD_##name; \\
    const MPI_Fint __mpi_f08_types_MOD_##name = index;         \\
    EXPORTED extern MPI_Fint ompi_f08_##old_name;              \\
    MPI_Fint ompi_f08_##old_name = index;

/* The predefined callbacks as module procedures. */
#define CALLBACK(name)                                        \\
    extern void mpi_##name##_(void *, void *, void *, void *, void *, void *, void *);                  \\
    EXPORTED void __mpi_f08_callbacks_MOD_mpi_##name(void *, void *, void *, void *, void *, void *, void *);  \\
    void __mpi_f08_callbacks_MOD_mpi_##name(void *a, void *b, void *c, void *d, void *e, void *f, void *g) \\
    {                                                         \\
        mpi_##name##_(a, b, c, d, e, f, g);                   \\
    }

"""


def make_types_c(chapters, procedures, objects):
    """Makes what programs that were compiled with gfortran need of the modules of mpi_f08."""
    out = [BANNER % 'objects.txt' + TYPES_C.replace('\\\\', '\\')]
    for name, operators in F08_TYPES.items():
        out += ['TYPE(%s, %s, %d, %s)' % (module, name, type_hash(module, name), 'MPI_Fint' if operators else 'MPI_Status')
                for module in TYPE_MODULES]
    out += ['OPERATORS(%s)' % o for o in F08_TYPES.values() if o]
    for name, index in f08_constants(objects).items():
        out.append('CONSTANT(%s, %s, %d)' % (name, re.sub(r'(int\d+)_t$', r'\1', name), index))
    out += ['CALLBACK(%s)' % name for name in F08_CALLBACKS]
    return '\n'.join(out) + '\n'


def section_names(name):
    """Returns the names that mpi_f08 calls if buffers are descriptors: bind(C), so that all
    compilers pass one kind of descriptor."""
    return [(prefix + name).lower() + '_f08ts' for prefix in ('', 'P')]


# Open MPI 6 has another ending of two names.
FTS = {'MPI_Comm_attach_buffer', 'MPI_Session_attach_buffer'}


def native(procedure, glue):
    """Returns a function for programs that gfortran compiled with the mpi_f08 of Open MPI 6, which
    passes gfortran's own descriptors."""
    arrays = [d.split('*')[-1] for d in glue.signature if d.startswith('struct tern_descriptor')]
    strings = [a[2:] for a in arrays if a.startswith('d_')]
    signature = ['const struct tern_gfortran_array *' + d.split('*')[-1] if d.startswith('struct tern_descriptor *')
                 else d for d in glue.signature]
    signature = ['char *' + s.split('*')[-1] if s.endswith(tuple('d_' + t for t in strings)) else s for s in signature]
    names = [d.split('*')[-1] for d in glue.signature]
    names = [re.sub(r'^\(|\).*$', '', n) for n in names]
    head = 'TERN_GLUE void %s_native(%s)' % (glue.name, ', '.join(
        signature + ['MPI_Fint *ierror'] + ['size_t len_' + s for s in strings]))
    lines = []
    for a in arrays:
        if a.startswith('d_'):
            lines.append('struct tern_descriptor n_%s = {.base = %s, .element_bytes = len_%s};' % (a, a, a[2:]))
        else:
            lines += ['struct tern_descriptor n_%s;' % a, 'tern_section_from_gfortran(%s, &n_%s);' % (a, a)]
    call = '%s(%s);' % (glue.name, ', '.join(['&n_' + n if n in arrays else n for n in names] + ['ierror']))
    return '\n'.join(['', kinds.wrap(head + ';'), kinds.wrap(head), '{'] + ['    ' + line for line in lines] +
                     [kinds.wrap('    ' + call), '}'])


def make_sections(chapters, procedures, objects):
    """Makes the procedures with buffers for Tern's mpi_f08, and for that of Open MPI 6."""
    out = [BANNER % 'procedures.txt' + '#define OMPI_BUILDING 1 /* mpi.h shows removed procedures, too */', '',
           '#include "lib/fortran/section.h"', '', '/* Arrays of no element are not set. */',
           '#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"']
    for p in present(procedures):
        if not p.of_kind('BUFFER') or is_old(p):
            continue
        for large in (False, True) if p.has_twin else (False,):
            glue = Glue(p, large, sections=True)
            out += ['\n/* procedures.txt:%d */\n' % p.line + undeclared(p, large) + glue.text(),
                    aliases(glue.name, section_names(p.name + ('_c' if large else ''))),
                    native(p, glue),
                    aliases(glue.name + '_native', [n + '_' for n in section_names(p.name + ('_c' if large else ''))] +
                            ([n.replace('_f08ts', '_fts_') for n in section_names(p.name)]
                             if p.name in FTS and not large else []))]
    return '\n'.join(out) + '\n'


def version_script(names):
    lines = ['# Made by api/fortran.py; do not edit.', '{', 'global:']
    return '\n'.join(lines + ['    %s;' % n for n in sorted(set(names))] + ['local:', '    *;', '};', ''])


def undeclared(procedure, large=False):
    """Returns the declaration of a procedure that mpi.h does not declare because this version does
    not have it. The library and Fortran have a function for it all the same."""
    return '' if procedure.declared else kinds.wrap(kinds.prototype(procedure, large, 'P')) + ';'


def present(procedures):
    """Returns the procedures that have a function in the library. Functions of procedures that do
    not work refuse the call."""
    return [p for p in procedures if p.exported and in_fortran(p) and p.name not in BY_HAND]


def make_mpifh_map(chapters, procedures, objects):
    names = [s for p in present(procedures) for name in names_of(p) for s in spellings(name)]
    names += [s for name in BY_HAND for s in spellings(name)]
    return version_script(names + [s for t in SIZEOF for s in sizeof_names(t)])


def make_f08_map(chapters, procedures, objects):
    names = ['__mpi_f08_*', '__mpi_types_MOD_*', '_QMmpi_f08_types*', 'ompi_f08_*', 'mpi_fortran_*', '*_f08ts', '*_f08ts_', '*_fts_']
    names += [s for p in present(procedures) for name in names_of(p) for s in f08_spellings(name)]
    names += [s for p in present(procedures) if by_address_c(p)
              for s in f08_spellings(p.name + '_c') + [n + 'c_' for n in f08_spellings(p.name)]]
    names += [s for name in BY_HAND for s in f08_spellings(name)]
    return version_script(names + [s for t in SIZEOF for s in sizeof_names(t)])


def make_ignore_tkr_map(chapters, procedures, objects):
    return version_script(['mpi_fortran_*'] + [s for t in SIZEOF for s in sizeof_names(t)])


def make(chapters, procedures, objects):
    """Makes the functions that mpif.h and `use mpi` programs call, and the functions of mpi_f08
    with equal arguments."""
    out = [BANNER % 'procedures.txt' +
           '#define OMPI_BUILDING 1 /* mpi.h shows removed procedures, too */', '', '#include "lib/fortran/glue.h"', '',
           '/* Arrays of no element are not set. */', '#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"']
    for p in present(procedures):
        glue = Glue(p)
        out.append('\n/* procedures.txt:%d */\n' % p.line + undeclared(p) + glue.text())
        plain = [s for name in names_of(p) for s in spellings(name)]
        f08 = [s for name in names_of(p) for s in f08_spellings(name)]
        if has_address_of_detached(p):
            out.append(DETACH.format(name=glue.name, signature=', '.join(glue.signature), arguments=', '.join(
                '&address' if d.endswith('buffer_addr') else d.split('*')[-1] for d in glue.signature)))
            out += [aliases(glue.name + '_old', plain), aliases(glue.name, f08)]
        elif message(p):
            out += ['#if TERN_GLUE_F08', aliases(glue.name, plain + f08), '#else', glue.short_way(),
                    aliases(glue.name + '_short', plain), '#endif']
        else:
            out.append(aliases(glue.name, plain + f08))
        if by_address_c(p):
            glue = Glue(p, large=True)
            out += [undeclared(p, True), glue.text(),
                    aliases(glue.name, f08_spellings(p.name + '_c') + [n + 'c_' for n in f08_spellings(p.name)])]
    return '\n'.join(out) + '\n'
