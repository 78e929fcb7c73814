/* SPDX-License-Identifier: Apache-2.0 */
/* OpenBLAS starts a thread for each core when it is set up, before main. The command never uses
 * them; they spin for up to 16 ms of CPU time, more than a small fit takes, and each takes memory
 * of its own: 128 MB of address space and a stack. Where the process may not have that much (ulimit
 * -v, ulimit -d), they wait for it for ever, or OpenBLAS ends the program. A variable tells it to
 * have none. It is put into the environment here, in the one place that runs before all libraries
 * are set up: in the place of another, which is given back in main. Where there is none to take the
 * place of, and memory is limited, the command starts itself again with one more. */
#include "one_blas_thread.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char **place, *before; /* whose place it took */

void cli_variables_restore(void)
{
    if (place)
        *place = before;
    place = NULL;
}

#if defined(__GLIBC__)

enum { MOST_VARIABLES = 4096 };
static char one[] = "OPENBLAS_NUM_THREADS=1";

static int is_limited(void)
{
    struct rlimit space, data;
    return getrlimit(RLIMIT_AS, &space) == 0 && getrlimit(RLIMIT_DATA, &data) == 0 &&
           (space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY);
}

/* OpenBLAS's own first, for the first of a name counts; then what shells set for people, and no
 * library reads while it is set up */
static void take_place(char **variables)
{
    static const char *const names[] = {"OPENBLAS_NUM_THREADS=", "_=", "OLDPWD=", "SHLVL=", "PWD="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (char **v = variables; *v; v++)
            if (strncmp(*v, names[i], strlen(names[i])) == 0) {
                place = v;
                before = *v;
                *v = one;
                return;
            }
}

static void start_again(char **argv, char **variables)
{
    static char *changed[MOST_VARIABLES + 2], path[PATH_MAX];
    size_t count = 0;
    for (; variables[count]; count++) {
        if (count == MOST_VARIABLES)
            return;
        changed[count + 1] = variables[count];
    }
    changed[0] = one;
    if (readlink("/proc/self/exe", path, sizeof path - 1) > 0)
        execve(path, argv, changed);
}

static void prepare(int argc, char **argv, char **variables)
{
    (void)argc;
    take_place(variables);
    if (!place && is_limited())
        start_again(argv, variables);
}

/* before constructors; what cannot be done leaves the program as it was */
__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(int, char **, char **) = prepare;

#endif
