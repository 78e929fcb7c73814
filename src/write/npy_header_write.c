/* SPDX-License-Identifier: Apache-2.0 */
#include "write/npy_header_write.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { PREFIX = 10, ALIGNMENT = 64 };

size_t ur_npy_header(char out[UR_NPY_HEADER_MOST], const char *descr, size_t ndim,
                     const size_t *shape)
{
    size_t room = UR_NPY_HEADER_MOST - ALIGNMENT, used = PREFIX;
    assert(ndim <= 4 && strlen(descr) < 32);
    used += (size_t)snprintf(out + used, room - used,
                             "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t k = 0; k < ndim; k++)
        used += (size_t)snprintf(out + used, room - used, "%s%zu", k ? ", " : "", shape[k]);
    used += (size_t)snprintf(out + used, room - used, "%s), }", ndim == 1 ? "," : "");
    size_t total = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(out + used, ' ', total - used - 1);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (char)((total - PREFIX) & 0xff);
    out[9] = (char)((total - PREFIX) >> 8);
    return total;
}
