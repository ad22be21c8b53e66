/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a process and those below it sleep, run or are stopped. */
#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mpirun/base/activity.h"

/* A process of its own group whose child does `work` while it waits for that. */
static pid_t start(void (*work)(void))
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        setpgid(0, 0);
        if (fork() == 0)
            work();
        for (;;)
            pause();
    }
    setpgid(pid, pid);
    return pid;
}

static void end(pid_t pid)
{
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void sleep_on(void)
{
    for (;;)
        pause();
}

static void spin(void)
{
    for (volatile unsigned turns = 0;; turns++)
        ;
}

/* The harness's own time limit ends a wait for what does not come true. */
static void look_later(pid_t pid, struct tern_activity *activity)
{
    nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    *activity = tern_activity_of(pid);
}

START_TEST(test_sleeping)
{
    pid_t pid = start(sleep_on);
    struct tern_activity activity = { .runnable = 1 };
    while (activity.runnable || activity.blocked)
        look_later(pid, &activity);
    ck_assert_uint_gt(activity.cpu_ns, 0);
    ck_assert(!activity.stopped);
    end(pid);
}
END_TEST

START_TEST(test_running_below)
{
    pid_t pid = start(spin);
    struct tern_activity activity = { 0 };
    while (activity.runnable != 1 || activity.cpu_ns < 50000000)
        look_later(pid, &activity);
    end(pid);
}
END_TEST

START_TEST(test_without)
{
    pid_t pid = fork();
    if (pid == 0)
        spin();
    struct tern_activity activity = { 0 };
    while (!activity.runnable || !activity.cpu_ns) /* it may wait for a processor first */
        look_later(pid, &activity);
    activity = tern_activity_without(pid, pid);
    ck_assert_int_eq(activity.runnable, 0);
    ck_assert_uint_gt(activity.cpu_ns, 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(test_family)
{
    struct tern_activity alone = tern_activity_of(getpid()), again = tern_activity_of(getpid());
    ck_assert_uint_eq(alone.family, again.family);
    pid_t pid = start(sleep_on);
    ck_assert_uint_ne(tern_activity_of(getpid()).family, alone.family);
    end(pid);
}
END_TEST

START_TEST(test_stopped)
{
    pid_t pid = start(spin);
    struct tern_activity activity = { 0 };
    kill(-pid, SIGSTOP);
    while (!activity.stopped || activity.runnable)
        look_later(pid, &activity);
    kill(-pid, SIGCONT);
    while (activity.stopped || !activity.runnable)
        look_later(pid, &activity);
    end(pid);
}
END_TEST

START_TEST(test_ended)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    struct tern_activity activity = tern_activity_of(pid);
    ck_assert(!activity.cpu_ns && !activity.runnable && !activity.blocked && !activity.stopped);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("activity");
    TCase *tests = tcase_create("activity");
    tcase_add_test(tests, test_sleeping);
    tcase_add_test(tests, test_running_below);
    tcase_add_test(tests, test_without);
    tcase_add_test(tests, test_family);
    tcase_add_test(tests, test_stopped);
    tcase_add_test(tests, test_ended);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
