# SPDX-License-Identifier: BSD-3-Clause
"""The generated test bad_arguments.c: every working procedure is called once for each reason to refuse an argument, with
that one argument bad and all others good. Nothing is communicated, so it runs on any number of ranks.

Left out, by rule:
- LEFT_OUT, procedures that start or end MPI: no error can be returned there;
- reasons without a bad value (Check.bad is ''): none can be made without reading foreign memory;
- arguments that a check of kind cannot judge. Those that every implementing function has to judge are in JUDGED."""

import kinds
from checks import checks, raiser

LEFT_OUT = {'MPI_Init', 'MPI_Init_thread', 'MPI_Finalize', 'MPI_Abort', 'MPI_Pcontrol'}

# Kind: (bad value, error class, word in the message), refused by implementing functions rather than by the entry point;
# they don't know under which name the caller has the argument.
JUDGED = {'KEYVAL': ('MPI_KEYVAL_INVALID', 'KEYVAL', 'keyval')}

HEAD = '''/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by api/generate.py (bad_arguments.py) from api/procedures.txt; do not edit.
 *
 * Every call below has one bad argument. It must return the right error class through MPI_ERRORS_RETURN, and must call
 * a user's error handler once, with a message that names the procedure and the argument. */
#define OMPI_BUILDING 1 /* removed procedures, too, and no warnings about deprecated ones */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MANY 1024 /* ranks, at most */

static int rank, int_ones[MANY], int_lows[MANY], keyval, type_keyval;
static MPI_Aint aint_ones[MANY], aint_lows[MANY];
static MPI_Count count_ones[MANY], count_lows[MANY];
static long long buffer[MANY];
static char place[65536], long_string[1001];
static MPI_Datatype types[MANY], bad_types[MANY], uncommitted_type;
static MPI_Request request, requests[MANY], bad_requests[MANY];
static MPI_Group group;
static MPI_Info info;
static MPI_Session session;
static MPI_Errhandler errhandler = MPI_ERRORS_RETURN, session_errhandler = MPI_ERRORS_RETURN;
static MPI_Status status;

static void any_function(void)
{
}

/* What the error handler saw. */
static int handler_calls, handler_code;
static char handler_text[1024];

static void note_error(int code, const char *text)
{
    handler_calls++;
    handler_code = code;
    snprintf(handler_text, sizeof handler_text, "%s", text ? text : "");
}

static void handle_error(MPI_Comm *comm, int *code, ...)
{
    va_list more;
    (void)comm;
    va_start(more, code);
    note_error(*code, va_arg(more, const char *));
    va_end(more);
}

static void handle_session_error(MPI_Session *which, int *code, ...)
{
    va_list more;
    (void)which;
    va_start(more, code);
    note_error(*code, va_arg(more, const char *));
    va_end(more);
}
'''

MAIN = '''
static const struct call {
    const char *procedure, *argument, *value;
    int class;
    int (*run)(void);
} calls[] = {
@TABLE@
};

static void prepare(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(long_string, 'x', sizeof long_string - 1);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted_type);
    MPI_Send_init(buffer, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Info_create(&info);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyval, NULL);
    for (int i = 0; i < MANY; i++) {
        int_ones[i] = aint_ones[i] = count_ones[i] = 1;
        int_lows[i] = aint_lows[i] = count_lows[i] = -1;
        types[i] = MPI_INT;
        bad_types[i] = MPI_DATATYPE_NULL;
        requests[i] = MPI_REQUEST_NULL;
        bad_requests[i] = NULL;
    }
}

static int check(const struct call *call)
{
    int class = -1, failures = 0, code;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = call->run();
    MPI_Error_class(code, &class);
    if (class != call->class) {
        fprintf(stderr, "rank %d: %s with %s = %s: got class %d (code %d), expected %d\\n", rank, call->procedure,
                call->argument, call->value, class, code, call->class);
        failures++;
    }

    MPI_Comm_create_errhandler(handle_error, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    MPI_Session_create_errhandler(handle_session_error, &session_errhandler);
    MPI_Session_set_errhandler(session, session_errhandler);
    handler_calls = 0;
    handler_text[0] = 0;
    call->run();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&errhandler);
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&session_errhandler);
    errhandler = session_errhandler = MPI_ERRORS_RETURN;
    MPI_Error_class(handler_code, &class);
    if (handler_calls != 1 || class != call->class) {
        fprintf(stderr, "rank %d: %s with %s = %s: error handler called %d times, class %d, expected once, %d\\n", rank,
                call->procedure, call->argument, call->value, handler_calls, class, call->class);
        failures++;
    }
    if (!strstr(handler_text, call->procedure) || !strstr(handler_text, call->argument)) {
        fprintf(stderr, "rank %d: %s with %s = %s: the message names not both: %s\\n", rank, call->procedure,
                call->argument, call->value, handler_text);
        failures++;
    }
    return failures;
}

int main(int argc, char **argv)
{
    int failures = 0, count = sizeof calls / sizeof *calls;

    MPI_Init(&argc, &argv);
    prepare();
    for (int i = 0; i < count; i++)
        failures += check(&calls[i]);
    MPI_Type_free(&uncommitted_type);
    MPI_Request_free(&request);
    MPI_Group_free(&group);
    MPI_Info_free(&info);
    MPI_Session_finalize(&session);
    MPI_Comm_free_keyval(&keyval);
    MPI_Type_free_keyval(&type_keyval);
    MPI_Finalize();
    if (rank == 0)
        printf("%d bad arguments, %d failures\\n", count, failures);
    return failures != 0;
}
'''

GOOD_HANDLES = {'COMMUNICATOR': 'MPI_COMM_WORLD', 'DATATYPE': 'MPI_INT', 'OPERATION': 'MPI_SUM', 'GROUP': 'group',
                'INFO': 'info', 'ERRHANDLER': 'MPI_ERRORS_RETURN', 'REQUEST': 'request',
                'MESSAGE': 'MPI_MESSAGE_NO_PROC', 'SESSION': 'session'}
PREFIXES = {'int': 'int', 'MPI_Aint': 'aint', 'MPI_Count': 'count'}


def good(procedure, p, large):
    """A good value for an argument, as C."""
    if p.kind in kinds.HANDLES:
        if p.lengths:
            return {'DATATYPE': 'types', 'REQUEST': 'requests'}.get(p.kind, 'NULL')
        if p.direction == 'out':
            return '(void *)place'
        value = GOOD_HANDLES[p.kind]
        if p is raiser(procedure) and p.kind == 'ERRHANDLER':
            value = 'session_errhandler' if procedure.name.startswith('MPI_Session') else 'errhandler'
        if p.direction == 'inout' or 'by-pointer' in p.flags:
            return '&(%s){%s}' % (kinds.HANDLES[p.kind].c, value)
        return value
    if p.kind == 'BUFFER':
        return 'buffer'
    if p.kind == 'STRING' and p.direction == 'in':
        return '"key"'
    if p.kind in ('STATUS', 'F90_STATUS'):
        return '(void *)place' if p.direction == 'out' or p.kind != 'STATUS' else '&status'
    if p.function:
        twin = '_c' if p.kind == 'POLYFUNCTION' and large else ''
        return '(%s%s *)any_function' % (p.function, twin)
    if p.kind.startswith(('EXTRA_STATE', 'ARGUMENT')) and p.direction != 'out':
        return 'NULL' if 'by-value' not in p.flags or p.kind != 'ARGUMENT_COUNT' else '0'
    if p.kind.startswith('ATTRIBUTE_VAL') and p.direction == 'in':
        return 'buffer'
    if p.direction != 'in':
        return '(void *)place'
    if p.lengths:
        return '(void *)%s_ones' % PREFIXES.get(kinds.scalar(p.kind, large), 'int')
    if p.kind == 'KEYVAL':
        return 'type_keyval' if procedure.name.startswith('MPI_Type') else 'keyval'
    if p.kind in ('RANK', 'RANK_NNI'):
        return 'rank' if p.name in ('root', 'rank', 'local_leader') else '0'
    return {'TAG': '0', 'ORDER': 'MPI_ORDER_C', 'COLOR': '0', 'LOGICAL': '0'}.get(p.kind, '1')


def bad_value(p, bad, large):
    if bad == 'low_ints':
        return '(void *)%s_lows' % PREFIXES[kinds.scalar(p.kind, large)]
    return bad


def reasons(procedure):
    """(parameter, bad value, error class, name in the message)"""
    for p in procedure.parameters:
        for c in checks(procedure, p):
            if c.bad:
                yield p, c.bad, c.error, p.name
        if p.kind in JUDGED and p.direction != 'out':
            value, error, word = JUDGED[p.kind]
            yield p, '&(int){%s}' % value if p.direction == 'inout' else value, error, word


def make(chapters, procedures, objects):
    functions, rows = [], []
    for procedure in procedures:
        if not procedure.exported or procedure.plain or procedure.name in LEFT_OUT:
            continue
        for large in (False, True) if procedure.has_twin else (False,):
            name = procedure.name + ('_c' if large else '')
            for p, bad, error, word in reasons(procedure):
                value = bad_value(p, bad, large)
                arguments = [value if q is p else good(procedure, q, large)
                             for q in procedure.parameters if kinds.passed(q, large)]
                number = len(rows)
                functions.append('static int call_%d(void)\n{\n    return %s(%s);\n}\n'
                                 % (number, name, ', '.join(arguments)))
                rows.append('    {"%s", "%s", "%s", MPI_ERR_%s, call_%d},'
                            % (name, word, value.replace('"', '\\"'), error, number))
    return HEAD + '\n' + '\n'.join(functions) + MAIN.replace('@TABLE@', '\n'.join(rows))
