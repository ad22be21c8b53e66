#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# striping_factor and striping_unit become the layout of a file that is made on Lustre, before it is opened; a file that is
# there keeps its layout. Lustre is a library that answers for this directory as Lustre does: it says the file system's
# number, takes the layout of a file that has not been opened, and tells the layout of one that has.
. "$(dirname "$0")/check.bash"
cat >lustre.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>
struct layout {
    uint32_t magic, pattern;
    uint64_t object[2];
    uint32_t size;
    uint16_t count, first;
};
static int answer(const char *name, const void *what, struct statfs *facts)
{
    int (*real)(const void *, struct statfs *) = (int (*)(const void *, struct statfs *))dlsym(RTLD_NEXT, name);
    int rc = real(what, facts);
    facts->f_type = 0x0bd00bd0;
    return rc;
}
int statfs(const char *path, struct statfs *facts) { return answer("statfs", path, facts); }
int statfs64(const char *path, struct statfs64 *facts) { return answer("statfs64", path, (struct statfs *)facts); }
int fstatfs(int fd, struct statfs *facts) { return answer("fstatfs", (void *)(intptr_t)fd, facts); }
int fstatfs64(int fd, struct statfs64 *facts) { return answer("fstatfs64", (void *)(intptr_t)fd, (struct statfs *)facts); }
/* The layout is kept beside the file. */
int setxattr(const char *path, const char *name, const void *value, size_t length, int flags)
{
    const struct layout *wish = value;
    char kept[4096];
    snprintf(kept, sizeof kept, "%s.layout", path);
    if (strcmp(name, "lustre.lov") || length != sizeof *wish || wish->magic != 0x0bd10bd0 || wish->pattern != 1 ||
        wish->size % 65536 || wish->first != 0xffff || flags || access(kept, F_OK) == 0) {
        errno = EINVAL;
        return -1;
    }
    FILE *file = fopen(kept, "w");
    fprintf(file, "%d %d\n", wish->count ? wish->count : 1, wish->size ? (int)wish->size : 1 << 20);
    return fclose(file);
}
ssize_t fgetxattr(int fd, const char *name, void *value, size_t room)
{
    char link[64], kept[4096] = "";
    struct layout *told = value;
    int count = 0, size = 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, kept, sizeof kept - 8);
    strcpy(kept + (n > 0 ? n : 0), ".layout");
    FILE *file = fopen(kept, "r");
    if (strcmp(name, "lustre.lov") || room < sizeof *told || !file || fscanf(file, "%d %d", &count, &size) != 2) {
        errno = ENODATA;
        return -1;
    }
    fclose(file);
    *told = (struct layout){.magic = 0x0bd10bd0, .pattern = 1, .size = size, .count = count, .first = 7};
    return sizeof *told;
}
END
cat >opens.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
/* argv: the file, the access mode, striping_factor, striping_unit; "-": not said. Rank 0 prints what is in use. */
int main(int argc, char **argv)
{
    static const char *const keys[] = {"striping_factor", "striping_unit", "tern_file_system"};
    MPI_Info info;
    MPI_File file;
    int rank, flag, mode = MPI_MODE_RDWR | MPI_MODE_CREATE | (argv[2][0] == 'e' ? MPI_MODE_EXCL : 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    for (int i = 0; i < 2; i++)
        if (argv[3 + i][0] != '-')
            MPI_Info_set(info, keys[i], argv[3 + i]);
    int code = MPI_File_open(MPI_COMM_WORLD, argv[1], mode, info, &file);
    MPI_Info_free(&info);
    if (code && rank == 0)
        printf("error %d\n", code);
    if (!code) {
        MPI_File_get_info(file, &info);
        for (int i = 0; i < 3 && rank == 0; i++) {
            char value[64] = "none";
            MPI_Info_get(info, keys[i], 63, value, &flag);
            printf("%s%s", value, i < 2 ? " " : "\n");
        }
        MPI_Info_free(&info);
        MPI_File_close(&file);
    }
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -O1 -o opens opens.c || exit 1
${CC:-cc} -O1 -shared -fPIC -o lustre.so lustre.c -ldl || exit 1

# opens WHAT WANTED FILE MODE FACTOR UNIT
opens() {
    run -n 2 -x LD_PRELOAD="${PRELOAD:+$PRELOAD:}$PWD/lustre.so" ./opens "${@:3}"
    is "$1: exit status" "$rc" 0
    is "$1" "$(cat out)" "$2"
}
opens "both" "4 262144 lustre" a any 4 262144
is "the file" "$(stat -c '%s %F' a)" "0 regular empty file"
is "its layout" "$(cat a.layout)" "4 262144"
opens "it is there" "4 262144 lustre" a any 8 131072
is "its layout stays" "$(cat a.layout)" "4 262144"
opens "one number, and no other file" "3 1048576 lustre" b exclusive 3 -
opens "there is one already" "error 28" b exclusive 3 -
opens "no hint" "none 4096 lustre" c any - -
[ ! -e c.layout ] || complain "nobody asked for a layout"
opens "Lustre does not take it" "none 4096 lustre" b.layout any 2 -
finish
