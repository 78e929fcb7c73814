/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UR_HAZARD_H
#define UR_HAZARD_H

#include <stddef.h>

/* out[i] = ur_normal_hazard(g[i]) for all i < n, relative error below 1e-14 where g > -37 (out may
 * be g); several times faster than one by one. Above 1e300 it is 1e300. */
void ur_normal_hazards(size_t n, const double *g, double *out);

#endif
