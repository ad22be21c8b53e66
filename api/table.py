# SPDX-License-Identifier: BSD-3-Clause
"""Reads the tables procedures.txt, objects.txt and constants.txt."""

import functools
import os
import re
from dataclasses import dataclass, field

COLLECTIVE = ('coll', 'neighbor')  # chapters
HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = {'null-ok', 'in-place', 'root-only', 'large-only', 'by-pointer', 'by-value', 'not-first', 'same'}
WORDS = {'does', 'fast', 'returns', 'raises', 'allowed', 'lock', 'twin', 'deprecated', 'removed', 'macro', 'profiling',
         'errors', 'collective', 'large', 'faults'}


@dataclass
class Parameter:
    name: str
    kind: str
    direction: str = 'in'
    const: bool = False
    # ['count'], ['*'], ['n', '3']; [] if it is no array
    lengths: list = field(default_factory=list)
    function: str = ''                           # type of a callback
    flags: set = field(default_factory=set)
    only_at: str = ''  # significant where this parameter is the process's own rank

    @property
    def poly(self):
        return self.kind.startswith('POLY') and self.kind != 'POLYFUNCTION'


@dataclass
class Procedure:
    name: str
    works: bool
    since: str
    description: str
    chapter: str
    line: int
    # The chapter whose rules hold for the arguments: its own, or that of the procedure whose
    # implementing function it shares.
    rules: str = ''
    # Of a collective in one of its forms: gather of MPI_Gather, MPI_Igather and MPI_Gather_init.
    operation: str = ''
    parameters: list = field(default_factory=list)
    words: dict = field(default_factory=dict)

    @property
    def raises(self):
        """Returns [(error class, program that tests it or '')]."""
        return [tuple((word + '@').split('@')[:2]) for word in self.words.get('raises', '').split()]

    @property
    def returns(self):
        return self.words.get('returns', 'ERROR_CODE')

    @property
    def returns_error(self):
        return self.returns in ('ERROR_CODE', 'ERROR_CLASS')

    @property
    def plain(self):
        """Returns true if arguments and result are passed on as they are: no check, no error
        handler."""
        return not self.returns_error or self.words.get('errors') == 'returned'

    @property
    def does(self):
        default = self.operation or re.sub(r'^(MPIX?|OMPI)_', '', self.name).lower()
        return self.words.get('does', 'tern_mpi_' + default)

    @property
    def form(self):
        """Returns the enum tern_form of a collective: one function does all forms. Returns '' for
        other procedures."""
        if not self.operation:
            return ''
        if self.name.endswith('_init'):
            return 'TERN_PERSISTENT'
        return 'TERN_NONBLOCKING' if self.parameters[-1].kind == 'REQUEST' else 'TERN_BLOCKING'

    @property
    def meant(self):
        """Returns the parameters that the implementing function gets under their names: those that
        all forms of a collective have."""
        return [p for p in self.parameters if not self.form or p.kind not in ('INFO', 'REQUEST')]

    @property
    def has_twin(self):
        """Returns true if there is an MPI_Xxx_c that takes MPI_Count."""
        large = any(p.kind.startswith('POLY') for p in self.parameters)
        return large and self.words.get('twin') != 'none'

    @property
    def told_binding(self):
        """Returns true if the implementing function is told whether MPI_Xxx_c was called."""
        return self.words.get('large') == 'told'

    @property
    def told_faults(self):
        """Returns true if the implementing function is called with wrong arguments, too: other
        ranks wait for it."""
        return self.words.get('faults') == 'told'

    @property
    def exported(self):
        """Returns true if there is a function. The function of a procedure that does not work yet
        only refuses."""
        return 'macro' not in self.words

    @property
    def declared(self):
        """Returns true if there is a function that works, so that mpi.h declares it."""
        return self.works and self.exported

    @property
    def has_profiling(self):
        return self.words.get('profiling') != 'none'

    def parameter(self, name):
        return next(p for p in self.parameters if p.name == name)

    def of_kind(self, kind):
        return [p for p in self.parameters if p.kind == kind]


@dataclass
class Object:
    symbol: str
    kind: str
    size: int
    fortran: int
    state: str
    names: list


@dataclass
class Constant:
    name: str
    kind: str       # int, length, ...: constants.txt lists them
    type: str       # the type of C behind the kind, or ''
    value: str      # '-' if there is none
    languages: str  # all, C, Fortran or -
    text: str
    section: str
    line: int
    words: dict = field(default_factory=dict)

    @property
    def in_c(self):
        return self.languages in ('all', 'C')

    @property
    def in_fortran(self):
        return self.languages in ('all', 'Fortran')


def fail(path, line, text):
    raise SystemExit('%s:%d: %s' % (path, line, text))


def read_parameter(text, where):
    function = ''
    if ':' in text:
        text, rest = text.split(':')
        function, *flags = rest.split()
        text += ' ' + ' '.join(flags)
    words = text.split()
    p = Parameter('', '', function=function)
    if words[0] in ('in', 'out', 'inout'):
        p.direction = words.pop(0)
    if words[0] == 'const':
        p.const = True
        words.pop(0)
    if len(words) < 2 or not re.fullmatch(r'[A-Z][A-Z0-9_]*', words[0]):
        fail(*where, 'expected a kind and a name in "%s"' % text)
    p.kind = words.pop(0)
    m = re.fullmatch(r'(\w+)((?:\[[\w*]+\])*)', words.pop(0))
    if not m:
        fail(*where, 'expected name or name[length] in "%s"' % text)
    p.name, p.lengths = m.group(1), re.findall(r'\[([\w*]+)\]', m.group(2))
    for w in words:
        if w.startswith('at='):
            p.only_at = w[3:]
        elif w in FLAGS:
            p.flags.add(w)
        else:
            fail(*where, 'unknown flag "%s"; known are %s' % (w, ', '.join(sorted(FLAGS))))
    return p


def bare_name(procedure):
    return re.sub(r'^(MPIX?|OMPI)_|_init$', '', procedure.name).lower()


def read_procedures(path=os.path.join(HERE, 'procedures.txt')):
    """Returns (chapters: {name: title}, procedures in the order of the table)."""
    chapters, procedures, chapter = {}, [], None
    current, open_list = None, None
    for number, raw in enumerate(open(path, encoding='utf-8'), 1):
        line, where = raw.rstrip(), (path, number)
        if not line or line.startswith('#'):
            continue
        if open_list is not None or line.lstrip().startswith('('):
            open_list = (open_list or '') + ' ' + line.strip()
            if line.endswith(')'):
                inside = open_list.strip()[1:-1].strip()
                current.parameters = [read_parameter(t.strip(), where) for t in inside.split(',')] if inside else []
                open_list = None
        elif line.startswith('chapter '):
            chapter, title = line[8:].split(': ')
            chapters[chapter] = title
        elif line.startswith(' '):
            word, _, value = line.strip().partition(':')
            if word not in WORDS:
                fail(*where, 'unknown word "%s"; known are %s' % (word, ', '.join(sorted(WORDS))))
            current.words[word] = value.strip()
            if word == 'lock' and value.strip() not in ('none', 'lane'):
                fail(*where, 'lock is "%s"; expected none or lane' % value.strip())
            if word in ('large', 'faults') and value.strip() != 'told':
                fail(*where, '%s is "%s"; expected told' % (word, value.strip()))
        else:
            parts = line.split(None, 3)
            if len(parts) != 4 or parts[1] not in ('yes', 'no'):
                fail(*where, 'expected NAME yes|no SINCE description')
            current = Procedure(parts[0], parts[1] == 'yes', parts[2], parts[3], chapter, number)
            procedures.append(current)
    operations = {bare_name(p) for p in procedures if p.chapter in COLLECTIVE and p.name.endswith('_init')}
    for p in procedures:
        name = bare_name(p)
        p.operation = name if name in operations else name[1:] if name[1:] in operations else ''
    for p in procedures:
        p.rules = next(q.chapter for q in procedures if q.does == p.does)
        if not p.works and p.plain:
            fail(path, p.line, '%s returns no MPI error, so it must work' % p.name)
    names = [p.name for p in procedures]
    for p in procedures:
        if names.count(p.name) > 1:
            fail(path, p.line, '%s stands in the table twice' % p.name)
    return chapters, procedures


def read_objects(path=os.path.join(HERE, 'objects.txt')):
    objects = []
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        if line.startswith('#') or not line.strip():
            continue
        words = line.split()
        if len(words) < 5:
            fail(path, number, 'expected symbol, kind, size, Fortran index, state and C names')
        symbol, kind, size, fortran, state, *names = words
        objects.append(Object(symbol, kind, int(size), int(fortran), '' if state == '-' else state, names))
    return objects


# The kinds of constants, and the lines that may follow.
CONSTANT_KINDS = {'int': (), 'length': (), 'offset': (), 'error': (), 'string': (), 'logical': (), 'enum': (),
                  'address': ('fortran',), 'variable': ('points',), 'function': (), 'removed': ('instead',)}
NUMBERS = ('int', 'length', 'offset', 'error', 'enum')


@functools.lru_cache(maxsize=None)
def read_constants(path=os.path.join(HERE, 'constants.txt')):
    """Returns the constants in the order of the table."""
    constants, section = [], ''
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        where, line = (path, number), line.rstrip()
        if not line or line.startswith('#'):
            continue
        if line.startswith('section '):
            section = line[len('section '):]
            continue
        if line.startswith(' '):
            word, _, value = line.strip().partition(': ')
            known = CONSTANT_KINDS[constants[-1].kind] if constants else ()
            if word not in known or not value:
                fail(*where, 'found "%s"; expected %s' % (line.strip(), ' or '.join(w + ': VALUE' for w in known)
                                                          or 'a constant'))
            constants[-1].words[word] = value
            continue
        parts = line.split(None, 4)
        kind, _, type_name = (parts[1] if len(parts) > 1 else '').partition(':')
        if len(parts) != 5 or kind not in CONSTANT_KINDS or parts[3] not in ('all', 'C', 'Fortran', '-'):
            fail(*where, 'expected NAME KIND VALUE all|C|Fortran|- TEXT; the kinds are %s' % ', '.join(CONSTANT_KINDS))
        if kind in NUMBERS and not re.fullmatch(r'-?\d+', parts[2]):
            fail(*where, 'the value of %s is "%s"; expected a number' % (parts[0], parts[2]))
        constants.append(Constant(parts[0], kind, type_name, parts[2], parts[3], parts[4], section, number))
    taken = {}
    for c in constants:
        for key in (c.name, ('error', c.value))[:2 if c.kind == 'error' else 1]:
            if key in taken:
                fail(path, c.line, '%s repeats the %s of line %d' % (c.name, 'name' if key == c.name else 'number', taken[key]))
            taken[key] = c.line
    return constants
