/* SPDX-License-Identifier: Apache-2.0 */
/* Any U, fewer labels than neurons too (Theorem 11, Algorithm 7): rows of labels where one neuron
 * is on alone are parallel to its column of U. Here with peeling, decoding of sparser rows and the
 * fit of antiparallel columns, which the theorem allows and its algorithm cannot do; then U by
 * least squares, Gauss-Newton and the certificate over all rows. k is given, or found: peeling
 * ends when nothing is left. Noiseless labels; columns of U with one direction cannot be told
 * apart, and e would have to be known. Grouping is n log n; rows are taken as they are needed,
 * 20000 at first. Refused where too few rows repeat, with the number that is needed. */
#include "network/hard/one_sparse/one_sparse.h"

#include "base/error.h"
#include "dense/linear.h"
#include "network/exact/exact.h"
#include "network/problem/tolerance.h"

#include <math.h>
#include <string.h>

enum { ROWS_FIRST = 20000, JOINT_STEPS = 60 };
static const uint64_t BUDGET = 300000000;
enum { FEW_LABELS = 12 }; /* as a fallback */
/* Rows that show whether some are parallel. Pace: a few milliseconds, and what it says settles the
 * order of methods alone. */
enum { LOOK_ROWS = 2000 };
/* A direction that did not show is alone in about 1 of n rows: 2 + 2.3 sqrt 2 times as many show it
 * twice; planes of rows (m >= 3) need fewer (k = 8, m = 4: 1 in 10 networks from 100, 3 in 4 from
 * 200) */
static const double TIMES_FOR_PLANES = 2.5;
static double times_as_many(const ur_peel *q)
{
    return q->frame->m > 2 ? TIMES_FOR_PLANES : ur_pure_rows(2);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- sentences ---- */

static void state_assumption(const ur_problem *given, const ur_peel *q, ur_outcome *out)
{
    out->guarantee = ur_take_text(
        out->arena,
        "Theorem 11 (Gaussian inputs, V of rank k, no two columns of U parallel; as printed it "
        "errs for u and -u): exact for n > kappa^O(k) poly(d, k, m)%s",
        given->options.literal
            ? ""
            : "; peeling needs fewer rows, and the certificate stands by itself");
    if (q->first == 0)
        out->assumption =
            ur_take_text(out->arena, "no two of %zu rows of labels are parallel", q->frame->n);
    else
        out->assumption = ur_take_text(
            out->arena,
            "%zu direction%s repeat%s among %zu rows of labels, the rarest in %zu (p = %.2g); "
            "Algorithm 7 needs %zu of each",
            q->first, q->first > 1 ? "s" : "", q->first > 1 ? "" : "s", q->frame->n, q->rarest,
            (double)q->rarest / (double)q->frame->n, q->frame->p);
}

static uint64_t budget_of(const ur_problem *given)
{
    return given->options.budget ? given->options.budget : BUDGET;
}

double ur_pure_rows(size_t p)
{
    static const double AT_99 = 2.3;
    return (double)p + AT_99 * sqrt((double)p);
}

/* why peeling did not come to an end */
static const char *say_why(const ur_problem *given, const ur_peel *q, ur_arena *arena)
{
    size_t n = q->frame->n, k = given->options.k, shown = q->k + q->stuck;
    if (q->exhausted)
        return ur_take_text(
            arena,
            "the budget of %llu candidates (rows times sets of directions, pairs of rows, starts "
            "of pair fits) does not reach further: %zu neuron%s found, %zu of %zu rows explained; "
            "raise `budget`, or give more rows",
            (unsigned long long)budget_of(given), q->k, plural(q->k), n - q->left, n);
    if (shown == 0) {
        const char *need = "";
        if (k > 0 && k < 40)
            need = ur_take_text(arena, " (%.2g for %zu neurons of independent signs)",
                                times_as_many(q) * ldexp(1, (int)k), k);
        return ur_take_text(
            arena,
            "no two of the %zu rows of labels are parallel: either they are noisy (then `method` "
            "any-noise, or none), or no neuron is on alone twice; if so, each is alone in about 1 "
            "of %zu rows or fewer, and n of about %.2g or more is needed%s",
            n, n, times_as_many(q) * (double)n, need);
    }
    const char *bias = q->frame->terms.hidden ? "" : ", or try `bias` hidden";
    if (q->contradicting > 0 && q->opposite)
        return ur_take_text(
            arena,
            "the %zu equations of one direction contradict each other: class inconsistent, an "
            "antiparallel pair u, -u (or more columns along it) that %zu starts did not tell apart "
            "(%zu neuron%s found beside it); give more rows or another `seed`, leave out "
            "`method`%s",
            q->contradicting, q->pairs, q->k, plural(q->k), bias);
    if (q->contradicting > 0)
        return ur_take_text(
            arena,
            "the %zu equations of one direction contradict each other: class inconsistent, columns "
            "of U are positive multiples of each other, which directions cannot tell apart, or "
            "inputs of few values make rows parallel by chance (%zu neuron%s found beside it); "
            "leave out `method`%s",
            q->contradicting, q->k, plural(q->k), bias);
    double pure = ur_pure_rows(q->frame->p), rows = (double)n, need = rows;
    double rarest = q->rarest > 0 ? (double)q->rarest : 1;
    if (q->stuck == 0 || shown < k || k == 0)
        need = times_as_many(q) * rows;
    if (q->stuck > 0)
        need = fmax(need, rows * (1 + pure) / (double)(q->most > 0 ? q->most : 1));
    return ur_take_text(
        arena,
        "only %zu%s direction%s repeated in %zu rows, as parallel rows or in planes of three (%zu "
        "neuron%s found; the best of the rest has %zu of the %zu equations that it needs): n of "
        "about %.2g is needed; Algorithm 7 needs %zu pure rows of each neuron, the rarest "
        "direction has %zu (p = %.2g), so (d + 2.3 sqrt d) / p = %.2g",
        shown, k > 0 ? ur_take_text(arena, " of %zu", k) : "", plural(shown), n, q->k, plural(q->k),
        q->most, q->frame->p + 1, need, q->frame->p, q->rarest, rarest / rows,
        pure * rows / rarest);
}

/* ---- from neurons to the network ---- */

/* arena: that of the frame */
static unrelu_status finish(const ur_problem *given, const ur_peel *q, ur_arena *arena,
                            ur_outcome *out, unrelu_error *err)
{
    const ur_frame *frame = q->frame;
    size_t k = q->k, rank = 0;
    double *y = ur_take(arena, frame->n, (frame->m + 1) * sizeof *y);
    double *V = ur_take(arena, k, frame->p * sizeof *V);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_frame_labels(frame, given->data.tolerance, &rank, y, NULL, err));
    memcpy(V, q->W, k * frame->p * sizeof *V);
    ur_unit_rows(k, frame->p, V);
    UR_TRY(ur_exact_finish(given, frame, rank >= k ? y : NULL, rank, k, V, 0, out, err));
    if (out->answer == UR_NONE)
        out->failure = ur_take_text(
            out->arena,
            "the %zu neurons of the directions that repeat leave a residual of %.2g, and %.2g is "
            "needed: %s",
            q->k, out->closest, given->data.floor,
            given->options.literal
                ? "some neuron is never on alone twice in these rows; without `literal` peeling "
                  "needs fewer"
                : "the labels carry too few digits, or are not those of a network");
    return UNRELU_OK;
}

static double rest_of(const ur_peel *q)
{
    return sqrt(ur_short_dot(q->frame->n, q->norm, q->norm) / q->frame->size);
}

unrelu_status ur_peel_all(const ur_problem *given, ur_peel *q, int *ready, ur_outcome *out,
                          unrelu_error *err)
{
    UR_TRY(ur_peel_run(q, err));
    /* labels of few digits may leave rows that are not quite zero */
    *ready = q->left == 0 || (q->k > 0 && rest_of(q) <= given->data.floor);
    if (!*ready && q->k > 0 && q->contradicting > 0 && q->frame->n <= ROWS_FIRST) {
        /* A neuron that was accepted with a wrong equation leaves rows along its own direction:
         * joint Gauss-Newton from all of them may mend it. */
        UR_ARENA(arena);
        ur_newton problem = ur_frame_problem(q->frame, given->options.activation, given->exec);
        ur_newton_fit fit;
        size_t size = q->k * q->frame->p * sizeof *fit.V;
        UR_TRY(ur_newton_alloc(&problem, q->k, &arena, &fit, err));
        memcpy(fit.V, q->W, size);
        UR_TRY(ur_newton_solve(&problem, JOINT_STEPS, UR_ROUNDING, ur_newton_floor(&given->data),
                               &fit, err));
        *ready = sqrt(fit.rss / q->frame->size) <= given->data.floor;
        if (*ready)
            memcpy(q->W, fit.V, size);
    }
    if (!*ready) {
        out->closest = fmin(out->closest, rest_of(q));
        out->failure = say_why(given, q, out->arena);
    }
    return UNRELU_OK;
}

/* Where one neuron is on alone the label is u f(w x): its direction is u, and w x follows from its
 * length where f is 0 on one side and a power on the other. */
static unrelu_status check_activation(unrelu_activation f, unrelu_error *err)
{
    char name[48];
    unrelu_activation_name(f, name, sizeof name);
    if (!ur_activation_rectifies(f))
        return ur_fail(err, UNRELU_EUSAGE,
                       "`method` one-sparse needs rows of labels with one neuron on, and %s is "
                       "never 0: every row shows all neurons; leave out `method`",
                       name);
    if (!(ur_activation_degree(f) > 0))
        return ur_fail(
            err, UNRELU_EUSAGE,
            "`method` one-sparse solves u f(w x) = a for w x, and %s is not homogeneous: "
            "the length of u stays unknown, and f^-1(a / |u|) is not linear in what is "
            "known; leave out `method`, or use power:C",
            name);
    return UNRELU_OK;
}

unrelu_status ur_one_sparse(const ur_problem *given, ur_one_sparse_way way, ur_outcome *out,
                            unrelu_error *err)
{
    ur_terms terms = ur_terms_of(given->options.biases);
    uint64_t budget = budget_of(given);
    size_t n = given->data.n, asked = given->options.k, k = asked ? asked : 2 * given->data.m + 2;
    size_t usable = asked == 0 || k > given->data.m ? ur_frame_rows(&given->data, k) : n;
    size_t rows = usable < ROWS_FIRST ? usable : ROWS_FIRST;
    UR_TRY(check_activation(given->options.activation, err));
    if (terms.constant)
        return ur_fail(err, UNRELU_EUSAGE,
                       "`method` one-sparse compares directions of the rows of labels, which a "
                       "constant e turns: use `bias` hidden (or none), and subtract e if you know "
                       "it");
    if (given->options.labels == UNRELU_LABELS_NOISY)
        return ur_fail(err, UNRELU_EUSAGE,
                       "`method` one-sparse is for labels without noise: of noisy ones no two rows "
                       "are parallel; `method` any-noise takes any");
    for (int last = 0; out->answer == UR_NONE && !last;) {
        UR_ARENA(arena);
        UR_ARENA(peeled);
        ur_frame frame;
        ur_peel q;
        last = rows == n || (rows == usable && n > ROWS_FIRST);
        UR_TRY(ur_frame_make(&given->data, rows, terms, 1, &arena, &frame, err));
        UR_TRY(ur_peel_open(&frame, given->data.floor, given->options.seed, budget, given->exec,
                            &peeled, &q, err));
        q.degree = ur_activation_degree(given->options.activation);
        int ready = 0;
        UR_TRY(way(given, &q, &ready, out, err));
        state_assumption(given, &q, out);
        if (ready)
            UR_TRY(finish(given, &q, &arena, out, err));
        k = out->weights.k;
        if (out->answer == UR_EXACT)
            out->how_k = asked > 0 ? "given"
                                   : ur_take_text(out->arena,
                                                  "peeled until nothing was left: %zu neuron%s; "
                                                  "%zu direction%s repeated in the labels",
                                                  k, plural(k), q.first, plural(q.first));
        if (out->answer == UR_EXACT && asked > 0 && k > asked) {
            out->answer = UR_NONE;
            out->failure = ur_take_text(
                out->arena,
                "%zu neurons were asked for and the labels are met by %zu, each with a direction "
                "of its own: leave out `k`, or give %zu",
                asked, k, k);
        }
        if (out->answer == UR_EXACT)
            ur_arena_give(&arena, out->arena);
        budget -= q.spent;
        rows = rows == usable ? n : rows < usable / 8 ? 8 * rows : usable;
    }
    if (out->answer == UR_EXACT) {
        out->failure = "";
        ur_outcome_note_merged(given, out);
    }
    return UNRELU_OK;
}

unrelu_status ur_one_sparse_applies(const ur_problem *given, int *yes, unrelu_error *err)
{
    (void)err;
    *yes = given->data.m > 1 && given->data.m <= FEW_LABELS;
    return UNRELU_OK;
}

unrelu_status ur_one_sparse_looks_noisy(const ur_problem *given, int *yes, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_frame frame;
    ur_peel q;
    ur_groups groups;
    size_t rows = given->data.n < LOOK_ROWS ? given->data.n : LOOK_ROWS;
    *yes = 0;
    if (given->data.m < 2)
        return UNRELU_OK;
    UR_TRY(
        ur_frame_make(&given->data, rows, ur_terms_of(UNRELU_BIASES_NONE), 1, &arena, &frame, err));
    UR_TRY(ur_peel_open(&frame, given->data.floor, given->options.seed, 0, given->exec, &arena, &q,
                        err));
    UR_TRY(ur_group(frame.n, frame.m, q.R, q.faint, frame.p, NULL, q.tolerance, q.seed, &arena,
                    &groups, err));
    *yes = q.left == frame.n && groups.count == 0;
    return UNRELU_OK;
}
