/* SPDX-License-Identifier: BSD-3-Clause */
/* sandbox NAME... -- PROGRAM ...: runs a program for which these system calls are refused (EPERM).
 * sandbox --list: the names of those that may be refused: what mpirun, ranks and libpmix call, without those without which no
 * program starts. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range /* headers before Linux 5.9 */
#define SYS_close_range 436
#endif

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    { "accept", SYS_accept },
    { "accept4", SYS_accept4 },
    { "bind", SYS_bind },
    { "clone", SYS_clone },
#ifdef SYS_clone3
    { "clone3", SYS_clone3 },
#endif
    { "close_range", SYS_close_range },
    { "connect", SYS_connect },
#ifdef SYS_dup2
    { "dup2", SYS_dup2 },
#endif
    { "dup3", SYS_dup3 },
    { "epoll_create1", SYS_epoll_create1 },
    { "epoll_ctl", SYS_epoll_ctl },
#ifdef SYS_epoll_wait
    { "epoll_wait", SYS_epoll_wait },
#endif
    { "epoll_pwait", SYS_epoll_pwait },
    { "eventfd2", SYS_eventfd2 },
    { "fallocate", SYS_fallocate },
    { "fcntl", SYS_fcntl },
    { "flock", SYS_flock },
    { "ftruncate", SYS_ftruncate },
    { "getpeername", SYS_getpeername },
    { "getrandom", SYS_getrandom },
    { "getsockname", SYS_getsockname },
    { "getsockopt", SYS_getsockopt },
    { "ioctl", SYS_ioctl },
    { "kill", SYS_kill },
    { "listen", SYS_listen },
    { "membarrier", SYS_membarrier },
    { "memfd_create", SYS_memfd_create },
#ifdef SYS_mkdir
    { "mkdir", SYS_mkdir },
#endif
    { "mkdirat", SYS_mkdirat },
    { "pipe2", SYS_pipe2 },
#ifdef SYS_poll
    { "poll", SYS_poll },
#endif
    { "ppoll", SYS_ppoll },
    { "prctl", SYS_prctl },
    { "prlimit64", SYS_prlimit64 },
    { "process_vm_readv", SYS_process_vm_readv },
    { "pselect6", SYS_pselect6 },
    { "recvfrom", SYS_recvfrom },
    { "recvmsg", SYS_recvmsg },
    { "rt_sigaction", SYS_rt_sigaction },
    { "rt_sigprocmask", SYS_rt_sigprocmask },
    { "sched_getaffinity", SYS_sched_getaffinity },
    { "sched_setaffinity", SYS_sched_setaffinity },
    { "sched_yield", SYS_sched_yield },
#ifdef SYS_select
    { "select", SYS_select },
#endif
    { "sendmsg", SYS_sendmsg },
    { "sendto", SYS_sendto },
    { "setpgid", SYS_setpgid },
    { "setsid", SYS_setsid },
    { "setsockopt", SYS_setsockopt },
    { "shutdown", SYS_shutdown },
    { "signalfd4", SYS_signalfd4 },
    { "socket", SYS_socket },
    { "socketpair", SYS_socketpair },
    { "timerfd_create", SYS_timerfd_create },
    { "timerfd_settime", SYS_timerfd_settime },
    { "uname", SYS_uname },
    { "wait4", SYS_wait4 },
    { "waitid", SYS_waitid },
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
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            puts(calls[i].name);
        return 0;
    }
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
