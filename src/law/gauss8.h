/* SPDX-License-Identifier: Apache-2.0 */
/* Gauss-Legendre on [-1, 1] with 8 nodes: those above 0, and their weights. */
#ifndef UR_GAUSS8_H
#define UR_GAUSS8_H

static const double ur_node8[4] = {0.183434642495649805, 0.525532409916328986, 0.796666477413626740,
                                   0.960289856497536232};
static const double ur_weight8[4] = {0.362683783378361983, 0.313706645877887287,
                                     0.222381034453374471, 0.101228536290376259};

#endif
