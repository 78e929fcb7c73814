/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_default.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* the number in a file; SIZE_MAX: there is none, or no limit ("max", or a number near 2^63) */
static size_t read_limit(const char *path)
{
    char text[64] = "", *end;
    FILE *file = fopen(path, "re");
    if (!file)
        return SIZE_MAX;
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    unsigned long long bytes = strtoull(text, &end, 10);
    return end == text || bytes >= (1ULL << 62) ? SIZE_MAX : (size_t)bytes;
}

/* of the group of this path and of all above it */
static size_t smallest(const char *root, const char *controller, const char *group,
                       const char *file)
{
    char path[PATH_MAX], name[PATH_MAX];
    size_t least = SIZE_MAX;
    snprintf(name, sizeof name, "%s", group);
    for (char *slash = name + strlen(name); slash; slash = strrchr(name, '/')) {
        *slash = '\0';
        if (snprintf(path, sizeof path, "%s%s%s/%s", root, controller, name, file) <
            (int)sizeof path) {
            size_t bytes = read_limit(path);
            least = bytes < least ? bytes : least;
        }
    }
    return least;
}

/* lines are ID:CONTROLLERS:GROUP; without controllers the group is of version 2 */
size_t cli_memory_of_group(const char *cgroup, const char *root)
{
    char line[PATH_MAX];
    size_t least = SIZE_MAX;
    FILE *file = fopen(cgroup, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *group = NULL;
        line[strcspn(line, "\n")] = '\0';
        if (controllers)
            group = strchr(++controllers, ':');
        if (!group)
            continue;
        *group++ = '\0';
        size_t bytes = !*controllers ? smallest(root, "", group, "memory.max")
                       : strstr(controllers, "memory")
                           ? smallest(root, "/memory", group, "memory.limit_in_bytes")
                           : SIZE_MAX;
        least = bytes < least ? bytes : least;
    }
    if (file)
        fclose(file);
    return least;
}

size_t cli_memory_default(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t machine = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX;
    size_t group = cli_memory_of_group("/proc/self/cgroup", "/sys/fs/cgroup");
    size_t least = machine < group ? machine : group;
    return least == SIZE_MAX ? 0 : least / 4 * 3;
}
