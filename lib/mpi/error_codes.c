/* SPDX-License-Identifier: BSD-3-Clause */

/* Error classes, codes and their texts (MPI-4.1 sections 9.4 and 9.5). A predefined code is its own
 * class. */

#include "lib/mpi/errhandler.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mpi/procedures.h"

/* The classes by number, because mpi.h does not name all of them. */
static const struct {
    const char *name, *text;
} classes[MPI_ERR_LASTCODE + 1] = {
    [0] = {"MPI_SUCCESS", "no error"},
    [1] = {"MPI_ERR_BUFFER", "invalid buffer pointer"},
    [2] = {"MPI_ERR_COUNT", "invalid count argument"},
    [3] = {"MPI_ERR_TYPE", "invalid datatype"},
    [4] = {"MPI_ERR_TAG", "invalid tag"},
    [5] = {"MPI_ERR_COMM", "invalid communicator"},
    [6] = {"MPI_ERR_RANK", "invalid rank"},
    [7] = {"MPI_ERR_REQUEST", "invalid request"},
    [8] = {"MPI_ERR_ROOT", "invalid root"},
    [9] = {"MPI_ERR_GROUP", "invalid group"},
    [10] = {"MPI_ERR_OP", "invalid reduction operation"},
    [11] = {"MPI_ERR_TOPOLOGY", "invalid communicator topology"},
    [12] = {"MPI_ERR_DIMS", "invalid topology dimension"},
    [13] = {"MPI_ERR_ARG", "invalid argument of some other kind"},
    [14] = {"MPI_ERR_UNKNOWN", "unknown error"},
    [15] = {"MPI_ERR_TRUNCATE", "message truncated"},
    [16] = {"MPI_ERR_OTHER", "known error not in list"},
    [17] = {"MPI_ERR_INTERN", "internal error"},
    [18] = {"MPI_ERR_IN_STATUS", "error code in status"},
    [19] = {"MPI_ERR_PENDING", "pending request"},
    [20] = {"MPI_ERR_ACCESS", "invalid access mode"},
    [21] = {"MPI_ERR_AMODE", "invalid amode argument"},
    [22] = {"MPI_ERR_ASSERT", "invalid assert argument"},
    [23] = {"MPI_ERR_BAD_FILE", "bad file"},
    [24] = {"MPI_ERR_BASE", "invalid base"},
    [25] = {"MPI_ERR_CONVERSION", "error in data conversion"},
    [26] = {"MPI_ERR_DISP", "invalid displacement"},
    [27] = {"MPI_ERR_DUP_DATAREP", "error duplicating data representation"},
    [28] = {"MPI_ERR_FILE_EXISTS", "file exists already"},
    [29] = {"MPI_ERR_FILE_IN_USE", "file already in use"},
    [30] = {"MPI_ERR_FILE", "invalid file"},
    [31] = {"MPI_ERR_INFO_KEY", "invalid key argument for info object"},
    [32] = {"MPI_ERR_INFO_NOKEY", "unknown key for given info object"},
    [33] = {"MPI_ERR_INFO_VALUE", "invalid value argument for info object"},
    [34] = {"MPI_ERR_INFO", "invalid info object"},
    [35] = {"MPI_ERR_IO", "input/output error"},
    [36] = {"MPI_ERR_KEYVAL", "invalid key value"},
    [37] = {"MPI_ERR_LOCKTYPE", "invalid lock"},
    [38] = {"MPI_ERR_NAME", "invalid name argument"},
    [39] = {"MPI_ERR_NO_MEM", "out of memory"},
    [40] = {"MPI_ERR_NOT_SAME", "arguments are not identical on all processes"},
    [41] = {"MPI_ERR_NO_SPACE", "no space left on device"},
    [42] = {"MPI_ERR_NO_SUCH_FILE", "no such file or directory"},
    [43] = {"MPI_ERR_PORT", "invalid port"},
    [44] = {"MPI_ERR_QUOTA", "out of quota"},
    [45] = {"MPI_ERR_READ_ONLY", "file is read only"},
    [46] = {"MPI_ERR_RMA_CONFLICT", "conflicting accesses to window"},
    [47] = {"MPI_ERR_RMA_SYNC", "wrong synchronisation of one-sided calls"},
    [48] = {"MPI_ERR_SERVICE", "invalid service name"},
    [49] = {"MPI_ERR_SIZE", "invalid size"},
    [50] = {"MPI_ERR_SPAWN", "could not start processes"},
    [51] = {"MPI_ERR_UNSUPPORTED_DATAREP", "data representation not supported"},
    [52] = {"MPI_ERR_UNSUPPORTED_OPERATION", "operation not supported"},
    [53] = {"MPI_ERR_WIN", "invalid window"},
    [54] = {"MPI_T_ERR_MEMORY", "out of memory"},
    [55] = {"MPI_T_ERR_NOT_INITIALIZED", "tool interface not initialised"},
    [56] = {"MPI_T_ERR_CANNOT_INIT", "tool interface cannot be initialised"},
    [57] = {"MPI_T_ERR_INVALID_INDEX", "invalid index or identifier"},
    [58] = {"MPI_T_ERR_INVALID_ITEM", "item index out of range"},
    [59] = {"MPI_T_ERR_INVALID_HANDLE", "invalid handle of the tool interface"},
    [60] = {"MPI_T_ERR_OUT_OF_HANDLES", "no more handles of the tool interface"},
    [61] = {"MPI_T_ERR_OUT_OF_SESSIONS", "no more sessions of the tool interface"},
    [62] = {"MPI_T_ERR_INVALID_SESSION", "invalid session of the tool interface"},
    [63] = {"MPI_T_ERR_CVAR_SET_NOT_NOW", "control variable cannot be set now"},
    [64] = {"MPI_T_ERR_CVAR_SET_NEVER", "control variable cannot be set until the program ends"},
    [65] = {"MPI_T_ERR_PVAR_NO_STARTSTOP", "performance variable cannot be started or stopped"},
    [66] = {"MPI_T_ERR_PVAR_NO_WRITE", "performance variable cannot be written"},
    [67] = {"MPI_T_ERR_PVAR_NO_ATOMIC", "performance variable cannot be read and written at once"},
    [68] = {"MPI_ERR_RMA_RANGE", "target memory is not part of the window"},
    [69] = {"MPI_ERR_RMA_ATTACH", "memory cannot be attached"},
    [70] = {"MPI_ERR_RMA_FLAVOR", "wrong flavour of window"},
    [71] = {"MPI_ERR_RMA_SHARED", "memory cannot be shared"},
    [72] = {"MPI_T_ERR_INVALID", "invalid use of the tool interface"},
    [73] = {"MPI_T_ERR_INVALID_NAME", "no variable of this name"},
    [74] = {"MPI_ERR_PROC_ABORTED", "peer process has aborted"},
    [75] = {"MPI_ERR_PROC_FAILED", "peer process has failed"},
    [76] = {"MPI_ERR_PROC_FAILED_PENDING", "request pending because of a failed peer process"},
    [77] = {"MPI_ERR_REVOKED", "communicator was revoked"},
    [78] = {"MPI_ERR_SESSION", "invalid session"},
    [79] = {"MPI_ERR_VALUE_TOO_LARGE", "value does not fit into the argument"},
    [80] = {"MPI_ERR_ERRHANDLER", "invalid error handler"},
    [81] = {"MPI_T_ERR_NOT_ACCESSIBLE", "tool interface not accessible"},
    [82] = {"MPI_T_ERR_NOT_SUPPORTED", "not supported by the tool interface"},
    [83] = {"MPI_ERR_ABI", "wrong use of the binary interface"},
};

/* Codes added by the program, from MPI_ERR_LASTCODE + 1 on. A number that was removed is used
 * again. */
struct added_code {
    /* class of the code; a code that is its own class is a class; 0: not in use */
    int class;
    char *text; /* NULL if it has no text */
};
static struct added_code *added;
int tern_error_last_used = MPI_ERR_LASTCODE;

static struct added_code *added_of(int code)
{
    if (code <= MPI_ERR_LASTCODE || code > tern_error_last_used)
        return NULL;
    struct added_code *found = &added[code - MPI_ERR_LASTCODE - 1];
    return found->class ? found : NULL;
}

const char *tern_error_class_name(int class)
{
    bool known = class >= 0 && class <= MPI_ERR_LASTCODE && classes[class].name;
    return known ? classes[class].name : "";
}

static bool known_code(int code)
{
    return (code >= 0 && code <= MPI_ERR_LASTCODE && classes[code].name) || added_of(code);
}

static int no_such_code(const char *argument, int code)
{
    return tern_error(TERN_ERR_ARG,
                      "%s is %d; expected a predefined one or one that was added (up to %d)",
                      argument, code, tern_error_last_used);
}

int tern_mpi_error_class(int errorcode, int *errorclass)
{
    if (!known_code(errorcode))
        return no_such_code("errorcode", errorcode);
    const struct added_code *code = added_of(errorcode);
    *errorclass = code ? code->class : errorcode;
    return 0;
}

/* The last error in this thread (tern_error_keep_text). */
static __thread struct {
    int class; /* 0: there was none */
    char text[MPI_MAX_ERROR_STRING - 40]; /* leaves room for the name of the class */
} kept;

void tern_error_keep_text(int class, const char *text)
{
    kept.class = class;
    snprintf(kept.text, sizeof kept.text, "%s", text);
}

int tern_mpi_error_string(int errorcode, char *string, int *resultlen)
{
    const struct added_code *code = added_of(errorcode);

    if (!known_code(errorcode))
        return no_such_code("errorcode", errorcode);
    if (code)
        snprintf(string, MPI_MAX_ERROR_STRING, "%s", code->text ? code->text : "");
    else
        snprintf(string, MPI_MAX_ERROR_STRING, "%s: %s", classes[errorcode].name,
                 errorcode > 0 && errorcode == kept.class ? kept.text : classes[errorcode].text);
    *resultlen = (int)strlen(string);
    return 0;
}

/* Adds a code of `class`. If `class` is 0, the code is a class of its own. */
static int add_code(int class, int *ret_code)
{
    int count = tern_error_last_used - MPI_ERR_LASTCODE, place = 0;
    while (place < count && added[place].class)
        place++;
    if (place == count) {
        struct added_code *more = realloc(added, (count + 1) * sizeof *added);
        if (!more)
            return tern_error(TERN_ERR_NO_MEM, "no memory for one more error code");
        added = more;
        tern_error_last_used++;
    }
    int code = MPI_ERR_LASTCODE + 1 + place;
    added[place] = (struct added_code){.class = class ? class : code};
    *ret_code = code;
    return 0;
}

static void remove_code(struct added_code *code)
{
    free(code->text);
    *code = (struct added_code){0};
    while (tern_error_last_used > MPI_ERR_LASTCODE &&
           !added[tern_error_last_used - MPI_ERR_LASTCODE - 1].class)
        tern_error_last_used--;
}

int tern_mpi_add_error_class(int *errorclass)
{
    return add_code(0, errorclass);
}

int tern_mpi_add_error_code(int errorclass, int *errorcode)
{
    const struct added_code *class = added_of(errorclass);

    if (!known_code(errorclass) || (class && class->class != errorclass))
        return no_such_code("errorclass", errorclass);
    return add_code(errorclass, errorcode);
}

int tern_mpi_add_error_string(int errorcode, const char *string)
{
    struct added_code *code = added_of(errorcode);

    if (!code)
        return tern_error(
            TERN_ERR_ARG,
            "errorcode is %d; only the text of an added code or class can be set", errorcode);
    if (strlen(string) >= MPI_MAX_ERROR_STRING)
        return tern_error(TERN_ERR_ARG, "string has %zu characters; at most %d fit", strlen(string),
                          MPI_MAX_ERROR_STRING - 1);
    char *copy = strdup(string);
    if (!copy)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the text of an error code");
    free(code->text);
    code->text = copy;
    return 0;
}

int tern_mpi_remove_error_class(int errorclass)
{
    struct added_code *class = added_of(errorclass);

    if (!class || class->class != errorclass)
        return tern_error(TERN_ERR_ARG,
                          "errorclass is %d; expected one that MPI_Add_error_class returned",
                          errorclass);
    for (int code = MPI_ERR_LASTCODE + 1; code <= tern_error_last_used; code++)
        if (code != errorclass && added_of(code) && added_of(code)->class == errorclass)
            return tern_error(
                TERN_ERR_ARG,
                "errorclass %d still has the code %d; call MPI_Remove_error_code first", errorclass,
                code);
    remove_code(class);
    return 0;
}

int tern_mpi_remove_error_code(int errorcode)
{
    struct added_code *code = added_of(errorcode);

    if (!code || code->class == errorcode)
        return tern_error(TERN_ERR_ARG,
                          "errorcode is %d; expected one that MPI_Add_error_code "
                          "returned", errorcode);
    if (code->text)
        return tern_error(TERN_ERR_ARG,
                          "errorcode %d still has a text; call MPI_Remove_error_string first",
                          errorcode);
    remove_code(code);
    return 0;
}

int tern_mpi_remove_error_string(int errorcode)
{
    struct added_code *code = added_of(errorcode);

    if (!code || !code->text)
        return tern_error(TERN_ERR_ARG,
                          "errorcode is %d; expected one that has a text from MPI_Add_error_string",
                          errorcode);
    free(code->text);
    code->text = NULL;
    return 0;
}
