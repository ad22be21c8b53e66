/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx client over functions that behave as those of PMIx 5: PMIx_Get_nb keeps the addresses of the key and of the
 * directive, and reads them when the server has answered. */

#include "lib/rte/pmix_client.c"

#include "suite.h"

#include <check.h>

enum { FETCHES = 3 };

/* The questions that wait for an answer. */
static struct question {
    pmix_proc_t proc;
    const char *key;
    const pmix_info_t *info;
    size_t info_count;
    pmix_value_cbfunc_t answer;
    void *object;
} questions[FETCHES];
static int question_count;

static pmix_status_t keep_question(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                                   size_t info_count, pmix_value_cbfunc_t answer, void *object)
{
    questions[question_count++] = (struct question){*proc, key, info, info_count, answer, object};
    return PMIX_SUCCESS;
}

static const char *name_error(pmix_status_t status)
{
    return status == PMIX_ERR_NOT_FOUND ? "NOT FOUND" : "another error";
}

/* Answers with the key itself, or that there is none if it is not `expected`. */
static void answer(struct question *question, const char *expected)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    value.data.bo.bytes = (char *)expected;
    value.data.bo.size = strlen(expected) + 1;
    bool right = strcmp(question->key, expected) == 0;
    question->answer(right ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, right ? &value : NULL,
                     question->object);
}

static void begin(void)
{
    memset(&pmix, 0, sizeof pmix);
    pmix.connected = true;
    pmix.get_nb = keep_question;
    pmix.error_string = name_error;
    question_count = 0;
}

START_TEST(key_outlives_the_call)
{
    static struct tern_rte_fetch fetches[FETCHES];
    char key[TERN_RTE_KEY], expected[TERN_RTE_KEY];
    begin();
    for (int i = 0; i < FETCHES; i++) {
        snprintf(key, sizeof key, "tern.card.%d", i);
        ck_assert_int_eq(tern_pmix_fetch((uint32_t)i, key, false, &fetches[i]), 0);
    }
    memset(key, 0, sizeof key); /* as the caller's stack may be */
    for (int i = FETCHES - 1; i >= 0; i--) {
        snprintf(expected, sizeof expected, "tern.card.%d", i);
        ck_assert_uint_eq(questions[i].proc.rank, (uint32_t)i);
        answer(&questions[i], expected);
        ck_assert(fetches[i].done);
        ck_assert_msg(fetches[i].error == 0, "rank %d: %s", i, fetches[i].text);
        ck_assert_str_eq(fetches[i].value, expected);
        free(fetches[i].value);
    }
}
END_TEST

START_TEST(directive_outlives_the_call)
{
    static struct tern_rte_fetch first, second;
    begin();
    ck_assert_int_eq(tern_pmix_fetch(0, "a", true, &first), 0);
    ck_assert_int_eq(tern_pmix_fetch(1, "b", false, &second), 0);
    ck_assert_uint_eq(questions[0].info_count, 1);
    ck_assert_str_eq(questions[0].info->key, PMIX_GET_REFRESH_CACHE);
    ck_assert_int_eq(questions[0].info->value.type, PMIX_BOOL);
    ck_assert(questions[0].info->value.data.flag);
    ck_assert_uint_eq(questions[1].info_count, 0);
}
END_TEST

START_TEST(missing_value_is_named)
{
    static struct tern_rte_fetch fetch;
    begin();
    ck_assert_int_eq(tern_pmix_fetch(5, "there", false, &fetch), 0);
    answer(&questions[0], "elsewhere");
    ck_assert(fetch.done);
    ck_assert_int_eq(fetch.error, TERN_ERR_OTHER);
    ck_assert_str_eq(fetch.text, "NOT FOUND");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pmix_client");
    TCase *tcase = suite_case(suite, "fetch");
    tcase_add_test(tcase, key_outlives_the_call);
    tcase_add_test(tcase, directive_outlives_the_call);
    tcase_add_test(tcase, missing_value_is_named);
    return suite_run(suite);
}
