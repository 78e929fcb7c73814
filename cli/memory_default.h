/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MEMORY_DEFAULT_H
#define CLI_MEMORY_DEFAULT_H

#include <stddef.h>

/* Bytes for --max-memory where nothing is said: three quarters of what the machine has, or of what
 * the control group of this process may have (containers, batch systems); 0 where neither is known.
 */
size_t cli_memory_default(void);

/* The smallest limit of the control group that a file as /proc/self/cgroup names, and of those
 * above it, with files below `root` (/sys/fs/cgroup); SIZE_MAX: none. */
size_t cli_memory_of_group(const char *cgroup, const char *root);

#endif
