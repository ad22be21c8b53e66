/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tern_options_warn(struct tern_options *options, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    bool made = vasprintf(&text, format, args) >= 0;
    va_end(args);
    for (int i = 0; made && i < options->warnings.count; i++)
        if (strcmp(options->warnings.items[i], text) == 0) {
            free(text);
            made = false;
        }
    if (made)
        tern_strings_take(&options->warnings, text);
}

void tern_app_free(struct tern_app *app)
{
    tern_strings_free(&app->argv);
    tern_strings_free(&app->env);
    tern_strings_free(&app->unset);
    tern_strings_free(&app->hosts);
    tern_strings_free(&app->hostfiles);
}

void tern_options_free(struct tern_options *options)
{
    for (int app = 0; app < options->app_count; app++)
        tern_app_free(&options->apps[app]);
    free(options->apps);
    tern_strings_free(&options->hosts);
    tern_strings_free(&options->hostfiles);
    tern_strings_free(&options->kept);
    tern_strings_free(&options->warnings);
    tern_strings_free(&options->said);
    tern_strings_free(&options->given);
    tern_strings_free(&options->env);
    for (int list = 0; list < TERN_INHERITS; list++)
        tern_strings_free(&options->inherited[list]);
    free(options->output_dir);
    *options = (struct tern_options){0};
}
