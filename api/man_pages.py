# SPDX-License-Identifier: BSD-3-Clause
"""Makes the manual pages of section 3: one page per procedure of the table that works, a link per
MPI_Xxx_c, and MPI.3, which lists all procedures. man_words.py has the words."""

import functools
import re

import checks
import collectives
import fortran
import fortran_modules
import kinds
import man_words
from table import COLLECTIVE

BANNER = '.\\" SPDX-License-Identifier: BSD-3-Clause\n.\\" Made by api/generate.py from api/procedures.txt%s; do not edit.\n'
# In these chapters no procedure waits for another process.
LOCAL = ('datatype', 'op', 'group', 'attr', 'info', 'conversion')
WIDTH = 76
FOLDER = 'man3/'


# ---- troff ----

def escape(text):
    """Returns the text as troff prints it. A line must not begin with a request."""
    text = text.replace('\\', '\\e')
    return '\\&' + text if text.startswith(('.', "'")) else text


def item(head, text):
    return ['.TP', '.BR ' + head, escape(text)]


def verbatim(lines):
    return ['.nf', '.ft CW'] + [escape(line) for line in lines] + ['.ft P', '.fi']


def refer(names):
    """Returns references to other pages."""
    return ['.BR %s (3)%s' % (name, ',' if name != names[-1] else '') for name in names]


def broken(line, joint=''):
    """Returns the line as several lines that are broken after commas. `joint` ends all but the
    last."""
    lines = kinds.wrap(line, WIDTH - len(joint)).split('\n')
    return [text + joint for text in lines[:-1]] + lines[-1:]


def sentence(text):
    """Returns the text beginning with a capital letter and ending with a full stop."""
    return text[:1].upper() + text[1:].rstrip('.') + '.'


# ---- SYNOPSIS ----

def of_c(procedure):
    lines = ['#include <mpi-ext.h>' if procedure.name.startswith(('MPIX_', 'OMPI_')) else '#include <mpi.h>']
    for large in (False, True) if procedure.has_twin else (False,):
        lines += [''] + broken(kinds.prototype(procedure, large) + ';')
    return lines


def interface(name, body, optional):
    """Returns the lines of a subroutine that users see, from the interface body of a module."""
    lines = broken('subroutine %s(%s)' % (name, ', '.join(body.dummies + ['ierror'])), ' &')
    ierror = 'integer, optional, intent(out) :: ierror' if optional else 'integer :: ierror'
    for line in body.lines + [ierror]:
        lines += broken('    ' + line.replace('TERN_CHOICE', '<type>'), ' &')
    return lines


def by_hand(name, module):
    """Returns the lines of a procedure whose interface the modules have as text."""
    text = {'mpi': fortran_modules.HAND_MPI, 'mpi_f08': fortran_modules.HAND_F08}[module].format(P='', p='')
    head = r'^ *((?:double precision )?(?:function|subroutine) )%s(?:_f08)?(\([^)]*\)).*\n((?:.*\n)*?) *end (?:function|subroutine)' % name
    found = re.search(head, text, re.M | re.I)
    lines = [found.group(1) + name + found.group(2)]
    for line in found.group(3).split('\n'):
        if line.strip() and 'import' not in line:
            lines.append('    ' + re.sub(name + '_f08', name, line.strip(), flags=re.I))
    return lines


def of_f08(procedure):
    if procedure.name in fortran.BY_HAND:
        return by_hand(procedure.name, 'mpi_f08')
    lines = []
    for name, specifics in fortran_modules.generics_of_f08(procedure, ''):
        for specific in specifics:
            lines += [''] * bool(lines) + interface(name, specific, True)
    return lines


def of_mpi(procedure):
    if procedure.name in fortran.BY_HAND:
        return by_hand(procedure.name, 'mpi')
    lines = []
    for specific in fortran_modules.specifics_of_mpi(procedure, ''):
        lines += [''] * bool(lines) + interface(specific.name, specific, False)
    return lines


def synopsis(procedure):
    out = ['.SH SYNOPSIS', '.SS C'] + verbatim(of_c(procedure))
    where = fortran.where(procedure, False)
    if 'mpi_f08' in where:
        out += ['.SS Fortran, use mpi_f08'] + verbatim(of_f08(procedure))
    # mpif.h, too, has no type(MPI_Status)
    if where and fortran_modules.in_module(procedure):
        out += ['.SS Fortran, use mpi and mpif.h'] + verbatim(of_mpi(procedure))
    if not where:
        out += ['.PP', 'Fortran does not have this procedure.']
    elif 'mpi_f08' not in where:
        out += ['.PP', 'The module mpi_f08 does not have this procedure.']
    return out


# ---- PARAMETERS ----

def blocks_per_rank(procedure, p):
    """Returns what a collective's buffer has a block for: 'rank', 'neighbour', or ''."""
    pattern, buffers = collectives.OPERATIONS.get(procedure.operation, ('', ''))
    if p.name[:4] in buffers.split():
        return 'neighbour' if procedure.rules == 'neighbor' else 'rank'
    return ''


def describing(procedure, p):
    """Returns the names of the counts, displacements and datatypes that describe a buffer."""
    rest = procedure.parameters[procedure.parameters.index(p) + 1:]
    while rest and rest[0].kind == 'BUFFER':
        rest = rest[1:]
    names = []
    for q in rest:
        if q.kind not in ('DATATYPE', 'DISPLACEMENT') and not q.poly:
            break
        names.append(q.name)
    return names


def buffer(procedure, p):
    shape, described = '', checks.triple(procedure, p)
    if described:
        shape = '%s elements of %s' % (described[0].name, described[1].name)
        whose = blocks_per_rank(procedure, p)
        if whose:
            shape = 'for each %s a block of %s' % (whose, shape)
        elif checks.partitioned(procedure):
            shape = 'in each of the partitions, ' + shape
    elif not procedure.of_kind('DATATYPE') and words_of(procedure, p):
        return words_of(procedure, p)
    elif procedure.rules in checks.COMMUNICATION and describing(procedure, p):
        shape = 'described by ' + ', '.join(describing(procedure, p))
    text = {'in': 'the buffer that is read', 'out': 'the buffer that is written',
            'inout': 'the buffer that is read and written'}[p.direction]
    return text + (': ' + shape if shape else '')


def receives(procedure, p):
    """Returns true if a rank or a tag selects a message to receive."""
    other = any(q.name == 'source' for q in procedure.parameters)
    return not checks.partitioned(procedure) and (p.name in ('recvtag', 'source') or p.name == 'tag' and other)


def rank(procedure, p):
    if p.lengths or p.direction != 'in' or not checks.handler(procedure):
        return 'a rank'
    if p.name == 'root':
        inter = '; in an intercommunicator also MPI_ROOT or MPI_PROC_NULL' if procedure.rules in COLLECTIVE else ''
        return 'the rank of the root' + inter
    if p.name == 'dest':
        return 'the rank of the receiver, or MPI_PROC_NULL'
    if p.name == 'source':
        return 'the rank of the sender, %sor MPI_PROC_NULL' % ('MPI_ANY_SOURCE ' * receives(procedure, p))
    return 'a rank'


def tag(procedure, p):
    if p.direction != 'in' or procedure.name.startswith('MPI_Status_'):
        return 'a tag'
    return 'the tag of the message: from 0 to MPI_TAG_UB' + ', or MPI_ANY_TAG' * receives(procedure, p)


def words_of(procedure, p):
    """Returns the words of the table KINDS, or None."""
    keys = ('%s:%s' % (procedure.name, p.name), '%s:%s' % (p.kind, p.name), p.kind)
    return next((man_words.KINDS[key] for key in keys if key in man_words.KINDS), None)


def meaning(procedure, p):
    """Returns what one value of the parameter is."""
    if p.kind in ('RANK', 'RANK_NNI'):
        return rank(procedure, p)
    if p.kind == 'TAG':
        return tag(procedure, p)
    if p.kind == 'POLYDISPLACEMENT' and 'alltoallw' in procedure.operation:
        return 'a displacement in bytes'
    if p.kind == 'STATUS':
        ignorable = p.direction == 'out' and not procedure.name.startswith('MPI_Status_f')
        return 'a status' + ('; the argument may be MPI_STATUS%s_IGNORE' % ('ES' * bool(p.lengths)) if ignorable else '')
    if p.kind in man_words.HANDLES:
        return man_words.KINDS.get('%s:%s' % (procedure.name, p.name), man_words.HANDLES[p.kind])
    if p.kind.startswith('F90_') and p.kind != 'F90_STATUS':
        return 'the integer that stands for the handle in Fortran'
    words = words_of(procedure, p)
    if words:
        return words
    raise SystemExit('procedures.txt:%d: %s has a parameter of kind %s, for which man_words.py has no words'
                     % (procedure.line, procedure.name, p.kind))


def array(procedure, p):
    """Returns how many values the parameter has, or '' if it has one."""
    if not p.lengths or p.kind in ('STRING_ARRAY', 'STRING_2DARRAY'):
        return ''
    if p.kind == 'STRING':
        return '' if p.lengths[0] == '*' else ', in memory of size ' + p.lengths[0]
    if len(p.lengths) == 2:
        return 'an array of %s rows of %s values, each ' % tuple('several' if n == '*' else n for n in p.lengths)
    if p.lengths[0] != '*':
        return 'an array of length %s; each element is ' % p.lengths[0]
    if procedure.rules == 'neighbor':
        return 'an array with an element for each neighbour; each is '
    if procedure.rules == 'coll' and p.direction == 'in':
        return 'an array with an element for each rank; each is '
    return 'an array; each element is '


def conditions(procedure, p):
    """Yields where the parameter has a meaning, and which special values are allowed."""
    if 'null-ok' in p.flags:
        handle = p.kind in kinds.HANDLES and p.direction != 'out'
        yield '%s may be %s' % ('Each' if handle and p.lengths else 'It',
                                kinds.HANDLES[p.kind].null if handle else 'NULL')
    if 'in-place' in p.flags:
        yield 'It may be MPI_IN_PLACE'
    if 'root-only' in p.flags:
        yield 'Significant at the root only'
    if 'not-first' in p.flags:
        yield 'Not significant at rank 0, unless sendbuf is MPI_IN_PLACE'
    if p.only_at:
        yield 'Significant where %s is the rank of the calling process' % p.only_at
    if 'same' in p.flags:
        yield 'Must be the same at all ranks' + (' of a group' if p.name == 'high' else '')
    if 'large-only' in p.flags:
        yield 'Exists in %s_c only' % procedure.name


def parameters(procedure):
    if not procedure.parameters:
        return []
    out = ['.SH PARAMETERS']
    for p in procedure.parameters:
        if p.kind == 'BUFFER':
            text = buffer(procedure, p)
        elif p.kind == 'STRING':
            text = meaning(procedure, p) + array(procedure, p)
        else:
            text = array(procedure, p) + meaning(procedure, p)
        name = '\\&...' if p.kind == 'VARARGS' else p.name
        text = ' '.join(sentence(t) for t in [text, *conditions(procedure, p)])
        out += item('%s " (%s)"' % (name, p.direction), text)
    return out


# ---- ERRORS ----

def classes(procedure):
    """Returns {error class: names of the arguments that the entry point refuses with it}. Classes
    that only the implementing function raises have no names."""
    found = {}
    for p in procedure.parameters if not procedure.plain else []:
        for c in checks.checks(procedure, p):
            names = found.setdefault(c.error, [])
            if p.name not in names:
                names.append(p.name)
    for error, _ in procedure.raises:
        found.setdefault(error, [])
    return found


def handled(procedure):
    """Returns a sentence: what happens after an error."""
    if procedure.words.get('errors') == 'returned':
        return 'The error code is returned. No error handler is called.'
    raiser = checks.raiser(procedure)
    if not raiser:
        failed = ', or that of the communicator whose operation failed' * bool(procedure.of_kind('REQUEST'))
        return ('The error handler of MPI_COMM_WORLD is called%s. If the parameter mpi_compat_mpi3 is 0, '
                'MPI_COMM_SELF takes the place of MPI_COMM_WORLD.' % failed)
    if raiser.kind == 'ERRHANDLER':
        return 'The error handler that is called is the argument %s.' % raiser.name
    return 'The error handler of %s is called.' % raiser.name


def errors(procedure):
    if not procedure.returns_error:
        return ['.SH ERRORS', 'The procedure returns its result, and no error code.']
    out, found = ['.SH ERRORS'], classes(procedure)
    for error in sorted(found):
        names = ' (%s)' % ', '.join(found[error]) if found[error] else ''
        out += item('MPI_ERR_' + error, sentence(man_words.ERRORS[error] + names))
    if out[1:]:
        out.append('.PP')
    elif procedure.chapter == 'tool':
        out.append('The error classes begin with MPI_T_ERR_. This page does not list them.')
    out.append(handled(procedure))
    return out


# ---- the other sections ----

def source(procedure, chapters):
    title = chapters[procedure.chapter]
    if procedure.since == '-':
        return ['.SH SOURCE', 'Not a part of the MPI standard: ' + title + '.']
    text = '%s. In the MPI standard since version %s' % (title, procedure.since)
    if procedure.has_twin and procedure.since < '4.0':
        text += '; %s_c since version 4.0' % procedure.name
    return ['.SH SOURCE', text + '.']


def timing(procedure):
    """Yields when the call returns, and who must make it."""
    comm = collectives.communicator(procedure)
    made = [p for p in procedure.of_kind('REQUEST') if p.direction == 'out' and not p.lengths]
    if comm:
        yield 'Collective: all ranks of %s must make this call, in the same order' % comm.name
    elif procedure.chapter in LOCAL:
        yield 'Local: the call does not wait for other processes'
    if not made or not procedure.returns_error or procedure.name == 'MPI_Grequest_start':
        return
    if procedure.name.endswith('_init'):
        yield 'Persistent: no data moves before MPI_Start or MPI_Startall. MPI_Request_free frees the request'
    else:
        yield 'Nonblocking: the call returns at once. The operation is complete when MPI_Wait or MPI_Test says so'
    read = [p.name for p in procedure.of_kind('BUFFER') if p.direction == 'in']
    written = [p.name for p in procedure.of_kind('BUFFER') if p.direction != 'in']
    if read:
        yield 'Do not change %s before the operation is complete' % ' and '.join(read)
    if written:
        yield 'Do not read or change %s before the operation is complete' % ' and '.join(written)


def notes(procedure):
    out = [sentence(text) for text in timing(procedure)]
    if procedure.words.get('allowed') == 'always':
        out.append('May be called before MPI_Init and after MPI_Finalize.')
    for word in ('deprecated', 'removed'):
        if word in procedure.words:
            version, advice = procedure.words[word].split(', ')
            refused = ' mpi.h refuses it.' * (word == 'removed')
            out.append('%s in MPI-%s: %s instead.%s' % (word.capitalize(), version, advice, refused))
    if not procedure.exported:
        out.append('In C a macro of mpi.h: it has no address, and tools cannot put their own in its place.')
    elif procedure.has_profiling:
        out.append('P%s is the same procedure for tools that put their own %s in its place.' % (procedure.name, procedure.name))
    lines = ['.SH NOTES'] * bool(out)
    for text in out:
        lines += [escape(text), '.PP']
    return lines[:-1]


def base(name):
    """Returns what the forms of one operation have in common: MPI_Isend and MPI_Send_init give
    send."""
    return re.sub(r'_init$', '', re.sub(r'^MPIX?_', '', name)).lower()


@functools.lru_cache(maxsize=None)
def forms(names):
    """Returns {base: names} of procedures, those of blocking, nonblocking and persistent form
    together."""
    bases = {base(name) for name in names}
    out = {}
    for name in names:
        own = base(name)
        nonblocking = own.startswith('i') and own[1:] in bases and re.match(r'MPI_I', name)
        out.setdefault(own[1:] if nonblocking else own, []).append(name)
    return {name: own for own in out.values() for name in own}


# Words that stand for one another in the names of procedures that belong together.
PAIRS = [('get', 'set'), ('create', 'free'), ('init', 'finalize'), ('attach', 'detach'), ('c2f', 'f2c'), ('pack', 'unpack'),
         ('incl', 'excl'), ('start', 'stop'), ('alloc', 'free'), ('source', 'tag'), ('commit', 'free')]


def partners(name):
    words = name.split('_')
    for pair in PAIRS:
        for one, other in (pair, pair[::-1]):
            for i, word in enumerate(words):
                if word.lower() == one:
                    yield '_'.join(words[:i] + [other.capitalize() if word[0].isupper() else other] + words[i + 1:])


def see_also(procedure, working):
    names = set(forms(tuple(working))[procedure.name]) | set(partners(procedure.name))
    made = [p for p in procedure.of_kind('REQUEST') if p.direction == 'out']
    if made:
        names |= {'MPI_Start', 'MPI_Request_free'} if procedure.name.endswith('_init') else {'MPI_Wait', 'MPI_Test'}
    return ['.SH SEE ALSO'] + refer(sorted(n for n in names if n in working and n != procedure.name) + ['MPI'])


# ---- pages ----

def page(procedure, chapters, working):
    names = [procedure.name] + [procedure.name + '_c'] * procedure.has_twin
    description = procedure.description[:1].lower() + procedure.description[1:].rstrip('.')
    lines = ['.TH %s 3 "" "Tern MPI" "MPI procedures"' % procedure.name, '.ad l', '.nh', '.SH NAME',
             '%s \\- %s' % (', '.join(names), escape(description))]
    lines += synopsis(procedure) + parameters(procedure) + errors(procedure) + notes(procedure)
    lines += source(procedure, chapters) + see_also(procedure, working)
    return BANNER % ':%d' % procedure.line + '\n'.join(lines) + '\n'


FORTRAN = '''Fortran programs call these procedures with mpif.h, use mpi, or use mpi_f08.
In use mpi_f08 large counts need no _c: the kind of the integers chooses the form.
The tool interface (MPI_T_) and the conversion of handles are for C only.
The page of a procedure says if Fortran does not have it.
Only Fortran has MPI_Sizeof and MPI_F_sync_reg.'''


def make_list(chapters, procedures, objects):
    """Makes MPI.3."""
    count = sum(p.works for p in procedures)
    out = ['.TH MPI 3 "" "Tern MPI" "MPI procedures"', '.ad l', '.nh', '.SH NAME', 'MPI \\- the procedures of Tern MPI',
           '.SH DESCRIPTION', 'Tern MPI has %d of the %d procedures below. Each of these has a page, for example:' % (count, len(procedures)),
           '.B man 3 MPI_Send', '.PP', 'A procedure that is marked',
           '.B not in this version', 'is not in mpi.h and has no page.',
           'A program that was built with another MPI can still name it; a call gives MPI_ERR_UNSUPPORTED_OPERATION.', '.PP',
           'MPI_Xxx_c is MPI_Xxx with counts of type MPI_Count, for more than 2147483647 elements. Both are on one page.',
           '.SH FORTRAN'] + FORTRAN.split('\n')
    for chapter, title in chapters.items():
        members = [p for p in procedures if p.chapter == chapter]
        out += ['.SH ' + title.upper()] * bool(members)
        for p in members:
            head = p.name + (' ", %s_c"' % p.name if p.has_twin else '')
            out += ['.TP', '.BR ' + head, escape(p.description) + (' Not in this version.' if not p.works else '')]
    out += ['.SH SEE ALSO', '.BR MPI_Constants (3),', '.BR mpicc (1),', '.BR mpirun (1),', '.BR mpi_info (1)']
    return BANNER % '' + '\n'.join(out) + '\n'


def files(procedures):
    """Returns {path: function that makes its text} of all pages."""
    working = {p.name: None for p in procedures if p.works}
    out = {FOLDER + 'MPI.3': make_list}
    for p in procedures:
        if not p.works:
            continue
        out[FOLDER + p.name + '.3'] = lambda c, _, o, p=p: page(p, c, working)
        if p.has_twin:
            # the first line must be the request
            link = '.so %s%s.3\n%s' % (FOLDER, p.name, BANNER % ':%d' % p.line)
            out['%s%s_c.3' % (FOLDER, p.name)] = lambda c, _, o, link=link: link
    return out
