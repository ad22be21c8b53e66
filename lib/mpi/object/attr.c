/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Attributes (MPI-4.1 section 7.7). A keyval is a number. Its description lives until the user has
 * freed the keyval and no object has an attribute of it. The attributes of an object are few. They
 * are kept in the order in which they were set, so that they can be deleted in the reverse order,
 * which MPI_Finalize promises for MPI_COMM_SELF.
 *
 * Callbacks are the user's code: they may set, get and delete attributes, also of the object at
 * hand. So no pointer into a list is kept across a callback.
 */

#include "lib/mpi/object/attr.h"

#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/fortran.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mpi/procedures.h"

struct keyval {
    enum tern_attr_kind kind;
    enum tern_language language; /* of the callbacks */
    bool freed;                  /* by the user; the keyval lives on while attributes use it */
    int uses;                    /* number of attributes that use the keyval */
    union {
        MPI_Comm_copy_attr_function *comm;
        MPI_Type_copy_attr_function *type;
        MPI_Win_copy_attr_function *win;
    } copy;
    union {
        MPI_Comm_delete_attr_function *comm;
        MPI_Type_delete_attr_function *type;
        MPI_Win_delete_attr_function *win;
    } delete;
    void *extra_state;
};

/* Lower numbers are predefined: MPI_TAG_UB to MPI_WIN_MODEL, the IMPI ones, and room for later
 * ones. */
enum { FIRST_KEYVAL = 32 };

static struct keyval **keyvals; /* by number - FIRST_KEYVAL; NULL if the number is free */
static int keyval_count;

/*
 * An attribute of an object. A value that was set in Fortran is an integer: an MPI_Aint, or an
 * MPI_Fint if MPI-1's procedures set it. Such a value lies in memory of its own, and C programs get
 * the address of that memory (MPI-4.1 section 19.3.7). Fortran programs get a C program's pointer
 * as an integer.
 */
struct attr {
    int keyval;
    enum tern_language language; /* the language that set the value */
    void *value;
};

struct tern_attrs {
    int count, room;
    struct attr *list; /* in the order in which they were set */
};

static const char *const kind_names[TERN_ATTR_KINDS] = {"communicators", "datatypes", "windows"};

/* ---- keyvals ---- */

static struct keyval *keyval_of(int number)
{
    int i = number - FIRST_KEYVAL;
    return i >= 0 && i < keyval_count ? keyvals[i] : NULL;
}

static void drop_keyval_if_unused(int number)
{
    struct keyval *keyval = keyval_of(number);
    if (!keyval->freed || keyval->uses > 0)
        return;
    keyvals[number - FIRST_KEYVAL] = NULL;
    free(keyval);
}

static int create_keyval(const struct keyval *prototype, int *ret_number)
{
    int i = 0;

    while (i < keyval_count && keyvals[i])
        i++;
    struct keyval *keyval = malloc(sizeof *keyval);
    struct keyval **more =
        i < keyval_count ? keyvals : realloc(keyvals, (keyval_count + 1) * sizeof *keyvals);
    if (more)
        keyvals = more;
    if (!keyval || !more) {
        free(keyval);
        return tern_error(TERN_ERR_NO_MEM, "no memory for a keyval");
    }
    if (i == keyval_count)
        keyval_count++;
    *keyval = *prototype;
    keyval->language = tern_fortran_caller();
    keyvals[i] = keyval;
    *ret_number = FIRST_KEYVAL + i;
    return 0;
}

/* Checks that the user may use this keyval for this kind of object. */
static int check_keyval(enum tern_attr_kind kind, int number)
{
    const struct keyval *keyval = keyval_of(number);

    if (number >= 0 && number < FIRST_KEYVAL)
        return tern_error(TERN_ERR_KEYVAL,
                          "keyval is %d, which is predefined; its value cannot be changed", number);
    if (!keyval)
        return tern_error(TERN_ERR_KEYVAL,
                          "keyval is %d; expected one that a create_keyval call returned", number);
    if (keyval->kind != kind)
        return tern_error(TERN_ERR_KEYVAL, "keyval %d was made for %s, not for %s", number,
                          kind_names[keyval->kind], kind_names[kind]);
    return 0;
}

static int free_keyval(enum tern_attr_kind kind, int *number)
{
    int error = check_keyval(kind, *number);
    if (error)
        return error;
    if (keyval_of(*number)->freed)
        return tern_error(TERN_ERR_KEYVAL, "keyval %d was freed already", *number);
    keyval_of(*number)->freed = true;
    drop_keyval_if_unused(*number);
    *number = MPI_KEYVAL_INVALID;
    return 0;
}

/* ---- one object's list ---- */

static int find(const struct tern_attrs *attrs, int number)
{
    for (int i = 0; attrs && i < attrs->count; i++)
        if (attrs->list[i].keyval == number)
            return i;
    return -1;
}

/* Returns the value as a Fortran program sees it. */
static MPI_Aint as_integer(const struct attr *attr)
{
    switch (attr->language) {
    case TERN_LANGUAGE_FORTRAN: return *(MPI_Aint *)attr->value;
    case TERN_LANGUAGE_FORTRAN_77: return *(MPI_Fint *)attr->value;
    default: return (MPI_Aint)attr->value;
    }
}

/* Stores an integer in memory of its own. */
static int store_integer(struct attr *attr, MPI_Aint value)
{
    attr->value = malloc(sizeof(MPI_Aint));
    if (!attr->value)
        return tern_error(TERN_ERR_NO_MEM, "no memory for an attribute");
    if (attr->language == TERN_LANGUAGE_FORTRAN)
        *(MPI_Aint *)attr->value = value;
    else
        *(MPI_Fint *)attr->value = (MPI_Fint)value;
    return 0;
}

/* Appends an attribute. `attr->value` is the pointer of a C program, or the integer of a Fortran
 * program. */
static int append(struct tern_attrs **attrs, struct attr attr)
{
    if (!*attrs && !(*attrs = calloc(1, sizeof **attrs)))
        return tern_error(TERN_ERR_NO_MEM, "no memory for an attribute");
    struct tern_attrs *list = *attrs;
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 4;
        struct attr *more = realloc(list->list, room * sizeof *more);
        if (!more)
            return tern_error(TERN_ERR_NO_MEM, "no memory for an attribute");
        list->list = more;
        list->room = room;
    }
    int error = attr.language == TERN_LANGUAGE_C ? 0 : store_integer(&attr, (MPI_Aint)attr.value);
    if (error)
        return error;
    list->list[list->count++] = attr;
    keyval_of(attr.keyval)->uses++;
    return 0;
}

static void remove_at(struct tern_attrs *attrs, int i)
{
    int number = attrs->list[i].keyval;
    if (attrs->list[i].language != TERN_LANGUAGE_C)
        free(attrs->list[i].value);
    memmove(&attrs->list[i], &attrs->list[i + 1], (attrs->count - i - 1) * sizeof *attrs->list);
    attrs->count--;
    keyval_of(number)->uses--;
    drop_keyval_if_unused(number);
}

/* Returns the error of a callback. */
static int callback_result(const struct keyval *keyval, const char *callback, int number, int code)
{
    static const char *const kinds[] = {
        [TERN_ATTR_COMM] = "MPI_Comm_create_keyval",
        [TERN_ATTR_TYPE] = "MPI_Type_create_keyval",
        [TERN_ATTR_WIN] = "MPI_Win_create_keyval",
    };
    return tern_error_of_callback(code, "the %s callback of keyval %d (%s)", callback, number,
                                  kinds[keyval->kind]);
}

/* The callbacks of a Fortran program, and those of MPI-1's MPI_KEYVAL_CREATE. */
typedef void fortran_delete(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value,
                            MPI_Aint *extra_state, MPI_Fint *ierror);
typedef void fortran_77_delete(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *value,
                               MPI_Fint *extra_state, MPI_Fint *ierror);
typedef void fortran_copy(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra_state,
                          MPI_Aint *value, MPI_Aint *ret_value, MPI_Fint *flag, MPI_Fint *ierror);
typedef void fortran_77_copy(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *extra_state,
                             MPI_Fint *value, MPI_Fint *ret_value, MPI_Fint *flag,
                             MPI_Fint *ierror);

static int call_fortran_delete(const struct keyval *keyval, struct tern_object *object,
                               const struct attr *attr)
{
    MPI_Fint index = tern_fortran_index(object->handle), number = attr->keyval, ierror = 0;
    MPI_Aint value = as_integer(attr), state = (MPI_Aint)keyval->extra_state;
    MPI_Fint short_value = (MPI_Fint)value, short_state = (MPI_Fint)state;
    void (*function)(void) = (void (*)(void))keyval->delete.comm;

    if (keyval->language == TERN_LANGUAGE_FORTRAN)
        ((fortran_delete *)function)(&index, &number, &value, &state, &ierror);
    else
        ((fortran_77_delete *)function)(&index, &number, &short_value, &short_state, &ierror);
    return callback_result(keyval, "delete", number, ierror);
}

/* Calls a Fortran copy callback. A value that the callback does not change stays what it is, also a
 * C program's pointer. */
static int call_fortran_copy(const struct keyval *keyval, struct tern_object *from,
                             const struct attr *attr, struct attr *ret_copy, int *ret_flag)
{
    MPI_Fint index = tern_fortran_index(from->handle), number = attr->keyval, ierror = 0;
    MPI_Aint value = as_integer(attr), copy = value, state = (MPI_Aint)keyval->extra_state;
    MPI_Fint short_value = (MPI_Fint)value, short_copy = short_value, short_state = (MPI_Fint)state;
    void (*function)(void) = (void (*)(void))keyval->copy.comm;

    *ret_copy = *attr;
    if (keyval->language == TERN_LANGUAGE_FORTRAN)
        ((fortran_copy *)function)(&index, &number, &state, &value, &copy, ret_flag, &ierror);
    else
        ((fortran_77_copy *)function)(&index, &number, &short_state, &short_value, &short_copy,
                                      ret_flag, &ierror);
    if (short_copy != short_value)
        copy = short_copy;
    if (copy != value)
        ret_copy->language = keyval->language;
    ret_copy->value = (void *)copy;
    return callback_result(keyval, "copy", number, ierror);
}

static int call_delete(const struct keyval *keyval, struct tern_object *object,
                       const struct attr *attr)
{
    int code = 0, number = attr->keyval;
    void *value = attr->value;

    if (keyval->language != TERN_LANGUAGE_C)
        return call_fortran_delete(keyval, object, attr);

    switch (keyval->kind) {
    case TERN_ATTR_COMM:
        code = keyval->delete.comm ? keyval->delete.comm((MPI_Comm)object->handle, number, value,
                                                         keyval->extra_state)
                                   : 0;
        break;
    case TERN_ATTR_TYPE:
        code = keyval->delete.type ? keyval->delete.type((MPI_Datatype)object->handle, number,
                                                         value, keyval->extra_state)
                                   : 0;
        break;
    case TERN_ATTR_WIN:
        code = keyval->delete.win
                   ? keyval->delete.win((MPI_Win)object->handle, number, value, keyval->extra_state)
                   : 0;
        break;
    case TERN_ATTR_KINDS:
        break;
    }
    return callback_result(keyval, "delete", number, code);
}

static int call_copy(const struct keyval *keyval, struct tern_object *from, const struct attr *attr,
                     struct attr *ret_copy, int *ret_flag)
{
    void *state = keyval->extra_state, *value = attr->value, *copy = NULL, **ret_value = &copy;
    int code = 0, number = attr->keyval;

    *ret_flag = 0;
    if (keyval->language != TERN_LANGUAGE_C)
        return call_fortran_copy(keyval, from, attr, ret_copy, ret_flag);
    switch (keyval->kind) {
    case TERN_ATTR_COMM:
        if (keyval->copy.comm)
            code = keyval->copy.comm((MPI_Comm)from->handle, number, state, value, ret_value,
                                     ret_flag);
        break;
    case TERN_ATTR_TYPE:
        if (keyval->copy.type)
            code = keyval->copy.type((MPI_Datatype)from->handle, number, state, value, ret_value,
                                     ret_flag);
        break;
    case TERN_ATTR_WIN:
        if (keyval->copy.win)
            code =
                keyval->copy.win((MPI_Win)from->handle, number, state, value, ret_value, ret_flag);
        break;
    case TERN_ATTR_KINDS:
        break;
    }
    *ret_copy = (struct attr){number, TERN_LANGUAGE_C, copy};
    /* The callback returned the address of an integer that this file stores. */
    if (attr->language != TERN_LANGUAGE_C && copy == value) {
        ret_copy->language = attr->language;
        ret_copy->value = (void *)as_integer(attr);
    }
    return callback_result(keyval, "copy", number, code);
}

int tern_attrs_set(enum tern_attr_kind kind, struct tern_object *object, struct tern_attrs **attrs,
                   int keyval, void *value)
{
    enum tern_language language = tern_fortran_caller();
    int error = check_keyval(kind, keyval);
    if (error)
        return error;
    if (keyval_of(keyval)->freed && find(*attrs, keyval) < 0)
        return tern_error(TERN_ERR_KEYVAL, "keyval %d was freed", keyval);
    keyval_of(keyval)->uses++; /* a callback may free the keyval */
    int i = find(*attrs, keyval);
    if (i >= 0) {
        struct attr old = (*attrs)->list[i];
        error = call_delete(keyval_of(keyval), object, &old);
        i = find(*attrs, keyval);
        if (!error && i >= 0)
            remove_at(*attrs, i);
    }
    if (!error)
        error = append(attrs, (struct attr){keyval, language, value});
    keyval_of(keyval)->uses--;
    drop_keyval_if_unused(keyval);
    return error;
}

int tern_attrs_get(enum tern_attr_kind kind, struct tern_attrs *attrs, int keyval, void **ret_value,
                   bool *ret_found)
{
    bool fortran = tern_fortran_caller() != TERN_LANGUAGE_C;
    int error = check_keyval(kind, keyval);
    if (error)
        return error;
    int i = find(attrs, keyval);
    *ret_found = i >= 0;
    if (i >= 0)
        *ret_value = fortran ? (void *)as_integer(&attrs->list[i]) : attrs->list[i].value;
    return 0;
}

/* Calls the delete callback of the attribute, and removes the attribute if the callback
 * succeeds. */
static int delete_one(struct tern_object *object, struct tern_attrs **attrs, int number)
{
    struct keyval *keyval = keyval_of(number);
    int i = find(*attrs, number);

    keyval->uses++; /* keep it through the callback */
    struct attr attr = (*attrs)->list[i];
    int error = call_delete(keyval, object, &attr);
    i = find(*attrs, number); /* the callback may have changed the list */
    if (!error && i >= 0)
        remove_at(*attrs, i);
    keyval->uses--;
    drop_keyval_if_unused(number);
    return error;
}

int tern_attrs_delete(enum tern_attr_kind kind, struct tern_object *object,
                      struct tern_attrs **attrs, int keyval)
{
    int error = check_keyval(kind, keyval);
    if (error)
        return error;
    if (find(*attrs, keyval) < 0)
        return tern_error(TERN_ERR_KEYVAL, "keyval %d has no attribute on this object, so there is "
                                           "nothing to delete",
                          keyval);
    return delete_one(object, attrs, keyval);
}

int tern_attrs_delete_all(enum tern_attr_kind kind, struct tern_object *object,
                          struct tern_attrs **attrs)
{
    (void)kind;
    while (*attrs && (*attrs)->count > 0) {
        int error = delete_one(object, attrs, (*attrs)->list[(*attrs)->count - 1].keyval);
        if (error)
            return error;
    }
    if (*attrs) {
        free((*attrs)->list);
        free(*attrs);
        *attrs = NULL;
    }
    return 0;
}

int tern_attrs_copy(enum tern_attr_kind kind, struct tern_object *from,
                    struct tern_attrs *from_attrs, struct tern_attrs **ret_attrs)
{
    (void)kind;
    for (int i = 0; from_attrs && i < from_attrs->count; i++) {
        struct attr attr = from_attrs->list[i], copy;
        int flag = 0;
        struct keyval *keyval = keyval_of(attr.keyval);
        keyval->uses++; /* the callback may delete the original, and with it the keyval */
        int error = call_copy(keyval, from, &attr, &copy, &flag);
        if (!error && flag)
            error = append(ret_attrs, copy);
        keyval->uses--;
        drop_keyval_if_unused(attr.keyval);
        if (error)
            return error;
    }
    return 0;
}

/* ---- procedures for keyvals ---- */

int tern_mpi_comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                                MPI_Comm_delete_attr_function *delete, int *ret_keyval,
                                void *extra_state)
{
    struct keyval keyval = {.kind = TERN_ATTR_COMM,
                            .copy.comm = copy,
                            .delete.comm = delete,
                            .extra_state = extra_state};
    return create_keyval(&keyval, ret_keyval);
}

int tern_mpi_comm_free_keyval(int *keyval)
{
    return free_keyval(TERN_ATTR_COMM, keyval);
}

int tern_mpi_type_create_keyval(MPI_Type_copy_attr_function *copy,
                                MPI_Type_delete_attr_function *delete, int *ret_keyval,
                                void *extra_state)
{
    struct keyval keyval = {.kind = TERN_ATTR_TYPE,
                            .copy.type = copy,
                            .delete.type = delete,
                            .extra_state = extra_state};
    return create_keyval(&keyval, ret_keyval);
}

int tern_mpi_type_free_keyval(int *keyval)
{
    return free_keyval(TERN_ATTR_TYPE, keyval);
}

int tern_mpi_win_create_keyval(MPI_Win_copy_attr_function *copy,
                               MPI_Win_delete_attr_function *delete, int *ret_keyval,
                               void *extra_state)
{
    struct keyval keyval = {.kind = TERN_ATTR_WIN,
                            .copy.win = copy,
                            .delete.win = delete,
                            .extra_state = extra_state};
    return create_keyval(&keyval, ret_keyval);
}

int tern_mpi_win_free_keyval(int *keyval)
{
    return free_keyval(TERN_ATTR_WIN, keyval);
}
