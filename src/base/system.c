/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system.h"

#include <fcntl.h>
#include <limits.h>
#if defined(__linux__)
#include <malloc.h>
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int ur_cores_online(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online <= INT_MAX ? (int)online : 1;
}

int ur_cores(void)
{
#if defined(CPU_COUNT) && !defined(UR_POSIX_ONLY)
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        return CPU_COUNT(&cpus);
#endif
    return ur_cores_online();
}

double ur_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t ur_allocated_size(void *memory)
{
#if defined(__linux__) && !defined(UR_POSIX_ONLY)
    return malloc_usable_size(memory);
#else
    (void)memory;
    return 0;
#endif
}

int ur_temporary_open_named(void)
{
    char name[] = P_tmpdir "/unrelu-XXXXXX";
    int fd = mkstemp(name);
    if (fd >= 0) {
        unlink(name);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
}

int ur_temporary_open(void)
{
#if defined(O_TMPFILE) && !defined(UR_POSIX_ONLY)
    int fd = open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) /* not every file system can */
        return fd;
#endif
    return ur_temporary_open_named();
}
