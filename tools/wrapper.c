/* SPDX-License-Identifier: BSD-3-Clause */

/* mpicc, mpicxx (also mpic++, mpiCC) and mpifort (also mpif90, mpif77): run the machine's compiler
 * with the options that find MPI. They are one program; the name by which it is called says which
 * language. It becomes the compiler by exec, so exit status, signals and speed are the compiler's
 * own.
 *
 * The flags follow the user's, so that a user's -I comes first. Nothing is added if no file is
 * named (`mpicc --version`), and no link flags if nothing is linked (-c, -E, ...). As with Open
 * MPI, OMPI_CC and similar variables replace a part of the command, while the directories of mpi.h
 * and libmpi always stay. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/prefix.h"
#include "tools/arguments.h"

struct language {
    const char *name;    /* as -showme:version prints it */
    const char *command; /* the default compiler */
    const char *command_variable;
    const char *flags_variable;
    const char *libraries;
};

static const struct language language_c = {"C", TERN_CC, "OMPI_CC", "OMPI_CFLAGS", "-lmpi"};
static const struct language language_cxx = {"C++", TERN_CXX, "OMPI_CXX", "OMPI_CXXFLAGS", "-lmpi"};
static const struct language language_fortran = {
    "Fortran", TERN_FC, "OMPI_FC", "OMPI_FCFLAGS",
    "-lmpi_usempif08 -lmpi_usempi_ignore_tkr -lmpi_mpifh -lmpi"};

/* A binary interface of MPI. */
struct interface {
    const char *name;    /* in -abi=NAME */
    const char *headers; /* the directory of its mpi.h, in that of mpi.h */
    const char *library; /* NULL: that of the language */
};
static const struct interface interfaces[] = {{"openmpi", "", NULL},
                                              {"standard", "/standard_abi", "-lmpi_abi"}};
static const struct interface *interface = &interfaces[0];

static const char *program;

/* What a command line asks for. */
struct request {
    /* NULL: run the compiler; "": print the command; else the word after -showme: */
    const char *show;
    bool has_file;
    bool links;
    bool refused; /* a message was printed */
};

/* The parts of a command, in words. */
struct parts {
    struct tern_arguments command, user, compile, link;
};

static bool links_nothing(const char *option)
{
    static const char *const options[] = {"-c", "-E", "-S", "-M", "-MM", "-fsyntax-only"};

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(option, options[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns what a -showme option, in any spelling, asks for, or NULL if this is not such an
 * option. */
static const char *shown_by(const char *option)
{
    if (strncmp(option, "--", 2) == 0) {
        option++;
    }
    if (strcmp(option, "-show") == 0 || strcmp(option, "-showme") == 0) {
        return "";
    }
    if (strncmp(option, "-showme:", 8) == 0) {
        return option + 8;
    }
    /* MPICH's spellings */
    if (strcmp(option, "-compile-info") == 0 || strcmp(option, "-compile_info") == 0) {
        return "compile-info";
    }
    if (strcmp(option, "-link-info") == 0 || strcmp(option, "-link_info") == 0) {
        return "link-info";
    }
    return NULL;
}

/* Chooses the interface that -abi=NAME asks for. Returns false, after a message, if there is none
 * of this name. */
static bool choose_interface(const char *name)
{
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++) {
        if (strcmp(name, interfaces[i].name) == 0) {
            interface = &interfaces[i];
            return true;
        }
    }
    fprintf(stderr,
            "%s: -abi=%s is not known; expected -abi=openmpi (the default) or -abi=standard "
            "(MPI-5.0's, libmpi_abi.so.1)\n",
            program, name);
    return false;
}

static struct request read_request(int argc, char **argv, struct tern_arguments *user)
{
    struct request request = {NULL, false, true, false};

    for (int i = 1; i < argc; i++) {
        const char *shown = shown_by(argv[i]), *option = argv[i] + (strncmp(argv[i], "--", 2) == 0);
        if (strncmp(option, "-abi=", 5) == 0) {
            request.refused |= !choose_interface(option + 5);
            continue;
        }
        if (shown) {
            request.show = shown;
            continue;
        }
        if (links_nothing(argv[i])) {
            request.links = false;
        }
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            request.has_file = true;
        }
        tern_arguments_add(user, "%s", argv[i]);
    }
    return request;
}

/* Adds the words of `variable`, or of `preset` if it is not set. */
static void add_variable(struct tern_arguments *words, const char *variable, const char *preset)
{
    const char *value = getenv(variable);
    tern_arguments_split(words, value ? value : preset);
}

/* Returns the name of the compiler in the command, without ccache and directories. */
static const char *compiler_name(const struct tern_arguments *command)
{

    for (int i = 0; i < command->count; i++) {
        const char *word = command->word[i], *slash = strrchr(word, '/');
        const char *last = slash ? slash + 1 : word;
        if (strcmp(last, "ccache") != 0 && word[0] != '-') {
            return last;
        }
    }
    return TERN_FC_NAME;
}

/* Adds the directory of the modules that fit the compiler, which is named like the compiler.
 * gfortran-14 and similar also read the modules that gfortran wrote. */
static void add_modules(struct parts *parts, bool compiles)
{
    const char *name = compiler_name(&parts->command);
    bool gnu = strstr(name, "gfortran") && strstr(TERN_FC_NAME, "gfortran");
    const char *const names[] = {name, gnu ? TERN_FC_NAME : name};
    char lib[PATH_MAX], directory[2 * PATH_MAX];

    tern_prefix_directory(TERN_LIBDIR, lib);
    for (int i = 0; i < 2; i++) {
        snprintf(directory, sizeof directory, "%s/fortran/%s", lib, names[i]);
        if (access(directory, R_OK) == 0) {
            tern_arguments_add(&parts->compile, "-I%s", directory);
            return;
        }
    }
    if (compiles) {
        fprintf(stderr,
                "%s: the modules mpi and mpi_f08 for '%s' are missing (in %s), only mpif.h "
                "is there; tern-fortran-modules makes them\n",
                program, name, directory);
    }
}

static void add_flags(struct parts *parts, const struct language *language, bool compiles)
{
    char include[PATH_MAX], lib[PATH_MAX];
    tern_prefix_directory(TERN_INCLUDEDIR, include);
    tern_prefix_directory(TERN_LIBDIR, lib);

    add_variable(&parts->command, language->command_variable, language->command);

    /* GCC searches this directory by itself; naming it would change its order. */
    if (strcmp(include, "/usr/include") != 0 || *interface->headers) {
        tern_arguments_add(&parts->compile, "-I%s%s", include, interface->headers);
    }
    if (language == &language_fortran) {
        add_modules(parts, compiles);
    }
    add_variable(&parts->compile, "OMPI_CPPFLAGS", NULL);
    add_variable(&parts->compile, language->flags_variable, TERN_SANITIZER_FLAGS);

    tern_arguments_add(&parts->link, "-L%s", lib);
    add_variable(&parts->link, "OMPI_LDFLAGS", TERN_SANITIZER_FLAGS);
    /* The loader searches /usr by itself. Elsewhere add a RUNPATH, which LD_LIBRARY_PATH
     * overrides. */
    if (strcmp(tern_prefix(), "/usr") != 0) {
        tern_arguments_add(&parts->link, "-Wl,-rpath");
        tern_arguments_add(&parts->link, "-Wl,%s", lib);
        tern_arguments_add(&parts->link, "-Wl,--enable-new-dtags");
    }
    add_variable(&parts->link, "OMPI_LIBS",
                 interface->library ? interface->library : language->libraries);
}

/* Prints what follows `flag` in each word that begins with it. */
static void print_tails(const struct tern_arguments *words, const char *flag)
{
    struct tern_arguments tails = {0};
    size_t length = strlen(flag);

    for (int i = 0; i < words->count; i++) {
        if (strncmp(words->word[i], flag, length) == 0 && words->word[i][length]) {
            tern_arguments_add(&tails, "%s", words->word[i] + length);
        }
    }
    tern_arguments_print(&tails, stdout);
    tern_arguments_free(&tails);
}

static void print_help(void)
{
    printf(
        "Usage: %s [-showme[:WHAT]] [compiler options and files]\n"
        "Runs the compiler with the options that MPI needs.\n\n"
        "  -abi=standard      for MPI-5.0's binary interface (libmpi_abi.so.1), as mpicc_abi "
        "does;\n"
        "                     openmpi, the default: for Open MPI's\n"
        "  -showme, -show     print the command instead of running it\n"
        "  -showme:command    the compiler\n"
        "  -showme:compile    the options added when compiling\n"
        "  -showme:link       the options added when linking\n"
        "  -showme:incdirs    the directories of header files\n"
        "  -showme:libdirs    the directories of libraries\n"
        "  -showme:libs       the libraries\n"
        "  -showme:version    the version of the MPI library\n"
        "  -showme:help       this text\n\n"
        "OMPI_CC (mpicxx: OMPI_CXX, mpifort: OMPI_FC) replaces the compiler; OMPI_CFLAGS "
        "(OMPI_CXXFLAGS,\n"
        "OMPI_FCFLAGS), OMPI_CPPFLAGS, OMPI_LDFLAGS and OMPI_LIBS replace options. See mpicc(1).\n",
        program);
}

/* Prints the part of the command that `show` names, with the user's words where they belong to it.
 * Returns the exit status. */
static int print_part(const char *show, const struct parts *parts, const struct language *language)
{
    struct tern_arguments words = {0};
    int status = 0;

    if (strcmp(show, "command") == 0) {
        tern_arguments_append(&words, &parts->command);
    } else if (strcmp(show, "compile") == 0) {
        tern_arguments_append(&words, &parts->user);
        tern_arguments_append(&words, &parts->compile);
    } else if (strcmp(show, "link") == 0) {
        tern_arguments_append(&words, &parts->user);
        tern_arguments_append(&words, &parts->link);
    } else if (strcmp(show, "compile-info") == 0) {
        tern_arguments_append(&words, &parts->command);
        tern_arguments_append(&words, &parts->compile);
        tern_arguments_add(&words, "-c");
    } else if (strcmp(show, "link-info") == 0) {
        tern_arguments_append(&words, &parts->command);
        tern_arguments_append(&words, &parts->compile);
        tern_arguments_append(&words, &parts->link);
    } else if (strcmp(show, "incdirs") == 0) {
        print_tails(&parts->compile, "-I");
    } else if (strcmp(show, "libdirs") == 0) {
        print_tails(&parts->link, "-L");
    } else if (strcmp(show, "libs") == 0) {
        print_tails(&parts->link, "-l");
    } else if (strcmp(show, "version") == 0) {
        printf("%s: %s, compatible with Open MPI %s (Language: %s)\n", program, PACKAGE_STRING,
               TERN_OMPI_RELEASE, language->name);
    } else if (strcmp(show, "help") == 0) {
        print_help();
    } else {
        fprintf(stderr, "%s: -showme:%s is not known; -showme:help lists what is\n", program, show);
        status = 1;
    }
    if (words.count > 0) {
        tern_arguments_print(&words, stdout);
    }
    tern_arguments_free(&words);
    return status;
}

/* Prints the command, or becomes the compiler. If it returns, it returns the exit status. */
static int run(const struct request *request, const struct parts *parts,
               const struct language *language)
{
    struct tern_arguments command = {0};

    tern_arguments_append(&command, &parts->command);
    tern_arguments_append(&command, &parts->user);
    if (request->has_file || (request->show && parts->user.count == 0)) {
        tern_arguments_append(&command, &parts->compile);
        if (request->links) {
            tern_arguments_append(&command, &parts->link);
        }
    }
    int status = 0;
    if (request->show) {
        tern_arguments_print(&command, stdout);
    } else if (parts->command.count == 0) {
        fprintf(stderr, "%s: %s is set but empty; name a compiler in it or unset it\n", program,
                language->command_variable);
        status = 1;
    } else {
        execvp(command.word[0], command.word);
        fprintf(stderr, "%s: cannot run the compiler '%s': %s; install it or name another in %s\n",
                program, command.word[0], strerror(errno), language->command_variable);
        status = 1;
    }
    tern_arguments_free(&command);
    return status;
}

/* Returns true, after a message, if an option makes INTEGER 8 bytes long: all of MPI's have 4, as
 * with Open MPI. */
static bool has_long_integers(const struct tern_arguments *user)
{
    static const char *const options[] = {"-fdefault-integer-8", "-i8", "-r8i8",
                                          "-finteger-4-integer-8"};

    for (int i = 0; i < user->count; i++) {
        for (size_t j = 0; j < sizeof options / sizeof *options; j++) {
            if (strcmp(user->word[i], options[j]) == 0) {
                fprintf(stderr,
                        "%s: %s makes INTEGER 8 bytes long, but MPI's arguments have 4; declare "
                        "the program's "
                        "own integers as INTEGER(8) instead\n",
                        program, options[j]);
                return true;
            }
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    program = slash ? slash + 1 : argv[0];
    bool fortran = strstr(program, "mpif") != NULL;
    bool cxx = strstr(program, "mpicxx") || strstr(program, "mpic++") || strstr(program, "mpiCC");
    const struct language *language = fortran ? &language_fortran
                                      : cxx   ? &language_cxx
                                              : &language_c;

    if (strstr(program, "_abi")) {
        choose_interface("standard");
    }
    struct parts parts = {0};
    struct request request = read_request(argc, argv, &parts.user);
    if (request.refused) {
        return 1;
    }
    if (fortran && interface->library) {
        fprintf(stderr, "%s: the standard interface has no Fortran part yet; leave out -abi=\n",
                program);
        return 1;
    }
    if (fortran && has_long_integers(&parts.user)) {
        return 1;
    }
    add_flags(&parts, language, request.has_file && !request.show);
    int status = request.show && *request.show ? print_part(request.show, &parts, language)
                                               : run(&request, &parts, language);
    tern_arguments_free(&parts.command);
    tern_arguments_free(&parts.user);
    tern_arguments_free(&parts.compile);
    tern_arguments_free(&parts.link);
    return status;
}
