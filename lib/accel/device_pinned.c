/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/accel/device_pinned.h"

#include "lib/accel/device_context.h"

#include <pthread.h>
#include <sys/mman.h>

enum { PIECES = 16 };

static struct {
    char *memory; /* NULL: none yet */
    bool used;
    bool registered;
    bool reached; /* by kernels, at its own address */
} pieces[PIECES];
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* Returns memory for piece number i; NULL: there is none. If the driver does not register it, it
 * serves as it is. */
static char *make(int i, const struct tern_accel_place *place)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_entry entry;
    char *memory = mmap(NULL, TERN_ACCEL_PINNED, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, TERN_ACCEL_PINNED, MADV_DONTFORK); /* a fork would move the pages away */
    if (tern_cu_enter(driver, place, &entry) == 0) {
        pieces[i].registered = !driver->host_register(memory, TERN_ACCEL_PINNED,
                                                      TERN_CU_REGISTER_PORTABLE);
        tern_cu_addr device;
        pieces[i].reached = pieces[i].registered && !driver->host_device(&device, memory, 0) &&
                            device == (uintptr_t)memory;
        tern_cu_leave(driver, &entry);
    }
    return memory;
}

char *tern_accel_pinned_take(const struct tern_accel_place *place)
{
    char *taken = NULL;
    pthread_mutex_lock(&gate);
    for (int i = 0; i < PIECES && !taken; i++) {
        if (pieces[i].used)
            continue;
        if (!pieces[i].memory)
            pieces[i].memory = make(i, place);
        taken = pieces[i].memory;
        pieces[i].used = taken != NULL;
    }
    pthread_mutex_unlock(&gate);
    return taken;
}

bool tern_accel_pinned_reached(const char *piece)
{
    bool reached = false;
    pthread_mutex_lock(&gate);
    for (int i = 0; i < PIECES; i++)
        reached |= pieces[i].memory == piece && pieces[i].reached;
    pthread_mutex_unlock(&gate);
    return reached;
}

void tern_accel_pinned_give(char *piece)
{
    pthread_mutex_lock(&gate);
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].memory == piece)
            pieces[i].used = false;
    pthread_mutex_unlock(&gate);
}

void tern_accel_pinned_leave(void)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    pthread_mutex_lock(&gate);
    for (int i = 0; i < PIECES; i++) {
        if (pieces[i].registered)
            driver->host_unregister(pieces[i].memory);
        if (pieces[i].memory)
            munmap(pieces[i].memory, TERN_ACCEL_PINNED);
        pieces[i].memory = NULL;
        pieces[i].registered = false;
    }
    pthread_mutex_unlock(&gate);
}
