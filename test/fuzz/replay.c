/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a target once on each of its inputs that are in the repository, with any compiler: those that began, and those that once
 * found a fault. Named on the command line, or all of corpus/TARGET/. */
#include "fuzz.h"

#include <dirent.h>

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

static int replay(const char *path)
{
    FILE *file = fopen(path, "re");
    uint8_t *bytes = malloc(1 << 20);
    size_t size = file && bytes ? fread(bytes, 1, 1 << 20, file) : 0;
    if (!file || !bytes || ferror(file)) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    bytes = realloc(bytes, size ? size : 1);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 1;
}

static int replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    if (!folder) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[8192];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        count += replay(name);
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    const char *top = getenv("srcdir"), *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    int count = 0;
    char path[4096];
    if (strncmp(name, "lt-", 3) == 0) /* libtool's */
        name += 3;
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    snprintf(path, sizeof path, "%s/fuzz/corpus/%s", top ? top : ".", name);
    if (argc == 1)
        count = replay_folder(path);
    printf("%d inputs\n", count);
    return count == 0;
}
