# SPDX-License-Identifier: BSD-3-Clause
"""Makes the functions that implement the collectives: one for all forms of each. Each checks
MPI_IN_PLACE, finds the reduction, fills in a call and runs it (lib/mpi/message/collectives.h)."""

import kinds
from checks import guards, rooted

HEAD = '''/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by api/generate.py from api/procedures.txt; do not edit. */
#include "lib/mpi/message/collectives.h"

#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/op.h"'''

INTRA = ('scan', 'exscan')  # not defined on an intercommunicator


def body(p):
    name, types, ops = p.operation, p.of_kind('DATATYPE'), p.of_kind('OPERATION')
    in_place = next((q.name for q in p.parameters if 'in-place' in q.flags), None)
    allowed = 'root == comm->coll.rank' if any(q.name == 'root' for q in p.parameters) else 'true'
    maybe_null = [q for q in types + ops if guards(p, q)]

    def argument(q):
        if q in types:
            return ('tern_mpi_coll_type(%s)' if q in maybe_null else '&%s->type') % q.name
        if ops and q.name == in_place:
            return 'tern_mpi_coll_input(comm, %s, recvbuf, %s)' % (in_place, allowed)
        return {'OPERATION': '&reduction', 'RANK': 'tern_mpi_coll_root(comm, root)'}.get(q.kind, q.name)

    checks = ['tern_mpi_coll_check_intra(comm)'] * (name in INTRA)
    if in_place:
        checks.append('tern_mpi_coll_check_in_place(comm, %s, "%s", %s)' % (
            in_place, in_place, 'tern_mpi_coll_may_be_in_place(comm, root)' if rooted(p) else '!tern_comm_inter(comm)'))
    if ops:
        checks.append('tern_op_reduction(op, datatype, &reduction)')
    out = ['', kinds.private_prototype(p), '{', '    struct tern_call call;']
    if ops:
        out.append('    struct tern_reduction reduction%s;' % (' = {.commutative = true}' * (ops[0] in maybe_null)))
    for check in checks:
        condition = '!rc && op' if 'reduction' in check and ops[0] in maybe_null else '!rc'
        out += ['    int rc = %s;' % check] if check is checks[0] else ['    if (%s)' % condition, '        rc = %s;' % check]
    out += ['    if (rc)', '        return rc;'] * bool(checks)
    arguments = ['&call', '&comm->coll'] + [argument(q) for q in p.meant if q.kind != 'COMMUNICATOR']
    held = ([q.name for q in types] + ['NULL', 'NULL'])[:2] + ['op' if ops else 'NULL']
    out += ['    tern_call_%s(%s);' % (name, ', '.join(arguments)),
            '    return tern_mpi_coll_proceed(&call, comm, %s, form, ret_request);' % ', '.join(held), '}']
    return '\n'.join(kinds.wrap(line, 96).replace('\n', '\n    ') for line in out)


def make(chapters, procedures, objects):
    made = [p for p in procedures if p.chapter == 'coll' and p.form == 'TERN_BLOCKING'
            # a type for each block: written by hand
            and not any(q.lengths for q in p.of_kind('DATATYPE'))]
    return '\n'.join([HEAD] + [body(p) for p in made]) + '\n'
