/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_HANDLE_H
#define TERN_HANDLE_H

/*
 * What an MPI handle points to, and what every private object begins with.
 *
 * An MPI_Comm (MPI_Datatype, ...) is the address of a struct tern_handle. Predefined handles are
 * exported objects (ompi_mpi_comm_world, ...) padded to the size Open MPI gives them, because
 * programs COPY-relocate them: the program's copy is the object, so no state lives in it and the
 * library reaches it only through the GOT. Handles made at run time are embedded in their private
 * object (tern_object.own).
 */

#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

/* Kinds of objects, as numbers that random memory hardly contains. */
enum tern_magic {
    TERN_MAGIC_FREED = 0,
    TERN_MAGIC_COMM = 0x7e2a0001,
    TERN_MAGIC_GROUP,
    TERN_MAGIC_DATATYPE,
    TERN_MAGIC_OP,
    TERN_MAGIC_REQUEST,
    TERN_MAGIC_ERRHANDLER,
    TERN_MAGIC_INFO,
    TERN_MAGIC_MESSAGE,
    TERN_MAGIC_WIN,
    TERN_MAGIC_FILE,
    TERN_MAGIC_SESSION,
};

/* What an MPI handle points to. */
struct tern_handle {
    uint32_t magic;  /* TERN_MAGIC_*: kind of object; TERN_MAGIC_FREED after the object was freed */
    int32_t fortran; /* index in the Fortran table; -1: none given yet */
    void *state;     /* the private object; NULL in a null handle (MPI_COMM_NULL, ...) */
};

/*
 * A handle that the program never set may point to no memory. Reading it is then a fault, and a
 * check before each read would cost more than the read. So the instruction that reads is listed
 * beside the place where to go on if it faults. The handler of lib/rte/crash.h looks there first.
 * Without that handler, and on processors not known here, the program crashes.
 */
#if defined(__x86_64__)
#define TERN_HANDLE_GUARDED(instruction)                                                           \
    "1: " instruction "\n\t"                                                                       \
    ".pushsection tern_guarded, \"a\"\n\t"                                                         \
    ".balign 4\n\t"                                                                               \
    ".long 1b - .\n\t"                                                                            \
    ".long %l[no] - .\n\t"                                                                        \
    ".popsection\n\t"
#endif

/* Returns true if the handle, which is not NULL, is of this kind. Returns false if there is no
 * memory at its address. */
static inline bool tern_handle_is(const struct tern_handle *handle, enum tern_magic magic)
{
#ifdef TERN_HANDLE_GUARDED
    __asm__ goto(TERN_HANDLE_GUARDED("cmpl %[magic], %[word]") "jne %l[no]"
                 :
                 : [word] "m"(handle->magic), [magic] "ri"(magic)
                 : "cc"
                 : no);
    return true;
no:
    return false;
#else
    return handle->magic == (uint32_t)magic;
#endif
}

/* Returns true if there is memory at the address of the handle. */
static inline bool tern_handle_is_memory(const struct tern_handle *handle)
{
#ifdef TERN_HANDLE_GUARDED
    __asm__ goto(TERN_HANDLE_GUARDED("cmpl $0, %[word]") : : [word] "m"(handle->magic) : "cc" : no);
    return true;
no:
    return false;
#else
    return handle != NULL;
#endif
}

/* Returns where to go on if reading a handle at this instruction has faulted. Returns 0 if the
 * instruction does not read a handle. Async-signal-safe. */
uintptr_t tern_handle_landing(uintptr_t instruction);

/* First member of struct tern_comm, tern_datatype, ... : object->handle is what the user holds. */
struct tern_object {
    struct tern_handle *handle; /* &own; for a predefined object the exported object */
    struct tern_handle own;
    /* number of references: the user's handle counts as one; messages in flight and derived objects
     * count as well */
    int refs;
    /* Only for kinds whose objects are given out several times (groups, error handlers): number of
     * handles that the user got and has not freed. TERN_OBJECT_KEPT: the user never frees it. */
    int held;
    const char *name; /* only for communicators and datatypes: what the user calls them */
};
enum { TERN_OBJECT_KEPT = -1 };

/* Initialises `object` as a new object of kind `magic`, with one reference and its own handle. */
static inline void tern_object_init(struct tern_object *object, enum tern_magic magic)
{
    object->own = (struct tern_handle){magic, -1, object};
    object->handle = &object->own;
    object->refs = 1;
    object->held = 0;
}

/* Nonzero if the thread level is MPI_THREAD_MULTIPLE. Atomic, because a thread may start a session
 * with that level while other threads begin theirs. */
extern TERN_OURS _Atomic int tern_threads;

/* Takes a reference. Threads of several lanes may do so at the same time. */
static inline void tern_ref(int *refs)
{
    if (tern_threads)
        __atomic_fetch_add(refs, 1, __ATOMIC_RELAXED);
    else
        ++*refs;
}

/* Drops a reference. Returns the number of references left. */
static inline int tern_unref(int *refs)
{
    /* release: the thread that frees the object sees what we did with it; acquire: we see what
     * others did */
    return tern_threads ? __atomic_sub_fetch(refs, 1, __ATOMIC_ACQ_REL) : --*refs;
}

/* Notes that the user gets one more handle of the object. */
static inline void tern_object_lend(struct tern_object *object)
{
    tern_ref(&object->held);
}

/* Takes back one of the user's handles. Returns false if the user holds none any more, as the
 * program has freed each handle that it got. A predefined object is never taken back. */
static inline bool tern_object_take_back(struct tern_object *object)
{
    if (object->handle != &object->own || tern_unref(&object->held) >= 0)
        return true;
    tern_ref(&object->held);
    return false;
}

/* Frees the memory that begins with `object`, and marks its handle TERN_MAGIC_FREED. */
void tern_object_free(struct tern_object *object);
/* If `on`, tern_object_free keeps memory unused for a while, so that a use of a freed handle can be
 * detected. If off, it frees memory at once. */
void tern_object_keep_freed(bool on);
extern TERN_OURS bool tern_object_keep; /* written under a lock, read without it */
/* Returns true if the memory of freed objects is kept for a while. */
static inline bool tern_object_kept(void)
{
    return __atomic_load_n(&tern_object_keep, __ATOMIC_RELAXED);
}

#endif
