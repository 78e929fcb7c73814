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
#include "law/pair_sums.h"
#include "law/rectangle.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { STEPS = 60 };
/* limits in deviations: Phi(-38) is about the smallest number that a double holds */
static const double FAR = 38;
/* of rho where the search starts: the bracket ends a little further out; it is found to 1e-4, which
 * is nothing beside its error */
static const double START_MOST = 0.95;
enum { START_HALVINGS = 14 };
/* Phi2 below it has lost its digits: so far below that the row says nothing */
static const double LEAST_CORNER = 1e-290;
/* A corner against which rho speaks is the difference of Phi1 Phi2 and an integral: of a share
 * below this, where 12 digits are left, it is summed anew without a difference. Such a row says
 * most. */
static const double AGAINST = 1e-4;
/* of z = atanh rho: a Newton step after which the next is below rounding; a bracket that is closed
 */
static const double LAST_STEP = 1e-7, CLOSED = 1e-12;
/* of the score of z: the likelihood is flat, as where it rises up to rho = -1 and rounding alone is
 * left of its slope long before; where rows tell of rho a Newton step is below LAST_STEP then */
static const double FLAT = 1e-7;
/* Phi2 is moved by the integral of phi2 over steps of rho up to this share of what is left to +-1;
 * over longer ones the integral loses digits, and Phi2 is computed anew */
static const double MOVED_MOST = 0.25;

typedef struct {
    double l1, l2, Phi1, Phi2, count;
    double turn1, turn2; /* -1: the cell is above -l, and mirrored */
    double both;         /* Phi2(l1, l2; turned rho) at the pair's rho */
    double score;
    int against; /* both is too small for a difference: AGAINST */
} corner;

/* What a row says of rho, by the states of its two cells. MIXED are those where one is seen: the
 * first or the second, and the other below its limit or above. */
enum {
    FIRST_BELOW,
    FIRST_ABOVE,
    SECOND_BELOW,
    SECOND_ABOVE,
    MIXED,
    BOTH = MIXED, /* are seen */
    CORNER,
    RANGE, /* one of them is between two ends */
    NOTHING,
    KINDS
};

typedef struct {
    double s1, s2, s11, s12, s22; /* sums over rows where both are seen */
    double start;                 /* where the search for rho begins */
    double rho;                   /* where m and the corners were evaluated last */
    size_t count[KINDS];
    uint32_t *row[KINDS]; /* of each kind */
    size_t mixeds, corners;
    /* mixeds, kind after kind: one seen at u, the other below l, mirrored where it is above; -w,
     * m(w). After them u and l hold the values of rows where both are seen. */
    double *u, *l, *g, *m;
    uint32_t *corner_of; /* of each row of corners */
    size_t *table;       /* of corners by both levels, plus one */
    double *score;       /* n: of each row */
    corner *corner;
} pair;

/* doubles and sizes of a row in the room of a pair */
enum { ROOM = 5 + KINDS + 2 + sizeof(corner) / sizeof(double) };

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

/* The mean of He_k over what a cell leaves open below or above a is expected times He_k-1(a). */
static void set_series(ur_cell_column *c)
{
    double sum[UR_CELL_SERIES] = {0}, rows = 0, norm = 1;
    for (size_t i = 0; i < c->n; i++) {
        double e = c->expected[i], a = c->a[i], last = 1, polynomial = a;
        int limited = c->state[i] == UR_BELOW || c->state[i] == UR_ABOVE;
        rows += c->state[i] != UR_MISSING;
        for (int k = 0; k < UR_CELL_SERIES; k++) { /* He_k and He_k+1 */
            sum[k] += e * (limited ? e * last : polynomial);
            double next = a * polynomial - (k + 1) * last;
            last = polynomial;
            polynomial = next;
        }
    }
    for (int k = 0; k < UR_CELL_SERIES; k++) {
        norm *= k + 1;
        c->series[k] = sum[k] / (fmax(rows, 1) * sqrt(norm));
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
    out->square = ur_sum_products(n, out->expected, out->expected);
    set_series(out);
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

static unsigned char kind_of(unsigned char first, unsigned char second)
{
    if (first == UR_MISSING || second == UR_MISSING)
        return NOTHING;
    if (first == UR_SEEN && second == UR_SEEN)
        return BOTH;
    if (first == UR_BETWEEN || second == UR_BETWEEN)
        return RANGE;
    if (first == UR_SEEN)
        return second == UR_BELOW ? FIRST_BELOW : FIRST_ABOVE;
    if (second == UR_SEEN)
        return first == UR_BELOW ? SECOND_BELOW : SECOND_ABOVE;
    return CORNER;
}

/* the rows of each kind; without branches, which nothing could foresee */
static void set_kinds(const ur_cell_column *c1, const ur_cell_column *c2, pair *p)
{
    enum { STATES = UR_BETWEEN + 1 };
    unsigned char kind[STATES * STATES];
    size_t count[KINDS] = {0};
    for (unsigned char k = 0; k < STATES * STATES; k++)
        kind[k] = kind_of(k / STATES, k % STATES);
    for (size_t i = 0; i < c1->n; i++) {
        size_t k = kind[c1->state[i] * STATES + c2->state[i]];
        p->row[k][count[k]++] = (uint32_t)i;
    }
    memcpy(p->count, count, sizeof count);
}

/* equal corners are one */
static void set_corners(pair *p, const ur_cell_column *c1, const ur_cell_column *c2)
{
    int tabled = c2->levels > 0 && c1->levels <= c1->n / c2->levels;
    if (tabled)
        memset(p->table, 0, c1->levels * c2->levels * sizeof *p->table);
    for (size_t k = 0; k < p->count[CORNER]; k++) {
        size_t i = p->row[CORNER][k];
        if (k > 0 && c1->levels * c2->levels == 1) { /* all are one */
            p->corner[0].count = (double)p->count[CORNER];
            memset(p->corner_of, 0, p->count[CORNER] * sizeof *p->corner_of);
            break;
        }
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
        p->corner_of[k] = (uint32_t)which;
    }
}

static double turn_of_kind(int kind)
{
    return kind == FIRST_ABOVE || kind == SECOND_ABOVE ? -1 : 1;
}

/* the values of rows of a kind, from place `at` on */
static void set_values(pair *p, const ur_cell_column *u, const ur_cell_column *l, int kind,
                       size_t at)
{
    double turn = turn_of_kind(kind);
    for (size_t k = 0; k < p->count[kind]; k++) {
        p->u[at + k] = turn * u->a[p->row[kind][k]];
        p->l[at + k] = turn * l->a[p->row[kind][k]];
    }
}

/* The mean product of what is expected of two normals of correlation r is sum_k c_k d_k r^k, by the
 * series c and d of both (Mehler): r where that is what the rows have. */
static double solve_series(const ur_cell_column *c1, const ur_cell_column *c2, double mean)
{
    double low = -START_MOST, high = START_MOST;
    for (int halving = 0; halving < START_HALVINGS; halving++) {
        double r = (low + high) / 2, sum = 0;
        for (int k = UR_CELL_SERIES; k-- > 0;)
            sum = (sum + c1->series[k] * c2->series[k]) * r;
        *(sum < mean ? &low : &high) = r;
    }
    return (low + high) / 2;
}

/* Where no row shows both the likelihood may rise all the way to a bound, and the search begins at
 * the correlation of what is expected, which is nearer to 0. Of a row where one is missing the
 * other is left out; the one is 0 there. */
static void set_start(const ur_cell_column *c1, const ur_cell_column *c2, pair *p)
{
    double t11 = c1->square, t22 = c2->square;
    double t12 = ur_sum_products(c1->n, c1->expected, c2->expected);
    for (size_t k = 0; k < p->count[NOTHING]; k++) {
        double e1 = c1->expected[p->row[NOTHING][k]], e2 = c2->expected[p->row[NOTHING][k]];
        t11 -= e1 * e1;
        t22 -= e2 * e2;
    }
    double size = sqrt(fmax(0, t11) * fmax(0, t22));
    p->start = size > 0 ? clamp(t12 / size, START_MOST) : 0;
    if (p->count[BOTH] > 0)
        p->start = solve_series(c1, c2, t12 / (double)(c1->n - p->count[NOTHING]));
}

static void gather(const ur_cell_column *c1, const ur_cell_column *c2, pair *p)
{
    double sum[5];
    set_kinds(c1, c2, p);
    set_corners(p, c1, c2);
    for (int kind = 0; kind < MIXED; kind++) {
        int first = kind < SECOND_BELOW;
        set_values(p, first ? c1 : c2, first ? c2 : c1, kind, p->mixeds);
        p->mixeds += p->count[kind];
    }
    set_values(p, c1, c2, BOTH, p->mixeds);
    ur_sum_seen(p->count[BOTH], p->u + p->mixeds, p->l + p->mixeds, sum);
    p->s1 = sum[0];
    p->s2 = sum[1];
    p->s11 = sum[2];
    p->s12 = sum[3];
    p->s22 = sum[4];
    set_start(c1, c2, p);
}

/* ---- score and information of rho ---- */

typedef struct {
    double score, information;
} slope;

static slope sum_seen(const pair *p, double r, double o2)
{
    double o4 = o2 * o2, squares = p->s11 + p->s22, top = p->s12 * (1 + r * r) - r * squares;
    double n = (double)p->count[BOTH];
    return (slope){
        n * r / o2 + top / o4,
        -(n * (1 + r * r) + 2 * r * p->s12 - squares + 4 * r * top / o2) / o4,
    };
}

/* known: g and m are those of p->rho */
static slope sum_mixed(const pair *p, double r, int known)
{
    const ur_mixed_rows rows = {p->mixeds, p->u, p->l, p->g, p->m};
    double sum[2];
    if (known)
        ur_move_mixed(&rows, p->rho, r, sum);
    else
        ur_sum_mixed(&rows, r, sum);
    return (slope){sum[0], sum[1]};
}

static void corner_at(const corner *c, double rho, ur_rectangle *out)
{
    const ur_hidden cell[2] = {{c->turn1 > 0 ? -1 : 1, c->turn1 * c->l1, 0},
                               {c->turn2 > 0 ? -1 : 1, c->turn2 * c->l2, 0}};
    ur_corner_at(cell, rho, out);
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
        c->against = c->both < AGAINST * c->Phi1 * c->Phi2;
        if (c->against) {
            ur_rectangle at;
            corner_at(c, r, &at);
            c->score = at.by_r;
            sum.score += c->count * at.by_r;
            sum.information -= c->count * at.by_rr;
            continue;
        }
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
    for (size_t i = 0; i < p->count[RANGE]; i++) {
        ur_rectangle at;
        range_at(c1, c2, p->row[RANGE][i], r, &at);
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
        slope seen = sum_seen(p, r, o2), mixed = sum_mixed(p, r, out->evaluations > 1),
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
        int last = curve > 0 && fabs(next - z) <= LAST_STEP;
        if (last || fabs(at.score * o2) <= FLAT || high - low < CLOSED) {
            out->converged = 1;
            z = last ? fmax(low, fmin(high, next)) : z;
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

/* and the scores of rows where one is seen, or both */
static void add_seen(const pair *p, double J[2][2])
{
    size_t at = 0;
    for (int kind = 0; kind <= BOTH; kind++) {
        size_t n = p->count[kind];
        double sum[4], turn = turn_of_kind(kind);
        if (kind == BOTH) {
            ur_score_seen(n, p->u + at, p->l + at, p->rho, p->g + at);
        } else {
            int u = kind < SECOND_BELOW ? 0 : 1, l = 1 - u;
            ur_slopes_mixed(&(ur_mixed_rows){n, p->u + at, p->l + at, p->g + at, p->m + at}, p->rho,
                            sum);
            J[u][0] += turn * sum[0];
            J[u][1] += sum[1];
            J[l][0] += turn * sum[2];
            J[l][1] += sum[3];
        }
        for (size_t k = 0; k < n; k++)
            p->score[p->row[kind][k]] = p->g[at + k];
        at += n;
    }
}

static void add_corners(const pair *p, double J[2][2])
{
    double o = sqrt((1 - p->rho) * (1 + p->rho));
    for (size_t i = 0; i < p->corners; i++) {
        const corner *c = &p->corner[i];
        double r = c->turn1 * c->turn2 * p->rho, l1 = c->l1, l2 = c->l2;
        double w1 = (l1 - r * l2) / o, w2 = (l2 - r * l1) / o;
        if (c->against) {
            ur_rectangle at;
            corner_at(c, p->rho, &at);
            for (int k = 0; k < 4; k++)
                J[k / 2][k % 2] += c->count * at.by_r_of[k / 2][k % 2];
            continue;
        }
        if (c->score == 0)
            continue;
        double e1 = ur_normal_pdf(l1) * ur_normal_cdf(w2) / c->both;
        double e2 = ur_normal_pdf(l2) * ur_normal_cdf(w1) / c->both;
        add_slopes(J, -c->turn1 * c->score * (w1 / o + e1), -c->turn2 * c->score * (w2 / o + e2),
                   c->turn1 * l1, c->turn2 * l2, c->count);
    }
    for (size_t i = 0; i < p->count[CORNER]; i++)
        p->score[p->row[CORNER][i]] = p->corner[p->corner_of[i]].score;
}

static void add_ranges(const pair *p, const ur_cell_column *c1, const ur_cell_column *c2,
                       double J[2][2])
{
    for (size_t i = 0; i < p->count[RANGE]; i++) {
        ur_rectangle at;
        range_at(c1, c2, p->row[RANGE][i], p->rho, &at);
        for (int k = 0; k < 4; k++)
            J[k / 2][k % 2] += at.by_r_of[k / 2][k % 2];
        p->score[p->row[RANGE][i]] = at.by_r;
    }
}

/* As if the model were right: the score of rho has variance H then and nothing to do with either
 * margin's, so that Var(rho) = 1 / H + a' M a, a = -J / H and M the covariance of (b1, s1, b2, s2):
 * the inverse informations of the margins, and between them the sums over rows: b b, b s, s b, s s.
 */
static void set_model_errors(const ur_cell_column *c1, const ur_cell_column *c2, double rho,
                             const double J[2][2], double H, const double between[4], ur_pair *out)
{
    const double *V[2] = {c1->margin.V, c2->margin.V};
    double s[2] = {c1->margin.margin.s, c2->margin.margin.s}, M[4][4] = {{0}}, variance[2];
    for (int k = 0; k < 4; k++)
        M[k / 2][2 + k % 2] = between[k];
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
    double s1 = c1->margin.margin.s, s2 = c2->margin.margin.s, sum[6];
    double J[2][2] = {{(q * p->s2 - 2 * r * p->s1) / o4, (q * p->s12 - 2 * r * p->s11) / o4},
                      {(q * p->s1 - 2 * r * p->s2) / o4, (q * p->s12 - 2 * r * p->s22) / o4}};
    for (size_t k = 0; k < p->count[NOTHING]; k++)
        p->score[p->row[NOTHING][k]] = 0;
    add_seen(p, J);
    add_corners(p, J);
    add_ranges(p, c1, c2, J);
    for (int k = 0; k < 2; k++) {
        J[0][k] /= s1;
        J[1][k] /= s2;
    }
    ur_moving_rows rows = {.n = c1->n,
                           .by = {c1->b_by, c1->s_by, c2->b_by, c2->s_by},
                           .slope = {J[0][0], J[0][1], J[1][0], J[1][1]},
                           .information = H,
                           .relative = {r / s1, r / s2}};
    ur_move_rows(&rows, p->score, sum);
    out->by_row = p->score;
    set_model_errors(c1, c2, r, J, H, sum + 2, out);
    out->rho_se = H > 0 ? sqrt(sum[0]) : NAN;
    out->product_se = H > 0 ? sqrt(sum[1]) : NAN;
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
              .corner_of = (uint32_t *)(rows + KINDS * n),
              .table = rows + (KINDS + 1) * n,
              .corner = (corner *)(rows + (KINDS + 2) * n)};
    for (size_t k = 0; k < KINDS; k++)
        p.row[k] = (uint32_t *)(rows + k * n);
    double information = 0;
    *out =
        (ur_pair){.rho_se = NAN, .product_se = NAN, .model_rho_se = NAN, .model_product_se = NAN};
    if (!(c1->margin.margin.s > 0) || !(c2->margin.margin.s > 0))
        return;
    gather(c1, c2, &p);
    if (p.count[NOTHING] == n)
        return;
    out->start = p.start;
    out->rho = solve(&p, c1, c2, out, &information);
    if (!out->converged)
        information = NAN;
    set_errors(&p, c1, c2, information, out);
}
