# SPDX-License-Identifier: BSD-3-Clause
"""Makes the C entry points: check, convert, lock, call, unlock, convert back, call the error
handler."""

import re

import collectives
import kinds
from checks import checks, guards, handler, private_name, raiser, triple, rooted

INCLUDES = '''/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by api/generate.py from api/procedures.txt; do not edit. %s. */
#define OMPI_BUILDING 1 /* mpi.h shows removed procedures, too */
#include "lib/mpi/life/entry.h"

#include "lib/mpi/procedures.h"
'''

# Results of these kinds become MPI_UNDEFINED if they do not fit an int. For other kinds that is an
# error.
UNDEFINED_IF_LARGE = {'POLYXFER_NUM_ELEM', 'POLYDTYPE_NUM_ELEM', 'POLYNUM_BYTES', 'POLYNUM_BYTES_NNI', 'POLYDTYPE_PACK_SIZE'}


def reaches_others(procedure):
    """Returns true if the procedure needs the process that started MPI: a child made by fork, which has copies of its
    connections, may only ask what it knows."""
    if procedure.name == 'MPI_Comm_free' or procedure.name.startswith(('MPI_Get_', 'MPI_Status_')) \
            and procedure.chapter == 'pt2pt' or procedure.words.get('allowed') == 'always':
        return False
    return procedure.chapter in ('pt2pt', 'coll', 'neighbor', 'window', 'file', 'process') or 'collective' in procedure.words


class Entry:
    """One entry point, MPI_Xxx or MPI_Xxx_c, as lines of C. There are two of each: the function
    that programs call, and a cold copy with `checked`. The first calls the copy if the gate is
    set, because MPI does not run or check_level is full (lib/mpi/object/gate.h)."""

    def __init__(self, procedure, large, checked=False):
        self.procedure, self.large, self.checked = procedure, large, checked
        self.name = procedure.name + ('_c' if large else '')
        self.lines = []
        # C expression of the object whose error handler is called. For files MPI_FILE_NULL has the
        # handler of all that belongs to no open file.
        self.nowhere = '&tern_file_null.obj' if procedure.chapter == 'file' else 'NULL'
        self.on = self.nowhere
        self.block = None      # guard of the block being written
        self.deferred = []     # checks of buffers that wait for their count and type

    def add(self, text, guard=''):
        if guard != self.block:
            if self.block:
                self.lines.append('    }')
            if guard:
                self.lines.append('    if (%s) {' % guard)
            self.block = guard
        self.lines.append(('        ' if guard else '    ') + text)

    def tells(self, p):
        """Returns true if the implementing function is told that p is wrong. Else the call ends."""
        return self.procedure.told_faults and p not in (raiser(self.procedure), handler(self.procedure))

    def refuse(self, p, condition, refusal, on, guard=''):
        """Adds a check of p. `refusal`: a function after tern_entry_refuse_, and its arguments
        after `procedure`."""
        function, arguments = refusal.split('(', 1)
        call = 'tern_entry_refuse_%s(%%s, "%s", %s;' % (function, self.name, arguments)
        if self.tells(p):
            self.add('if (!fault_ && (%s))' % condition, guard)
            self.add('    fault_ = ' + call % '&tern_raise_later', guard)
        else:
            self.add('if (%s)' % condition, guard)
            self.add('    return ' + call % on, guard)

    def check(self, p):
        guard = ' && '.join(guards(self.procedure, p))
        for c in checks(self.procedure, p):
            if c.find:
                self.add('index_ = %s;' % c.find, guard)
            self.refuse(p, c.condition, c.refusal, self.on, guard)
            # The handle is read only after the check that it is a valid handle.
            if c.parameter.kind in kinds.HANDLES and 'tern_entry_valid' in c.condition:
                self.convert_handle(p, guard)

    def convert_handle(self, p, guard):
        if p.direction == 'out' or p.lengths or p not in self.procedure.meant:
            return
        star = '*' if p.direction == 'inout' or 'by-pointer' in p.flags else ''
        value = 'tern_entry_state(%s%s)' % (star, p.name)
        if self.tells(p):
            value = 'fault_ ? NULL : ' + value
        if guard:
            self.add('%s = %s;' % (private_name(p), value), guard)
        else:
            self.add('struct %s *%s = %s;' % (kinds.HANDLES[p.kind].state, private_name(p), value))

    def prepare(self):
        """Adds checks and conversions. An argument that another one needs comes first."""
        procedure = self.procedure
        parameters = list(procedure.parameters)
        if any(c.find for p in parameters for c in checks(procedure, p)):
            self.add('int64_t index_;')
        for p in parameters:
            if p.kind in kinds.HANDLES and p.direction == 'in' and not p.lengths and guards(procedure, p):
                self.add('struct %s *%s = NULL;' % (kinds.HANDLES[p.kind].state, private_name(p)))
        first = raiser(procedure)
        if first:
            self.check(first)
            self.on = ('(struct tern_object *)%s' if first.kind == 'FILE' else '&%s->obj') % private_name(first)
            if 'null-ok' in first.flags:
                self.on = '(%s ? %s : %s)' % (private_name(first), self.on, self.nowhere)
            parameters.remove(first)
        if rooted(procedure):
            root = procedure.parameter('root')
            self.check(root)
            parameters.remove(root)
        waiting = []
        for p in parameters:
            if p.kind == 'BUFFER' and triple(procedure, p):
                waiting.append(p)
                continue
            self.check(p)
            for buffer in [b for b in waiting if triple(procedure, b)[1] is p]:
                self.check(buffer)
                waiting.remove(buffer)
        self.add_results()

    def add_results(self):
        for p in self.procedure.parameters:
            if p.lengths or 'by-pointer' in p.flags:
                continue
            if p.kind in kinds.HANDLES and p.direction == 'out':
                self.add('struct %s *%s = NULL;' % (kinds.HANDLES[p.kind].state, private_name(p)))
            elif p.poly and p.direction != 'in' and kinds.passed(p, self.large):
                if not self.direct(p):
                    start = '*' + p.name if p.direction == 'inout' else '0'
                    self.add('MPI_Count %s = %s;' % (private_name(p), start))

    def direct(self, p):
        """Returns true if the caller's variable has the type that the implementing function
        takes."""
        return kinds.scalar(p.kind, self.large) == 'MPI_Count'

    def argument(self, p):
        """Returns what the implementing function gets for a parameter, as a list."""
        own = private_name(p)
        if p.kind == 'VARARGS':
            return []
        if p.kind == 'POLYFUNCTION':
            return ['NULL', p.name] if self.large else [p.name, 'NULL']
        if not kinds.passed(p, self.large):
            return ['NULL' if p.direction != 'in' or p.lengths else '-1']
        if p.kind in kinds.HANDLES and not p.lengths:
            return [own if p.direction == 'in' else '&' + own]
        if p.poly and p.lengths:
            return ['(struct tern_ints){%s, sizeof *%s}' % (p.name, p.name)]
        if p.poly and p.direction != 'in' and not self.direct(p):
            return ['&' + own]
        return [p.name]

    def gated(self):
        if not self.procedure.works:
            return False
        always = self.procedure.words.get('allowed') == 'always'
        return not always or any(p.kind in kinds.HANDLES and not p.lengths for p in self.procedure.parameters)

    def enter(self):
        """Begins the checked copy: refuses the call if MPI does not run, or if a handle may not be
        read."""
        procedure = self.procedure
        always = procedure.words.get('allowed') == 'always'
        self.add('tern_check_enter("%s", %s);' % (self.name, 'true' if always else 'false'))
        if reaches_others(procedure):
            self.add('tern_check_own_process("%s");' % self.name)
        first = raiser(procedure)
        rest = [p for p in procedure.parameters if p.kind in kinds.HANDLES and not p.lengths and p is not first
                and p.direction != 'out' and not guards(procedure, p)]
        for p in [first] * bool(first) + rest:
            h = kinds.HANDLES[p.kind]
            star = '*' if p.direction == 'inout' or 'by-pointer' in p.flags else ''
            condition = 'tern_check_bad_handle(%s%s)' % (star, p.name)
            if p is first:
                null = '_or_null' if 'null-ok' in p.flags else ''
                condition += ' || !tern_entry_valid%s(%s%s, TERN_MAGIC_%s)' % (null, star, p.name, h.magic)
            if star:
                condition = '%s && (%s)' % (p.name, condition)
            on = self.nowhere if p is first or not first else 'tern_entry_state(%s%s)' % (
                '*' if first.direction == 'inout' else '', first.name)
            if first and p is not first and 'null-ok' in first.flags:
                on = '(%s != %s ? %s : %s)' % (first.name, kinds.HANDLES[first.kind].null, on, self.nowhere)
            self.refuse(p, condition, 'handle(TERN_ERR_%s, "%s", %s%s, "%s")' % (h.error, p.name, star, p.name, h.null),
                        on)

    def compare(self):
        """Adds the checks of check_level full before the call: does this collective call agree with
        the calls of the other ranks, may it use its memory, do its requests belong to one
        session?"""
        comm = collectives.communicator(self.procedure)
        moved = collectives.moves(self.procedure)
        if comm:
            self.add('const struct tern_check_call check_ = {')
            for field in collectives.call(self.procedure):
                self.add('    %s,' % field)
            self.add('};')
            self.add('int found_ = tern_check_collective(%s, &check_);' % private_name(comm))
        elif moved:
            parts = ', '.join(collectives.parts(self.procedure))
            self.add('const struct tern_check_part parts_[TERN_CHECK_PARTS] = {%s};' % parts)
            cure = '; MPI_Sendrecv_replace takes one buffer' if 'sendrecv' in self.name.lower() else ''
            self.add('int found_ = tern_check_buffers(parts_, "%s");' % cure)
        several = [p for p in self.procedure.parameters if p.kind == 'REQUEST' and p.lengths]
        for p in several:
            self.add('int found_ = tern_check_requests(%s, %s);' % (p.lengths[0], p.name))
        if comm or moved or several:
            self.fail('found_')
        if self.received():
            self.add('MPI_Status status_;')
            self.add('if (status == MPI_STATUS_IGNORE)')
            self.add('    status = &status_;')

    def set_null(self, p, perhaps_nowhere, indent=''):
        if perhaps_nowhere:
            self.add('%sif (%s)' % (indent, p.name))
            indent += '    '
        self.add('%s*%s = %s;' % (indent, p.name, kinds.HANDLES[p.kind].null))

    def absent(self):
        """Adds all that a procedure does which this version does not have."""
        parameters = [p for p in self.procedure.parameters if kinds.passed(p, self.large)]
        made = [p for p in parameters if p.kind in kinds.HANDLES and p.direction == 'out' and not p.lengths]
        unused = [p for p in parameters if p not in made]
        if unused:
            self.add(kinds.wrap(', '.join('(void)' + p.name for p in unused) + ';'))
        for p in made:
            self.set_null(p, True)
        self.add('tern_error(TERN_ERR_UNSUPPORTED_OPERATION, "this procedure is not in this version of Tern; "')
        self.add('           "mpi_info --procedures lists those that are");')
        self.add('return tern_raise_on(%s, "%s", TERN_ERR_UNSUPPORTED_OPERATION);' % (self.nowhere, self.name))

    def fail(self, code):
        """Ends a call that is refused after its arguments were found good. Handles that it should
        have made become null handles. After a wrong argument they stay as they were, as in Open
        MPI."""
        made = [p for p in self.procedure.parameters if p.kind in kinds.HANDLES and p.direction == 'out' and not p.lengths]
        self.add('if (TERN_UNLIKELY(%s != 0)) {' % code if made else 'if (TERN_UNLIKELY(%s != 0))' % code)
        for p in made:
            self.set_null(p, 'null-ok' in p.flags, '    ')
        self.add('    return tern_raise_on(%s, "%s", %s);' % (self.on, self.name, code))
        if made:
            self.add('}')

    def received(self):
        """Returns the index among parts_ of the buffer that a blocking receive on a communicator
        fills, as a list; [] for other procedures."""
        if self.procedure.rules != 'pt2pt' or not any(p.name == 'status' for p in self.procedure.parameters) or not handler(self.procedure):
            return []
        return [i for i, d in enumerate(collectives.moves(self.procedure)) if d[0].direction != 'in']

    def note_handles(self):
        """Records the handles that the caller gets, and the memory that requests use."""
        procedure = self.procedure
        made = [p for p in procedure.parameters if p.kind in kinds.HANDLES and p.direction == 'out' and not p.lengths]
        for p in made:
            self.add('tern_check_handle_made(*%s);' % p.name)
        moved = collectives.moves(procedure)
        if moved and made and made[-1].kind == 'REQUEST':
            parts = 'check_.parts' if collectives.communicator(procedure) else 'parts_'
            self.add('tern_check_request_made(%s, %s);' % (private_name(made[-1]), parts))

    def call(self):
        procedure = self.procedure
        arguments = ['true' if self.large else 'false'] * procedure.told_binding
        arguments += ['fault_'] * procedure.told_faults
        arguments += [a for p in procedure.meant for a in self.argument(p)]
        if procedure.form:
            request = procedure.of_kind('REQUEST')
            arguments += [procedure.form, '&' + private_name(request[0]) if request else 'NULL']
        call = '%s(%s)' % (procedure.does, ', '.join(arguments))
        if 'fast' in procedure.words:
            peer = next(p.name for p in procedure.parameters if p.name in ('dest', 'source'))
            values = {p.name: self.argument(p)[0] for p in procedure.parameters}
            fast = re.sub(r'\b\w+\b', lambda m: values.get(m.group(), m.group()), procedure.words['fast'])
            call = 'TERN_UNLIKELY(%s == MPI_PROC_NULL)\n                    ? %s\n                    : %s' % (
                peer, call, fast)
        lock = 'lock' not in procedure.words  # else it needs none, or takes its lane's lock itself
        # such a procedure waits in collectives and messages of its own, in whose place it is named
        named = any(p.kind == 'COMMUNICATOR' and p.direction == 'out' or p.kind in ('FILE', 'WINDOW') for p in procedure.parameters)
        named &= not any(p.name == 'target_rank' for p in procedure.parameters)  # never waits
        if lock:
            self.add('tern_enter();')
        if named:
            self.add('tern_entry_name("%s");' % self.name)
        self.add('int code_ = %s;' % call)
        if named:
            self.add('tern_entry_name(NULL);')
        if lock:
            self.add('tern_leave();')

    def finish(self):
        """Gives the results to the caller."""
        success, always = [], []
        for p in self.procedure.parameters:
            own = private_name(p)
            if p.lengths or not kinds.passed(p, self.large):
                continue
            if self.checked and p.kind in kinds.HANDLES and p.direction == 'inout':
                always.append('if (!%s)' % own)
                always.append('    tern_check_handle_gone(*%s);' % p.name)
            if p.kind in kinds.HANDLES and p.direction != 'in':
                line = '*%s = tern_entry_handle(%s, %s);' % (p.name, own, kinds.HANDLES[p.kind].null)
                (always if p.direction == 'inout' else success).append(line)
                if p.direction == 'out' and p.kind in kinds.LENT:
                    success.append('tern_object_lend(&%s->obj);' % own)
            elif p.poly and p.direction != 'in' and not self.direct(p):
                c_type = kinds.scalar(p.kind, self.large)
                if c_type == 'int' and p.kind in UNDEFINED_IF_LARGE:
                    success.append('*%s = %s > INT_MAX ? MPI_UNDEFINED : (int)%s;' % (p.name, own, own))
                    continue
                if c_type == 'int':
                    success.append('if (%s != (int)%s)' % (own, own))
                    success.append('    return tern_entry_refuse_result(%s, "%s", "%s", %s);'
                                   % (self.on, self.name, p.name, own))
                success.append('*%s = (%s)%s;' % (p.name, c_type, own))
        for line in always:
            self.add(line)
        if self.procedure.told_faults:
            self.add('if (TERN_UNLIKELY(fault_ != 0))')
            self.add('    return tern_raise_on(%s, "%s", code_);' % (self.on, self.name))
        self.fail('code_')
        for line in success:
            self.add(line)
        if self.checked:
            self.note_handles()
            for i in self.received():
                self.add('found_ = tern_check_received(%s, &parts_[%d], status);' % (private_name(handler(self.procedure)), i))
                self.add('if (found_)')
                self.add('    return tern_raise_on(%s, "%s", found_);' % (self.on, self.name))
        self.add('return MPI_SUCCESS;')

    def text(self):
        procedure = self.procedure
        if not procedure.works:
            self.absent()
            return self.function()
        if procedure.plain and procedure.words.get('allowed') != 'always':
            self.add('if (TERN_UNLIKELY(!tern_running()))')
            self.add('    tern_running_refuse("%s");' % self.name)
        if not procedure.plain:
            if procedure.told_faults:
                self.add('int fault_ = 0;')
            if self.checked:
                self.enter()
            elif self.gated():
                arguments = ', '.join(p.name for p in procedure.parameters if kinds.passed(p, self.large))
                self.add('if (tern_gated())')
                self.add('    return checked_%s(%s);' % (self.name, arguments))
            self.prepare()
            if self.checked:
                self.compare()
            self.call()
            self.finish()
        else:
            # The function takes and returns what the binding does.
            call = '%s(%s)' % (procedure.does, ', '.join(p.name for p in procedure.parameters))
            if procedure.chapter == 'tool' and procedure.words.get('lock') != 'none':
                self.add('int code_ = tern_tool_enter();')
                self.add('if (code_ != MPI_SUCCESS)')
                self.add('    return code_;')
                self.add('code_ = %s;' % call)
                self.add('tern_tool_leave();')
                call = 'code_'
            self.add('return %s;' % call)
        return self.function()

    def function(self):
        """Returns the lines as a function under all its names."""
        procedure = self.procedure
        if self.checked:
            head = 'static TERN_CHECKED ' + kinds.prototype(procedure, self.large, name='checked_' + self.name)
            return '\n'.join(['', kinds.wrap(head), '{'] + self.lines + ['}'])
        real = ('P' if procedure.has_profiling else '') + self.name
        head = kinds.wrap('TERN_EXPORT ' + kinds.prototype(procedure, self.large, name=real))
        out = ['', head, '{'] + self.lines + ['}']
        if not procedure.plain and self.gated():
            out.insert(0, Entry(procedure, self.large, checked=True).text())
        if real != self.name:
            head = kinds.wrap('TERN_EXPORT ' + kinds.prototype(procedure, self.large))
            out.append('%s\n    __attribute__((weak, alias("%s")));' % (head, real))
            # for the faces (faces.py): a name that no other library takes
            out.append('extern __typeof__(%s) tern_core_%s __attribute__((alias("%s"), visibility("hidden")));' % (
                real, self.name[4:], real))
        return '\n'.join(out)


def promises(procedure):
    """Returns what an implementing function must know of its arguments, for the comment on its
    prototype."""
    out = ['large: in MPI_Xxx_c.'] if procedure.told_binding else []
    if procedure.told_faults:
        out.append('fault: 0, or the TERN_ERR_* of a wrong argument, with its text recorded; then handles may be NULL, '
                   'and only the first may be read')
    for p in procedure.meant:
        if 'null-ok' in p.flags:
            out.append('%s may be NULL' % p.name)
        elif p.kind in kinds.HANDLES and p.direction == 'in' and not p.lengths and guards(procedure, p):
            out.append('%s is NULL where it is not significant' % p.name)
        if 'large-only' in p.flags:
            out.append('%s is %s in MPI_Xxx without _c' % (p.name, 'NULL' if p.direction != 'in' or p.lengths else '-1'))
        if p.kind == 'POLYFUNCTION':
            out.append('one of %s and %s_c is NULL' % (p.name, p.name))
    return ''.join(' %s.' % text for text in out)


def make(chapter, chapters, procedures):
    out = [INCLUDES % chapters[chapter]]
    for p in procedures:
        if p.chapter == chapter and p.exported:
            out += [Entry(p, large).text() for large in ((False, True) if p.has_twin else (False,))]
    return '\n'.join(out) + '\n'
