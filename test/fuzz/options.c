/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: a word per line, up to an empty one; what follows is the application file that words may name "f". */
#include "fuzz.h"

#include "lib/settings/param.h"
#include "mpirun/plan/words/command_line.h"

#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char *nothing[] = { NULL };
    (void)argc;
    (void)argv;
    environ = nothing;
    tern_param_int("launch_timeout"); /* parameter files are read once */
    return 0;
}

/* Words with a slash could name anything on this machine. */
static int split(char *text, char **words, int most)
{
    int count = 0;
    for (char *line; count < most && (line = strsep(&text, "\n"));) {
        if (strcmp(line, "f") == 0)
            words[count++] = "/proc/self/fd/99";
        else if (!strchr(line, '/'))
            words[count++] = line;
    }
    return count;
}

static void write_appfile(const char *text)
{
    int fd = memfd_create("f", 0);
    if (fd < 0 || dup2(fd, 99) != 99 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { data, size };
    struct tern_options options;
    char *text = fuzz_text(&input), *words[64] = { "mpirun" }, *gap = strstr(text, "\n\n");
    int file_is_safe = !gap || !strchr(gap, '/');
    if (gap)
        *gap = '\0';
    if (gap && file_is_safe)
        write_appfile(gap + 2);
    int count = 1 + split(text, words + 1, 62);
    if (file_is_safe && tern_options_parse(count, words, ":", &options) == 0) {
        MUST(options.app_count >= 1);
        for (int app = 0; app < options.app_count; app++)
            MUST(options.apps[app].argv.count >= 1 && options.apps[app].np >= 0 && options.apps[app].np <= 1 << 20);
        MUST(options.map.pe >= 0 && options.map.pe <= TERN_MAX_CPUS && options.map.per_object >= 0);
        MUST(options.map.by <= TERN_MAP_LEVEL_DEFAULT && options.map.bind <= TERN_MAP_LEVEL_DEFAULT);
        MUST(!options.map.per_object || options.map.per_level < TERN_MAP_LEVEL_COUNT);
        MUST(!options.by_rankfile || options.rankfile);
        MUST(!options.map.no_oversubscribe || !options.oversubscribe);
    }
    if (file_is_safe)
        tern_options_free(&options);
    if (gap && file_is_safe)
        close(99);
    free(text);
    return 0;
}
