/* SPDX-License-Identifier: BSD-3-Clause */

/* Error classes, codes and their texts (MPI-4.1 sections 9.4 and 9.5). A predefined code is its own
 * class. */

#include "lib/mpi/object/errhandler.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mpi/procedures.h"

/* The classes by number, because mpi.h does not name all of them. */
static const struct {
    const char *name, *text;
} classes[MPI_ERR_LASTCODE + 1] = {
#include "error_classes.inc"
};

#define SAME_CLASS(name, class, text) \
    _Static_assert((class) == MPI_ERR_##name, "MPI_ERR_" #name " has another number in error.h");
TERN_ERRORS_OF_MPI(SAME_CLASS)

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

int tern_error_of_callback(int code, const char *format, ...)
{
    char who[200];
    va_list args;
    if (code == MPI_SUCCESS)
        return 0;
    va_start(args, format);
    vsnprintf(who, sizeof who, format, args);
    va_end(args);
    if (code > 0)
        return tern_error(code, "%s returned %d", who, code);
    return tern_error(TERN_ERR_OTHER,
                      "%s returned %d; expected MPI_SUCCESS or an error code, which is positive",
                      who, code);
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
    if (class->text)
        return tern_error(TERN_ERR_ARG,
                          "errorclass %d still has a text; call MPI_Remove_error_string first",
                          errorclass);
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
