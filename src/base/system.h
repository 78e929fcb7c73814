/* SPDX-License-Identifier: Apache-2.0 */
/* What Linux does better than POSIX can, and what is done elsewhere; -DUR_POSIX_ONLY does that here
 * too. */
#ifndef UR_SYSTEM_H
#define UR_SYSTEM_H

#include <stddef.h>

/* cores that this process may use, at least 1; and all that are switched on, for systems that do
 * not tell the first */
int ur_cores(void);
int ur_cores_online(void);

/* of the clock that nobody sets, since some time */
double ur_seconds(void);

/* Bytes that an allocation of malloc and its kin takes, for those who count them; 0 where the
 * system does not tell. */
size_t ur_allocated_size(void *memory);

/* A file without a name in P_tmpdir that is gone once it is closed, not handed on to other
 * programs: its descriptor, or -1 with errno. The second has a name while it is opened. */
int ur_temporary_open(void);
int ur_temporary_open_named(void);

#endif
