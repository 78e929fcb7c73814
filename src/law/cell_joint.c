/* SPDX-License-Identifier: Apache-2.0 */
/* With o^2 = 1 - rho^2 and a in deviations: two values phi(a1) phi((a2 - rho a1) / o) / o, a value
 * and a limit phi(a1) Phi((a2 - rho a1) / o), two limits Phi2; intervals by rectangle.c. */
#include "law/cell_joint.h"

#include "law/bivariate.h"
#include "law/normal.h"
#include "law/rectangle.h"

#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178

static ur_hidden hidden_of(const ur_cell_column *c, size_t i)
{
    unsigned char state = c->state[i];
    int side = state == UR_BELOW ? -1 : state == UR_ABOVE ? 1 : 0;
    return (ur_hidden){side, c->a[i], state == UR_BETWEEN ? c->width[i] : 0};
}

static double log_density(double a, double scale)
{
    return -LOG_SQRT_2PI - a * a / 2 - log(scale);
}

static double of_one(const ur_cell_column *c, size_t i)
{
    if (c->state[i] == UR_MISSING)
        return 0;
    if (c->state[i] == UR_SEEN)
        return log_density(c->a[i], c->margin.margin.s);
    return ur_interval_at(hidden_of(c, i)).log_p;
}

static double of_two_limits(ur_hidden one, ur_hidden two, double rho)
{
    return log(
        ur_bivariate_normal(-one.side * one.at, -two.side * two.at, one.side * two.side * rho));
}

/* the second, given the value of the first */
static double of_other(const ur_cell_column *seen, const ur_cell_column *other, size_t i,
                       double rho)
{
    double o = sqrt((1 - rho) * (1 + rho)), at = (other->a[i] - rho * seen->a[i]) / o;
    if (other->state[i] == UR_SEEN)
        return log_density(at, o * other->margin.margin.s);
    ur_hidden cell = hidden_of(other, i);
    return ur_interval_at((ur_hidden){cell.side, at, cell.width / o}).log_p;
}

static double of_row(const ur_cell_column *c1, const ur_cell_column *c2, size_t i, double rho)
{
    unsigned char first = c1->state[i], second = c2->state[i];
    if (first == UR_MISSING || second == UR_MISSING)
        return of_one(c1, i) + of_one(c2, i);
    if (first == UR_SEEN)
        return of_one(c1, i) + of_other(c1, c2, i, rho);
    if (second == UR_SEEN)
        return of_one(c2, i) + of_other(c2, c1, i, rho);
    ur_hidden cell[2] = {hidden_of(c1, i), hidden_of(c2, i)};
    if (cell[0].side != 0 && cell[1].side != 0)
        return of_two_limits(cell[0], cell[1], rho);
    ur_rectangle at;
    ur_rectangle_at(cell, (const int[]){0, 0}, rho, &at);
    return at.log_p;
}

double ur_cell_joint_likelihood(const ur_cell_column *c1, const ur_cell_column *c2, double rho)
{
    double sum = 0;
    if (!(c1->margin.margin.s > 0) || !(c2->margin.margin.s > 0))
        return NAN;
    for (size_t i = 0; i < c1->n; i++)
        sum += of_row(c1, c2, i, rho);
    return sum;
}
