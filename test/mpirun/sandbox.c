/* SPDX-License-Identifier: BSD-3-Clause */
/* sandbox NAME... -- PROGRAM ...: runs a program for which these system calls are refused (EPERM). */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    { "close_range", SYS_close_range },
    { "fallocate", SYS_fallocate },
    { "membarrier", SYS_membarrier },
    { "memfd_create", SYS_memfd_create },
    { "process_vm_readv", SYS_process_vm_readv },
};

static struct sock_filter program[64];
static unsigned short count;

static void add(unsigned short code, unsigned value, unsigned char then, unsigned char otherwise)
{
    program[count++] = (struct sock_filter)BPF_JUMP(code, value, then, otherwise);
}

static int refuse(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0) {
            add(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
            add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1, 0, 0);
            return 0;
        }
    fprintf(stderr, "sandbox: unknown call %s\n", name);
    return -1;
}

int main(int argc, char **argv)
{
    int at = 1;
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    for (; at < argc && strcmp(argv[at], "--"); at++)
        if (refuse(argv[at]))
            return 125;
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    struct sock_fprog filter = { count, program };
    if (at + 1 >= argc || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("sandbox");
        return 125;
    }
    execvp(argv[at + 1], argv + at + 1);
    perror(argv[at + 1]);
    return 127;
}
