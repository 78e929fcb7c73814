/* SPDX-License-Identifier: Apache-2.0 */
/* A leaky ReLU is relu(t) - S relu(-t): where it is fitted by ReLUs, each neuron v, c, u has
 * another one -v, -c, -S u beside it, with one S for all of them. */
#include "network/noisy/leaky_pairs.h"

#include "dense/blas.h"

#include <math.h>

/* cosine of rows (v, c) that are opposite; what outputs and slopes may be off, of themselves. Noise
 * moves both. Of a network that has no such pairs two would have to be so by chance. */
static const double OPPOSITE = -.9, IN_PROPORTION = .2;
/* pairs that there must be, and one for so many neurons: weak opposites may be missing */
enum { PAIRS = 2, NEURONS_A_PAIR = 3 };

/* S of neuron i, where j is what its leak takes; else 0 */
static double slope_of(const ur_weights *w, size_t i, size_t j)
{
    size_t d = w->d, k = w->k, m = w->m;
    const double *v = w->V + i * d, *o = w->V + j * d, *u = w->U + i, *leak = w->U + j;
    double cosine = (ur_dot(d, v, o) + w->c[i] * w->c[j]) /
                    (hypot(ur_norm(d, v), w->c[i]) * hypot(ur_norm(d, o), w->c[j]));
    double own = ur_norm_steps(m, u, k), other = ur_norm_steps(m, leak, k), rest = 0;
    if (i == j || !(cosine < OPPOSITE) || !(other < own))
        return 0;
    for (size_t r = 0; r < m; r++)
        rest = hypot(rest, leak[r * k] / own + other / own * (u[r * k] / own));
    return rest <= IN_PROPORTION * other / own ? other / own : 0;
}

double ur_leaky_pairs(const ur_weights *w, size_t *pairs)
{
    double sum = 0, least = INFINITY, most = 0;
    *pairs = 0;
    for (size_t i = 0; i < w->k; i++)
        for (size_t j = 0; j < w->k; j++) {
            double slope = slope_of(w, i, j);
            if (!(slope > 0))
                continue;
            ++*pairs;
            sum += slope;
            least = fmin(least, slope);
            most = fmax(most, slope);
        }
    double mean = *pairs > 0 ? sum / (double)*pairs : 0;
    int many = *pairs >= PAIRS && NEURONS_A_PAIR * *pairs >= w->k;
    return many && most - least <= 2 * IN_PROPORTION * mean ? mean : 0;
}
