/* SPDX-License-Identifier: Apache-2.0 */
/* OpenBLAS starts a thread for each core when it is loaded, before main, and each of them takes
 * memory of its own: 128 MB of address space and a stack. Where the process may not have that much
 * (ulimit -v, ulimit -d), they wait for it for ever, or OpenBLAS ends the program. The command
 * never uses them, so that under such a limit it starts itself again without them: here, in the
 * one place that runs before all libraries have been set up. */
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__GLIBC__)

enum { MOST_VARIABLES = 4096 };
static char one[] = "OPENBLAS_NUM_THREADS=1";

static void start_again(int argc, char **argv, char **variables)
{
    static char *changed[MOST_VARIABLES + 2], path[PATH_MAX];
    struct rlimit space, data;
    size_t count = 0;
    (void)argc;
    if (getrlimit(RLIMIT_AS, &space) != 0 || getrlimit(RLIMIT_DATA, &data) != 0 ||
        (space.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY))
        return;
    for (; variables[count]; count++) {
        if (count == MOST_VARIABLES || strcmp(variables[count], one) == 0)
            return; /* it is the second start, or somebody said so already */
        changed[count + 1] = variables[count];
    }
    changed[0] = one; /* the first of a name counts */
    if (readlink("/proc/self/exe", path, sizeof path - 1) > 0)
        execve(path, argv, changed);
}

/* before constructors; what cannot be done leaves the program as it was */
__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(int, char **, char **) = start_again;

#endif
