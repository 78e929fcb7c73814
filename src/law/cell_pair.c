/* SPDX-License-Identifier: Apache-2.0 */
/* Newton on z = atanh rho, inside a bracket of the score's sign, 3 to 5 steps. With a for u or l
 * and o^2 = 1 - rho^2, the score of a row:
 *   seen, seen    q + (a1 a2 (1 + rho^2) - rho (a1^2 + a2^2)) / o^4, q = rho / o^2
 *   seen, below   m(w) w', w = (l - rho u) / o, w' = (rho l - u) / o^3, m = phi / Phi
 *   below, below  phi2 / Phi2: a corner. Equal corners are counted together, and Phi2 is carried
 *                 from step to step by the integral of phi2 between them.
 *   above         as below, mirrored
 *   between       rectangle.c
 * The error of rho is that of sum_i (score_i - J V margin score_i) / H over rows, H and J the
 * information of rho and of rho with the margins: the spread of these terms, whatever the law. It
 * is taken at the last point of the search, whose step was below 1e-7. The terms are kept for those
 * who sum them over clusters of rows; model_rho_se is what the error would be under the model. */
#include "law/cell_pair.h"

#include "base/error.h"
#include "base/order.h"
#include "law/normal.h"
#include "law/rectangle.h"

#include <math.h>
#include <string.h>

enum { STEPS = 60 };
/* limits in deviations: Phi(-38) is about the smallest number that a double holds */
static const double FAR = 38;
/* of rho where the search starts: the bracket ends a little further out */
static const double START_MOST = 0.95;
/* Phi2 below it has lost its digits: so far below that the row says nothing */
static const double LEAST_CORNER = 1e-290;
/* of z = atanh rho: a Newton step after which the next is below rounding; a bracket that is closed
 */
static const double LAST_STEP = 1e-7, CLOSED = 1e-12;
/* Phi2 is moved by the integral of phi2 over steps of rho up to this share of what is left to +-1;
 * over longer ones the integral loses digits, and Phi2 is computed anew */
static const double MOVED_MOST = 0.25;

typedef struct {
    double l1, l2, Phi1, Phi2, count;
    double turn1, turn2; /* -1: the cell is above -l, and mirrored */
    double both;         /* Phi2(l1, l2; turned rho) at the pair's rho */
    double score;
} corner;

typedef struct {
    double n, s1, s2, s11, s12, s22; /* sums over rows where both are seen */
    double start;                    /* correlation of what is expected */
    double rho;                      /* where m and the corners were evaluated last */
    size_t mixeds, corners, corner_rows, ranges;
    double *u, *l, *g, *m;          /* mixeds: one seen at u, the other below l; -w, m(w) */
    size_t *mixed_row;              /* mixeds */
    size_t *corner_row, *corner_of; /* corner_rows */
    size_t *table;                  /* of corners by both levels, plus one */
    size_t *range_row;              /* ranges: rows with a cell between two ends */
    double *score;                  /* n: of each row but those where both are seen */
    corner *corner;
} pair;

/* doubles and sizes of a row in the room of a pair */
enum { ROOM = 5 + 5 + sizeof(corner) / sizeof(double) };

/* ---- a column ---- */

/* of the different limits of one side, after those that have one */
static void set_levels(ur_cell_column *c, unsigned char side, ur_keyed *limit, ur_keyed *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->state[i] == side)
            limit[count++] = (ur_keyed){c->a[i], i};
    ur_sort_keyed(limit, scratch, count);
    for (size_t i = 0; i < count; i++) {
        c->levels += i == 0 || limit[i].key != limit[i - 1].key;
        c->level[limit[i].at] = c->levels - 1;
    }
}

unrelu_status ur_cell_column_open(ur_arena *arena, size_t n, const double *x, const double *upper,
                                  const unsigned char *state, ur_cell_column *out,
                                  unrelu_error *err)
{
    UR_ARENA(own);
    ur_keyed *limit = ur_take(&own, n, sizeof *limit), *scratch = ur_take(&own, n, sizeof *scratch);
    unsigned char *kinds = ur_take(arena, n, 1);
    *out = (ur_cell_column){.n = n, .state = kinds};
    double **const arrays[] = {&out->a, &out->expected, &out->below, &out->b_by, &out->s_by};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ur_take(arena, n, sizeof(double));
    out->level = ur_take(arena, n, sizeof *out->level);
    out->width = upper ? ur_take(arena, n, sizeof *out->width) : NULL;
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_cell_margin_fit(n, x, upper, state, &out->margin, err));
    const double *V = out->margin.V, b = out->margin.margin.b, s = out->margin.margin.s;
    for (size_t i = 0; i < n; i++)
        kinds[i] = ur_cell_at(x, upper, state, i).state;
    if (!(s > 0))
        return UNRELU_OK;
    for (size_t i = 0; i < n; i++) {
        ur_cell c = ur_cell_at(x, upper, state, i);
        out->a[i] = c.state == UR_MISSING ? 0 : (c.at - b) / s;
        if (upper)
            out->width[i] = c.width / s;
        out->expected[i] = c.state == UR_ABOVE ? out->a[i] : -out->a[i];
    }
    ur_normal_hazards(n, out->expected, out->below);
    for (size_t i = 0; i < n; i++) {
        double a = out->a[i], side = kinds[i] == UR_ABOVE ? 1 : -1, by_width = 0;
        int limited = kinds[i] == UR_BELOW || kinds[i] == UR_ABOVE;
        out->expected[i] = limited ? side * out->below[i] : a;
        out->below[i] = limited ? ur_normal_cdf(-side * a) : 0;
        if (kinds[i] == UR_BETWEEN) {
            ur_interval f = ur_interval_at((ur_hidden){0, a, out->width[i]});
            out->expected[i] = -f.by_m;
            by_width = f.by_w;
        }
        double by_b = out->expected[i] / s;
        double by_s = (a * out->expected[i] - (kinds[i] == UR_SEEN) - by_width) / s;
        out->b_by[i] = V[0] * by_b + V[1] * by_s;
        out->s_by[i] = V[1] * by_b + V[2] * by_s;
    }
    set_levels(out, UR_BELOW, limit, scratch);
    set_levels(out, UR_ABOVE, limit, scratch);
    return UNRELU_OK;
}

/* ---- rows by their kind ---- */

static double clamp(double x, double most)
{
    return fmax(-most, fmin(most, x));
}

/* Above l is below -l of the mirrored coordinate. Where one of two is mirrored, so is rho; where
 * one is seen, both are mirrored, and rho stays. */
static double turn_of(unsigned char state)
{
    return state == UR_ABOVE ? -1 : 1;
}

static void add_corner(pair *p, const ur_cell_column *c1, const ur_cell_column *c2, size_t i,
                       int tabled)
{
    size_t *at = tabled ? &p->table[c1->level[i] * c2->levels + c2->level[i]] : NULL;
    double turn1 = turn_of(c1->state[i]), turn2 = turn_of(c2->state[i]);
    if (!at || !*at) {
        p->corner[p->corners++] = (corner){
            .turn1 = turn1,
            .turn2 = turn2,
            .l1 = turn1 * clamp(c1->a[i], FAR),
            .l2 = turn2 * clamp(c2->a[i], FAR),
            .Phi1 = c1->below[i],
            .Phi2 = c2->below[i],
        };
        if (at)
            *at = p->corners;
    }
    size_t which = at ? *at - 1 : p->corners - 1;
    p->corner[which].count++;
    p->corner_row[p->corner_rows] = i;
    p->corner_of[p->corner_rows++] = which;
}

static void gather(const ur_cell_column *c1, const ur_cell_column *c2, pair *p)
{
    double t11 = 0, t12 = 0, t22 = 0;
    int tabled = c2->levels > 0 && c1->levels <= c1->n / c2->levels;
    if (tabled)
        memset(p->table, 0, c1->levels * c2->levels * sizeof *p->table);
    for (size_t i = 0; i < c1->n; i++) {
        unsigned char state1 = c1->state[i], state2 = c2->state[i];
        double a1 = c1->a[i], a2 = c2->a[i], e1 = c1->expected[i], e2 = c2->expected[i];
        p->score[i] = 0;
        if (state1 == UR_MISSING || state2 == UR_MISSING)
            continue;
        t11 += e1 * e1;
        t12 += e1 * e2;
        t22 += e2 * e2;
        if (state1 == UR_SEEN && state2 == UR_SEEN) {
            p->n++;
            p->s1 += a1;
            p->s2 += a2;
            p->s11 += a1 * a1;
            p->s12 += a1 * a2;
            p->s22 += a2 * a2;
        } else if (state1 == UR_BETWEEN || state2 == UR_BETWEEN) {
            p->range_row[p->ranges++] = i;
        } else if (state1 != UR_SEEN && state2 != UR_SEEN) {
            add_corner(p, c1, c2, i, tabled);
        } else {
            double turn = turn_of(state1 == UR_SEEN ? state2 : state1);
            p->u[p->mixeds] = turn * (state1 == UR_SEEN ? a1 : a2);
            p->l[p->mixeds] = turn * (state1 == UR_SEEN ? a2 : a1);
            p->mixed_row[p->mixeds++] = i;
        }
    }
    double size = sqrt(t11 * t22);
    p->start = size > 0 ? clamp(t12 / size, START_MOST) : 0;
}

/* ---- score and information of rho ---- */

typedef struct {
    double score, information;
} slope;

static slope sum_seen(const pair *p, double r, double o2)
{
    double o4 = o2 * o2, squares = p->s11 + p->s22, top = p->s12 * (1 + r * r) - r * squares;
    return (slope){
        p->n * r / o2 + top / o4,
        -(p->n * (1 + r * r) + 2 * r * p->s12 - squares + 4 * r * top / o2) / o4,
    };
}

static slope sum_mixed(pair *p, double r, double o2)
{
    slope sum = {0, 0};
    double o = sqrt(o2), inverse = 1 / o, cube = 1 / (o * o2), turn = 3 * r / o2;
    for (size_t i = 0; i < p->mixeds; i++)
        p->g[i] = (r * p->u[i] - p->l[i]) * inverse;
    ur_normal_hazards(p->mixeds, p->g, p->m);
    for (size_t i = 0; i < p->mixeds; i++) {
        double l = p->l[i], m = p->m[i], moved = (r * l - p->u[i]) * cube;
        sum.score += m * moved;
        sum.information += m * ((m - p->g[i]) * moved * moved - l * cube - turn * moved);
    }
    return sum;
}

/* known: both is that of p->rho */
static slope sum_corners(pair *p, double r, double o2, int known)
{
    slope sum = {0, 0};
    double inverse = 1 / o2, density = 1 / (2 * M_PI * sqrt(o2));
    int moved = known && fabs(r - p->rho) <= MOVED_MOST * (1 - fmax(fabs(p->rho), fabs(r)));
    for (size_t i = 0; i < p->corners; i++) {
        corner *c = &p->corner[i];
        double squares = c->l1 * c->l1 + c->l2 * c->l2, product = c->l1 * c->l2;
        double turn = c->turn1 * c->turn2, rho = turn * r, q = rho / o2;
        c->both = moved ? c->both + ur_bivariate_move(c->l1, c->l2, turn * p->rho, rho)
                        : ur_bivariate_at(c->l1, c->l2, c->Phi1, c->Phi2, rho);
        c->both = fmax(0, fmin(c->both, fmin(c->Phi1, c->Phi2)));
        c->score = 0;
        if (!(c->both > LEAST_CORNER))
            continue;
        double share = density * exp((rho * product - squares / 2) * inverse) / c->both;
        double top = (product * (1 + r * r) - rho * squares) * inverse * inverse;
        c->score = turn * share;
        sum.score += c->count * c->score;
        sum.information += c->count * share * (share - q - top);
    }
    return sum;
}

static void range_at(const ur_cell_column *c1, const ur_cell_column *c2, size_t i, double rho,
                     ur_rectangle *out)
{
    const ur_cell_column *c[2] = {c1, c2};
    ur_hidden cell[2];
    int seen[2];
    for (int k = 0; k < 2; k++) {
        unsigned char state = c[k]->state[i];
        seen[k] = state == UR_SEEN;
        cell[k] = (ur_hidden){state == UR_BELOW   ? -1
                              : state == UR_ABOVE ? 1
                                                  : 0,
                              c[k]->a[i], state == UR_BETWEEN ? c[k]->width[i] : 0};
    }
    ur_rectangle_at(cell, seen, rho, out);
}

static slope sum_ranges(const pair *p, const ur_cell_column *c1, const ur_cell_column *c2, double r)
{
    slope sum = {0, 0};
    for (size_t i = 0; i < p->ranges; i++) {
        ur_rectangle at;
        range_at(c1, c2, p->range_row[i], r, &at);
        sum.score += at.by_r;
        sum.information -= at.by_rr;
    }
    return sum;
}

static double solve(pair *p, const ur_cell_column *c1, const ur_cell_column *c2, ur_pair *out,
                    double *information)
{
    double most = atanh(UR_PAIR_LIMIT), low = -most, high = most, z = atanh(p->start);
    for (out->evaluations = 1; out->evaluations <= STEPS; out->evaluations++) {
        double r = tanh(z), o2 = (1 - r) * (1 + r);
        slope seen = sum_seen(p, r, o2), mixed = sum_mixed(p, r, o2),
              corners = sum_corners(p, r, o2, out->evaluations > 1),
              ranges = sum_ranges(p, c1, c2, r);
        slope at = {seen.score + mixed.score + corners.score + ranges.score,
                    seen.information + mixed.information + corners.information +
                        ranges.information};
        p->rho = r;
        *information = at.information;
        if (at.score > 0)
            low = z;
        else
            high = z;
        double curve = (at.information * o2 + 2 * r * at.score) * o2;
        double next = z + at.score * o2 / curve;
        /* the step after it would be below rounding */
        if ((curve > 0 && fabs(next - z) <= LAST_STEP) || high - low < CLOSED) {
            out->converged = 1;
            z = fmax(low, fmin(high, next));
            break;
        }
        z = curve > 0 && next > low && next < high ? next : (low + high) / 2;
    }
    return clamp(tanh(z), UR_PAIR_LIMIT);
}

/* ---- errors: J[k] is of rho with b and with s of margin k ---- */

static void add_slopes(double J[2][2], double by_1, double by_2, double a1, double a2, double count)
{
    J[0][0] += count * by_1;
    J[0][1] += count * by_1 * a1;
    J[1][0] += count * by_2;
    J[1][1] += count * by_2 * a2;
}

static void add_mixed(const pair *p, const ur_cell_column *c1, const ur_cell_column *c2,
                      double J[2][2])
{
    double r = p->rho, o2 = (1 - r) * (1 + r), o = sqrt(o2), o3 = o * o2;
    for (size_t i = 0; i < p->mixeds; i++) {
        double u = p->u[i], l = p->l[i], m = p->m[i], moved = (r * l - u) / o3;
        double bent = m * (p->g[i] - m), by_u = -bent * moved * r / o - m / o3;
        double by_l = bent * moved / o + m * r / o3;
        int first = c1->state[p->mixed_row[i]] == UR_SEEN;
        double turn = turn_of((first ? c2 : c1)->state[p->mixed_row[i]]);
        if (first)
            add_slopes(J, turn * by_u, turn * by_l, turn * u, turn * l, 1);
        else
            add_slopes(J, turn * by_l, turn * by_u, turn * l, turn * u, 1);
        p->score[p->mixed_row[i]] = m * moved;
    }
}

static void add_corners(const pair *p, double J[2][2])
{
    double o = sqrt((1 - p->rho) * (1 + p->rho));
    for (size_t i = 0; i < p->corners; i++) {
        const corner *c = &p->corner[i];
        double r = c->turn1 * c->turn2 * p->rho, l1 = c->l1, l2 = c->l2;
        double w1 = (l1 - r * l2) / o, w2 = (l2 - r * l1) / o;
        if (c->score == 0)
            continue;
        double e1 = ur_normal_pdf(l1) * ur_normal_cdf(w2) / c->both;
        double e2 = ur_normal_pdf(l2) * ur_normal_cdf(w1) / c->both;
        add_slopes(J, -c->turn1 * c->score * (w1 / o + e1), -c->turn2 * c->score * (w2 / o + e2),
                   c->turn1 * l1, c->turn2 * l2, c->count);
    }
    for (size_t i = 0; i < p->corner_rows; i++)
        p->score[p->corner_row[i]] = p->corner[p->corner_of[i]].score;
}

static void add_ranges(const pair *p, const ur_cell_column *c1, const ur_cell_column *c2,
                       double J[2][2])
{
    for (size_t i = 0; i < p->ranges; i++) {
        ur_rectangle at;
        range_at(c1, c2, p->range_row[i], p->rho, &at);
        for (int k = 0; k < 4; k++)
            J[k / 2][k % 2] += at.by_r_of[k / 2][k % 2];
        p->score[p->range_row[i]] = at.by_r;
    }
}

/* As if the model were right: the score of rho has variance H then and nothing to do with either
 * margin's, so that Var(rho) = 1 / H + a' M a, a = -J / H and M the covariance of (b1, s1, b2, s2):
 * the inverse informations of the margins, and between them the sum over rows. */
static void set_model_errors(const ur_cell_column *c1, const ur_cell_column *c2, double rho,
                             const double J[2][2], double H, ur_pair *out)
{
    const double *V[2] = {c1->margin.V, c2->margin.V};
    double s[2] = {c1->margin.margin.s, c2->margin.margin.s}, M[4][4] = {{0}}, variance[2];
    for (size_t i = 0; i < c1->n; i++) {
        M[0][2] += c1->b_by[i] * c2->b_by[i];
        M[0][3] += c1->b_by[i] * c2->s_by[i];
        M[1][2] += c1->s_by[i] * c2->b_by[i];
        M[1][3] += c1->s_by[i] * c2->s_by[i];
    }
    for (int k = 0; k < 4; k++) {
        M[k][k] = V[k / 2][k % 2 ? 2 : 0];
        M[k][k ^ 1] = V[k / 2][1];
        M[2 + k / 2][k % 2] = M[k % 2][2 + k / 2];
    }
    for (int product = 0; product < 2; product++) {
        double a[4];
        variance[product] = 1 / H;
        for (int k = 0; k < 4; k++)
            a[k] = -J[k / 2][k % 2] / H + (product && k % 2 ? rho / s[k / 2] : 0);
        for (int k = 0; k < 16; k++)
            variance[product] += a[k / 4] * M[k / 4][k % 4] * a[k % 4];
    }
    out->model_rho_se = H > 0 ? sqrt(variance[0]) : NAN;
    out->model_product_se = H > 0 ? sqrt(variance[1]) : NAN;
}

/* a row where one is missing tells of the other's margin alone */
static void set_errors(pair *p, const ur_cell_column *c1, const ur_cell_column *c2, double H,
                       ur_pair *out)
{
    double r = p->rho, o2 = (1 - r) * (1 + r), o4 = o2 * o2, q = 1 + r * r;
    double s1 = c1->margin.margin.s, s2 = c2->margin.margin.s, variance = 0, product = 0;
    double J[2][2] = {{(q * p->s2 - 2 * r * p->s1) / o4, (q * p->s12 - 2 * r * p->s11) / o4},
                      {(q * p->s1 - 2 * r * p->s2) / o4, (q * p->s12 - 2 * r * p->s22) / o4}};
    add_mixed(p, c1, c2, J);
    add_corners(p, J);
    add_ranges(p, c1, c2, J);
    for (int k = 0; k < 2; k++) {
        J[0][k] /= s1;
        J[1][k] /= s2;
    }
    for (size_t i = 0; i < c1->n; i++) {
        double a1 = c1->a[i], a2 = c2->a[i], score = p->score[i];
        if (c1->state[i] == UR_SEEN && c2->state[i] == UR_SEEN)
            score = r / o2 + (a1 * a2 * q - r * (a1 * a1 + a2 * a2)) / o4;
        double moved = (score - J[0][0] * c1->b_by[i] - J[0][1] * c1->s_by[i] -
                        J[1][0] * c2->b_by[i] - J[1][1] * c2->s_by[i]) /
                       H;
        double scaled = moved + r * (c1->s_by[i] / s1 + c2->s_by[i] / s2);
        variance += moved * moved;
        product += scaled * scaled;
        p->score[i] = moved;
    }
    out->by_row = p->score;
    set_model_errors(c1, c2, r, J, H, out);
    out->rho_se = H > 0 ? sqrt(variance) : NAN;
    out->product_se = H > 0 ? sqrt(product) : NAN;
}

/* ---- a pair ---- */

double *ur_cell_pair_room(ur_arena *arena, size_t n)
{
    return ur_take(arena, n, ROOM * sizeof(double));
}

void ur_cell_pair_fit(const ur_cell_column *c1, const ur_cell_column *c2, double *room,
                      ur_pair *out)
{
    size_t n = c1->n, *rows = (size_t *)(room + 5 * n);
    pair p = {.u = room,
              .l = room + n,
              .g = room + 2 * n,
              .m = room + 3 * n,
              .score = room + 4 * n,
              .mixed_row = rows,
              .corner_row = rows + n,
              .corner_of = rows + 2 * n,
              .table = rows + 3 * n,
              .range_row = rows + 4 * n,
              .corner = (corner *)(rows + 5 * n)};
    double information = 0;
    *out =
        (ur_pair){.rho_se = NAN, .product_se = NAN, .model_rho_se = NAN, .model_product_se = NAN};
    if (!(c1->margin.margin.s > 0) || !(c2->margin.margin.s > 0))
        return;
    gather(c1, c2, &p);
    if (p.n + (double)(p.mixeds + p.corner_rows + p.ranges) == 0)
        return;
    out->start = p.start;
    out->rho = solve(&p, c1, c2, out, &information);
    set_errors(&p, c1, c2, information, out);
}
