/* SPDX-License-Identifier: BSD-3-Clause */

/* What lies below a file: the file system, and the errors of the operating system. */

#include "lib/io/access/system.h"

#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LUSTRE_MAGIC = 0x0bd00bd0 };

/* Numbers of statfs(2) that file systems are known by. */
static const struct known_system {
    uint32_t magic;
    enum tern_file_system kind;
    const char *name;
    bool caches;
} known_systems[] = {
    {0x0000ef53, TERN_FILE_SYSTEM_LOCAL, "ext4", false},
    {0x01021994, TERN_FILE_SYSTEM_LOCAL, "tmpfs", false},
    {0x58465342, TERN_FILE_SYSTEM_LOCAL, "xfs", false},
    {0x9123683e, TERN_FILE_SYSTEM_LOCAL, "btrfs", false},
    {0x794c7630, TERN_FILE_SYSTEM_LOCAL, "overlayfs", false},
    {0x2fc12fc1, TERN_FILE_SYSTEM_LOCAL, "zfs", false},
    {0x858458f6, TERN_FILE_SYSTEM_LOCAL, "ramfs", false},
    {0x00006969, TERN_FILE_SYSTEM_NFS, "nfs", true},
    {LUSTRE_MAGIC, TERN_FILE_SYSTEM_LUSTRE, "lustre", false},
    {0x65735546, TERN_FILE_SYSTEM_GENERIC, "fuse", true},
    {0x47504653, TERN_FILE_SYSTEM_GENERIC, "gpfs", false},
    {0x19830326, TERN_FILE_SYSTEM_GENERIC, "beegfs", false},
    {0x00c36400, TERN_FILE_SYSTEM_GENERIC, "ceph", false},
    {0xff534d42, TERN_FILE_SYSTEM_GENERIC, "cifs", false},
};

/* The first bytes of the extended attribute in which Lustre tells the layout of a file, and gets it
 * for a file that has nothing on any server yet. */
struct lustre_layout {
    uint32_t magic, pattern;
    uint64_t object[2];
    uint32_t stripe_size;
    uint16_t stripe_count;
    uint16_t first; /* when told: a generation; when set: the first server, or LUSTRE_ANY_FIRST */
};
enum { LUSTRE_V1 = 0x0bd10bd0, LUSTRE_V3 = 0x0bd30bd0 };
enum { LUSTRE_STRIPED = 1, LUSTRE_ANY_FIRST = 0xffff, LUSTRE_UNIT = 1 << 16 };

static void look_at_lustre(int fd, struct tern_system *system)
{
    union {
        struct lustre_layout layout;
        char bytes[65536];
    } value;
    ssize_t length = fgetxattr(fd, "lustre.lov", &value, sizeof value);
    if (length < (ssize_t)sizeof value.layout ||
        (value.layout.magic != LUSTRE_V1 && value.layout.magic != LUSTRE_V3))
        return;
    if (value.layout.stripe_size > 0)
        system->block = value.layout.stripe_size;
    system->stripes = value.layout.stripe_count;
}

void tern_system_look(int fd, struct tern_system *ret_system)
{
    enum { LEAST_BLOCK = 4096, MOST_BLOCK = 1 << 24 };
    struct tern_system system = {.kind = TERN_FILE_SYSTEM_GENERIC, .name = "unknown",
                                 .block = LEAST_BLOCK};
    struct statfs facts;
    struct stat state;
    if (fstatfs(fd, &facts) == 0)
        for (size_t i = 0; i < sizeof known_systems / sizeof *known_systems; i++)
            if (known_systems[i].magic == (uint32_t)facts.f_type) {
                system.kind = known_systems[i].kind;
                system.name = known_systems[i].name;
                system.caches = known_systems[i].caches;
            }
    if (fstat(fd, &state) == 0 && state.st_blksize > LEAST_BLOCK && state.st_blksize <= MOST_BLOCK)
        system.block = state.st_blksize;
    if (system.kind == TERN_FILE_SYSTEM_LUSTRE)
        look_at_lustre(fd, &system);
    *ret_system = system;
}

/* Returns true if the directory of `path` is in a Lustre file system. */
static bool is_on_lustre(const char *path)
{
    struct statfs facts;
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    bool found = directory && statfs(directory, &facts) == 0 &&
                 (uint32_t)facts.f_type == LUSTRE_MAGIC;
    free(directory);
    return found;
}

bool tern_system_lay_out(const char *path, int64_t stripes, int64_t unit)
{
    struct lustre_layout layout = {.magic = LUSTRE_V1,
                                   .pattern = LUSTRE_STRIPED,
                                   .stripe_size = (uint32_t)(unit - unit % LUSTRE_UNIT),
                                   .stripe_count = (uint16_t)stripes,
                                   .first = LUSTRE_ANY_FIRST};
    /* a node that mknod makes has no layout until it is opened */
    if (!is_on_lustre(path) || mknod(path, S_IFREG | 0666, 0))
        return false;
    /* if Lustre does not like the layout, the file gets the usual one, as hints may be ignored */
    (void)!setxattr(path, "lustre.lov", &layout, sizeof layout, 0);
    return true;
}

bool tern_system_go_direct(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_DIRECT) == 0;
}

int tern_system_flush(int fd, const char *path)
{
    int rc;
    do
        rc = fsync(fd);
    while (rc && errno == EINTR);
    /* EINVAL, EROFS: nothing to be written can wait here, as in a pipe or a read-only system */
    if (rc && errno != EINVAL && errno != EROFS)
        return tern_system_error("write to the disk", path, errno);
    return 0;
}

void tern_system_revalidate(int fd)
{
    struct statx facts;
    /* the server is asked, whatever this host believes to know */
    (void)!statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE | STATX_MTIME, &facts);
    (void)!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

const char *tern_system_path(const char *name)
{
    static const char *const prefixes[] = {"ufs:",  "nfs:",    "xfs:", "lustre:", "gpfs:", "panfs:",
                                           "pvfs2:", "beegfs:", "daos:", "ime:",    "quobyte:"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncasecmp(name, prefixes[i], length) == 0)
            return name + length;
    }
    return name;
}

static int code_of(int error)
{
    switch (error) {
    case ENOENT: return TERN_ERR_NO_SUCH_FILE;
    case EEXIST: return TERN_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM: return TERN_ERR_ACCESS;
    case EROFS: return TERN_ERR_READ_ONLY;
    case ENOSPC: return TERN_ERR_NO_SPACE;
    case EDQUOT: return TERN_ERR_QUOTA;
    case ETXTBSY:
    case EBUSY: return TERN_ERR_FILE_IN_USE;
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP: return TERN_ERR_BAD_FILE;
    case ENOMEM: return TERN_ERR_NO_MEM;
    default: return TERN_ERR_IO;
    }
}

int tern_system_error(const char *action, const char *path, int error)
{
    char host[256];
    tern_rte_own_host(host, sizeof host);
    return tern_error(code_of(error), "cannot %s \"%.400s\" on host %s: %s (errno %d)", action,
                      path, host, strerror(error), error);
}
