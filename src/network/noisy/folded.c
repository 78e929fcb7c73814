/* SPDX-License-Identifier: Apache-2.0 */
/* Fewer labels than neurons, with noise. Random rows of a ReLU network have to guess the signs of
 * all of its neurons; rows without signs do not (signless/fold.h), and end in their least squares
 * from most starts that have a few rows too many. So rows grow by births as in signless, here for
 * as long as
 *   BIC = n m ln(rss) + K (p + m - 1) ln(n m)
 * falls, surplus ones are dropped or merged while it falls, and the signs are those that leave
 * least of the labels (folded_signs.c). Gauss-Newton leads what comes of it to the likelihood. */
#include "network/noisy/folded.h"

#include "base/error.h"
#include "base/random.h"
#include "dense/blas.h"
#include "dense/linear.h"
#include "network/signless/signless.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

/* Pace: rows of the first student, and beyond k where that is given: one for so many, at least */
enum { FIRST = 4, SURPLUS = 3, SURPLUS_SHARE = 3, BIRTH_SHARE = 3, BIRTHS = 2 };
/* labels for each number of a student. Pace: fewer are fitted faster and show less */
enum { LABELS_A_NUMBER = 8, ROWS_A_FEATURE = 6 };
enum { STEPS = 40, STALL = 5, PATIENCE = 1, EXCHANGES = 3 };
static const double STEP_WORK = 1e9; /* Pace: operations of a step to fit more rows */
static const double DAMPING = 1e-2;  /* Pace: of the first step */
/* Labels for each number below which these starts are not taken: with so few, every start ends in a
 * fit of its own, and rows without signs, which have more numbers, in one to the noise. */
static const double AMPLE = 20;
/* numbers a label beyond which students fit the noise */
static const double MOST_NUMBERS = 0.5;

typedef struct {
    const ur_problem *given;
    ur_terms terms;
    size_t rows;
    ur_frame frame;
    ur_folds folds;
    ur_fold_state s;
} pupil;

static double numbers_of(const ur_problem *given, ur_terms terms, size_t k)
{
    ur_folds folds = {.p = given->data.d + (terms.hidden ? 1 : 0),
                      .m = given->data.m,
                      .constant = terms.constant && !terms.hidden};
    return ur_fold_unknowns(&folds, k);
}

int ur_folded_applies(const ur_problem *given, ur_terms terms, size_t k)
{
    double labels = (double)given->data.n * (double)given->data.m;
    return given->options.activation.kind == UNRELU_RELU &&
           labels >= AMPLE * numbers_of(given, terms, k);
}

/* as many rows of the data as a student of so many rows needs */
static size_t rows_for(const pupil *o, size_t k)
{
    const ur_data *data = &o->given->data;
    size_t rows = (size_t)(LABELS_A_NUMBER * numbers_of(o->given, o->terms, k) / (double)data->m);
    size_t least = ROWS_A_FEATURE * (k + data->d + 1);
    rows = rows > least ? rows : least;
    return rows < o->rows ? rows : o->rows;
}

/* as many as a step may take */
static size_t rows_at_most(const pupil *o, size_t k)
{
    double order = (double)(k * (o->given->data.d + 1));
    size_t rows = (size_t)(STEP_WORK / (order * order)), few = rows_for(o, k);
    rows = rows > few ? rows : few;
    return rows < o->rows ? rows : o->rows;
}

/* the student of k raw rows, with room for more, on so many rows of the data */
static unrelu_status seat(pupil *o, size_t rows, size_t k, const double *raw, size_t births,
                          ur_arena *arena, unrelu_error *err)
{
    const ur_data *data = &o->given->data;
    size_t room = k + births;
    UR_TRY(ur_frame_make(data, rows, o->terms, 0, arena, &o->frame, err));
    o->folds = ur_folds_of(&o->frame, o->given->exec);
    UR_TRY(ur_folds_open(&o->folds, data->floor, err));
    UR_TRY(ur_fold_state_open(&o->folds, room, arena, &o->s, err));
    o->s.k = k;
    ur_frame_forth(&o->frame, k, raw, o->s.T);
    return ur_fold_evaluate(&o->folds, &o->s, err);
}

/* of one row, in logarithms of the share */
static double price(const pupil *o)
{
    double cells = (double)(o->folds.n * o->folds.m);
    return (double)(o->folds.p + o->folds.m - 1) * log(cells) / cells;
}

static double bic_of(const pupil *o)
{
    return log(o->s.share) + (double)o->s.k * price(o);
}

/* the largest student that the labels bear */
static size_t most_rows(const pupil *o, size_t most)
{
    double labels = (double)o->rows * (double)o->given->data.m;
    while (most > 0 && numbers_of(o->given, o->terms, most) > MOST_NUMBERS * labels)
        most--;
    return most;
}

/* raw: most x q, of which *k are taken */
static unrelu_status grow(pupil *o, size_t wanted, size_t most, size_t attempt, size_t *k,
                          double *raw, unrelu_error *err)
{
    const ur_fold_descent how = {.steps = STEPS, .damping = DAMPING, .stall = STALL};
    uint64_t seed = o->given->options.seed;
    size_t q = o->given->data.d + (o->terms.hidden ? 1 : 0), count = wanted ? wanted : FIRST;
    double best = INFINITY;
    int idle = 0;
    UR_ARENA(arena);
    double *last = ur_take(&arena, most, q * sizeof *last);
    UR_TRY(ur_arena_status(&arena, err));
    count = count < most ? count : most;
    for (size_t round = 0, births = count, known = 0; births > 0 && idle < PATIENCE; round++) {
        UR_ARENA(here);
        UR_TRY(seat(o, rows_for(o, known + births), known, last, births, &here, err));
        if (known > 0) {
            UR_TRY(ur_fold_births(&o->folds, births, seed,
                                  (uint64_t)(attempt + 1) << 52 | round << 40, &o->s, err));
        } else { /* random in the frame, where all directions are alike */
            ur_random_normals(seed, UR_STREAM_FOLDS, (uint64_t)(attempt + 1) << 52,
                              births * o->folds.p, o->s.T);
            o->s.k = births;
        }
        UR_TRY(ur_fold_descend(&o->folds, how, &o->s, err));
        known = o->s.k;
        ur_frame_back(&o->frame, known, o->s.T, last);
        double bic = bic_of(o);
        idle = bic < best ? 0 : idle + 1;
        best = fmin(best, bic);
        *k = known; /* the last, with rows to spare */
        memcpy(raw, last, known * q * sizeof *raw);
        births = known / BIRTH_SHARE > BIRTHS ? known / BIRTH_SHARE : BIRTHS;
        births = wanted ? 0 : known + births <= most ? births : most - known;
        if (o->s.share <= o->folds.met)
            break;
    }
    return UNRELU_OK;
}

/* surplus rows, while BIC falls without them */
static unrelu_status prune(pupil *o, unrelu_error *err)
{
    for (size_t before = o->s.k + 1; o->s.k < before && o->s.k > 1;) {
        before = o->s.k;
        o->folds.met = o->s.share * exp(price(o));
        o->folds.least = 0;
        UR_TRY(ur_fold_prune(&o->folds, &o->s, err));
    }
    return UNRELU_OK;
}

/* to so many rows: births, or the cheapest one after the other */
static unrelu_status come_to(pupil *o, size_t k, uint64_t draws, unrelu_error *err)
{
    const ur_fold_descent how = {.steps = STEPS / 2, .damping = DAMPING, .stall = STALL};
    size_t p = o->folds.p;
    UR_ARENA(arena);
    double *costs = ur_take(&arena, o->s.k, sizeof *costs);
    UR_TRY(ur_arena_status(&arena, err));
    if (o->s.k < k) {
        UR_TRY(ur_fold_births(&o->folds, k - o->s.k, o->given->options.seed, draws, &o->s, err));
        return ur_fold_descend(&o->folds, how, &o->s, err);
    }
    while (o->s.k > k) {
        size_t least = 0;
        UR_TRY(ur_fold_costs(&o->folds, &o->s, costs, err));
        for (size_t j = 1; j < o->s.k; j++)
            least = costs[j] < costs[least] ? j : least;
        o->s.k--;
        memmove(o->s.T + least * p, o->s.T + (least + 1) * p,
                (o->s.k - least) * p * sizeof *o->s.T);
        UR_TRY(ur_fold_descend(&o->folds, how, &o->s, err));
    }
    return UNRELU_OK;
}

/* The cheapest rows go in turn, and a birth takes their place, where that lowers what is left: two
 * rows may stand for one neuron, and another be missing. */
static unrelu_status exchange(pupil *o, uint64_t draws, unrelu_error *err)
{
    const ur_fold_descent how = {.steps = STEPS / 2, .damping = DAMPING, .stall = STALL};
    size_t p = o->folds.p, k = o->s.k;
    UR_ARENA(arena);
    ur_fold_state other;
    double *costs = ur_take(&arena, k, sizeof *costs);
    UR_TRY(ur_fold_state_open(&o->folds, k, &arena, &other, err));
    UR_TRY(ur_fold_costs(&o->folds, &o->s, costs, err));
    for (int tries = 0; tries < EXCHANGES; tries++) {
        size_t least = 0;
        for (size_t j = 1; j < k; j++)
            least = costs[j] < costs[least] ? j : least;
        costs[least] = INFINITY;
        ur_fold_rows_copy(&o->folds, &o->s, &other);
        other.k--;
        memmove(other.T + least * p, other.T + (least + 1) * p,
                (other.k - least) * p * sizeof *other.T);
        UR_TRY(ur_fold_evaluate(&o->folds, &other, err));
        UR_TRY(ur_fold_births(&o->folds, 1, o->given->options.seed, draws + ((uint64_t)tries << 40),
                              &other, err));
        UR_TRY(ur_fold_descend(&o->folds, how, &other, err));
        if (other.share < o->s.share) {
            ur_fold_rows_copy(&o->folds, &other, &o->s);
            UR_TRY(ur_fold_evaluate(&o->folds, &o->s, err));
            UR_TRY(ur_fold_costs(&o->folds, &o->s, costs, err));
        }
    }
    return UNRELU_OK;
}

unrelu_status ur_folded_start(const ur_problem *given, ur_terms terms, size_t rows, size_t most,
                              size_t attempt, size_t *k, ur_arena *arena, double **raw,
                              unrelu_error *err)
{
    pupil o = {.given = given, .terms = terms, .rows = rows};
    size_t more = *k / SURPLUS_SHARE > SURPLUS ? *k / SURPLUS_SHARE : SURPLUS, grown = 0;
    size_t q = given->data.d + (terms.hidden ? 1 : 0), room;
    UR_ARENA(own);
    room = most_rows(&o, *k > 0 ? *k + more : most);
    double *wild = ur_take(&own, room, q * sizeof *wild);
    UR_TRY(ur_arena_status(&own, err));
    if (room > 0 && room >= *k)
        UR_TRY(grow(&o, *k > 0 ? *k + more : 0, room, attempt, &grown, wild, err));
    if (grown == 0) {
        *k = 0;
        return UNRELU_OK;
    }
    const ur_fold_descent how = {.steps = STEPS, .damping = DAMPING, .stall = STALL};
    UR_TRY(seat(&o, rows_at_most(&o, grown), grown, wild, *k > grown ? *k - grown : 0, &own, err));
    UR_TRY(ur_fold_descend(&o.folds, how, &o.s, err));
    if (*k == 0)
        UR_TRY(prune(&o, err));
    else
        UR_TRY(come_to(&o, *k, (uint64_t)(attempt + 1) << 52 | (uint64_t)1 << 51, err));
    if (o.s.k > 1)
        UR_TRY(exchange(&o, (uint64_t)(attempt + 1) << 52 | (uint64_t)3 << 50, err));
    *k = o.s.k;
    int *signs = ur_take(&own, *k, sizeof *signs);
    *raw = ur_take(arena, *k, q * sizeof **raw);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_arena_status(arena, err));
    double rss;
    UR_TRY(ur_folded_signs(&o.frame, *k, o.s.T, given->options.seed, attempt, signs, &rss, err));
    for (size_t j = 0; j < *k; j++)
        ur_scale(o.folds.p, signs[j], o.s.T + j * o.folds.p);
    ur_frame_back(&o.frame, *k, o.s.T, *raw);
    return UNRELU_OK;
}
