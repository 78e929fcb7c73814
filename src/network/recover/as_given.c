/* SPDX-License-Identifier: Apache-2.0 */
/* A network that is given, as it is: its certificate over all rows, what the rules of uniqueness
 * need, and where it does not meet the labels whether what it leaves can be noise. Its weights
 * stay; the likelihood nearby is looked at, as noise about other weights than the likeliest is more
 * than noise. Which rows the network was fitted to is not known: as after a recovery of its own,
 * the rules count as seen as many rows as a solver would take. */
#include "base/error.h"
#include "network/noisy/noisy.h"
#include "network/noisy/rest.h"
#include "network/recover/methods.h"
#include "network/verdict/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What weights that are the truth leave beyond the likeliest ones is sigma^2 chi^2 of as many
 * degrees as there are parameters, but for kinks that samples cross: so many of its deviations
 * beyond its mean. Fewer: the truth is doubted; more: weights that are off by their errors pass. */
static const double BEYOND = 6;

static int any(const double *x, size_t count)
{
    for (size_t i = 0; x && i < count; i++)
        if (x[i] != 0)
            return 1;
    return 0;
}

ur_terms ur_terms_of_start(const unrelu_recover_options *options)
{
    const unrelu_network *net = options->start;
    if (!net || options->biases != UNRELU_BIASES_AUTO)
        return ur_terms_of(options->biases);
    return (ur_terms){any(net->c, net->k), any(net->e, net->m)};
}

/* of one class more than there are differences to the last one */
static int gives_logits(const ur_problem *given)
{
    return given->options.log_probabilities && given->options.start->m == given->data.m + 1;
}

unrelu_status ur_start_check(const ur_problem *given, unrelu_error *err)
{
    const unrelu_network *net = given->options.start;
    const ur_data *data = &given->data;
    ur_terms terms = ur_terms_of(given->options.biases);
    if (!net || !net->U || !net->V || net->k == 0)
        return ur_fail(err, UNRELU_EUSAGE, "a network with weights is needed: give `start`");
    if (net->d != data->d || (net->m != data->m && !gives_logits(given)))
        return ur_fail(err, UNRELU_EUSAGE,
                       "the network takes %zu inputs and gives %zu labels, and the files have %zu "
                       "and %zu",
                       net->d, net->m, data->d, data->m);
    if (given->options.k != 0 && given->options.k != net->k)
        return ur_fail(err, UNRELU_EUSAGE,
                       "`k` is %zu, and the network that is given has %zu neurons",
                       given->options.k, net->k);
    if (given->options.biases != UNRELU_BIASES_AUTO &&
        ((!terms.hidden && any(net->c, net->k)) || (!terms.constant && any(net->e, net->m))))
        return ur_fail(err, UNRELU_EUSAGE,
                       "the network that is given has biases which `bias` %s leaves out",
                       ur_terms_name(terms));
    return UNRELU_OK;
}

unrelu_status ur_start_network(const ur_start *start, double *V, double *c, ur_start_note *note,
                               unrelu_error *err)
{
    const unrelu_network *net = start->network;
    (void)err;
    memcpy(V, net->V, net->k * net->d * sizeof *V);
    memcpy(c, net->c, net->k * sizeof *c);
    snprintf(note->assumption, sizeof note->assumption,
             "the network that was given is close enough");
    return UNRELU_OK;
}

/* ---- as it is ---- */

static unrelu_status copy_weights(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    const unrelu_network *net = given->options.start;
    ur_arena *arena = out->arena;
    size_t d = net->d, k = net->k, m = given->data.m, last = m * k;
    size_t *order = ur_take(arena, k, sizeof *order);
    out->weights = (ur_weights){.d = d,
                                .k = k,
                                .m = m,
                                .f = given->options.activation,
                                .U = ur_take_doubles(arena, net->U, m * k),
                                .V = ur_take_doubles(arena, net->V, k * d),
                                .c = ur_take_doubles(arena, net->c, k),
                                .e = ur_take_doubles(arena, net->e, m)};
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; i < m * k && gives_logits(given); i++)
        out->weights.U[i] -= net->U[last + i % k];
    for (size_t i = 0; i < m && gives_logits(given); i++)
        out->weights.e[i] -= net->e[m];
    return ur_weights_normalise(&out->weights, order, err);
}

static unrelu_status accept(const ur_problem *given, const ur_frame *frame, ur_outcome *out,
                            unrelu_error *err)
{
    size_t rank = 0, needed = out->weights.k + (frame->terms.constant ? 1 : 0);
    double *y = ur_take(out->arena, frame->n, (frame->m + 1) * sizeof *y);
    UR_TRY(ur_arena_status(out->arena, err));
    UR_TRY(ur_frame_labels(frame, given->data.tolerance, &rank, y, NULL, err));
    return ur_certify_exact(given, frame, rank >= needed ? y : NULL, rank, 0, out, err);
}

/* the likeliest weights near those of out: what they leave, as a sum of squares in `unit` */
static unrelu_status look_nearby(const ur_problem *given, const ur_outcome *out, double *here,
                                 double *nearby, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_frame all;
    ur_newton_fit fit;
    const ur_weights *w = &out->weights;
    UR_TRY(ur_frame_make(&given->data, given->data.n, out->terms, 0, &arena, &all, err));
    ur_newton problem = ur_frame_problem(&all, w->f, given->exec);
    UR_TRY(ur_newton_alloc(&problem, w->k, &arena, &fit, err));
    UR_TRY(ur_frame_enter(&all, w->f, w->k, w->V, w->c, fit.V, err));
    UR_TRY(ur_newton_solve(&problem, UR_LIKELIHOOD_STEPS, UR_LIKELIHOOD_GAIN, 0, &fit, err));
    *here = out->certificate.residual * out->certificate.residual * all.size;
    *nearby = fmin(fit.rss, *here);
    return UNRELU_OK;
}

static void tell_nearby(double here, double nearby, ur_outcome *out)
{
    out->answer = UR_APPROXIMATE;
    out->noise = 0;
    ur_outcome_note(out, "approximate",
                    "the weights leave %.3g of the labels, and others close to them %.3g: they are "
                    "not the network that these labels come from, nor its likeliest estimate; "
                    "'unrelu recover' with `start` goes there",
                    out->certificate.residual,
                    out->certificate.residual * sqrt(here > 0 ? nearby / here : 0));
}

static unrelu_status reject(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    const ur_data *data = &given->data;
    double here = 0, nearby = 0, cells = (double)data->n * (double)data->m;
    double used = ur_parameters(given, out->weights.k, out->terms);
    UR_TRY(look_nearby(given, out, &here, &nearby, err));
    double square = nearby / fmax(cells - used, 1);
    if (here - nearby > (used + BEYOND * sqrt(2 * used)) * square) {
        tell_nearby(here, nearby, out);
        return UNRELU_OK;
    }
    ur_rest rest;
    out->answer = UR_NOISY;
    out->noise = data->unit * sqrt(here / cells);
    ur_outcome_note(out, "no-se",
                    "the weights are as they were given, not estimated of these labels: they have "
                    "no standard errors");
    UR_TRY(ur_rest_test(given, &out->weights, out->terms, &rest, err));
    ur_rest_tell(&rest, out);
    return UNRELU_OK;
}

static unrelu_status run(const ur_problem *given, ur_outcome *out, unrelu_error *err)
{
    ur_frame frame;
    UR_TRY(ur_start_check(given, err));
    UR_TRY(copy_weights(given, out, err));
    out->terms = ur_terms_of_start(&given->options);
    out->how_k = "given";
    UR_TRY(ur_frame_make(&given->data, ur_frame_rows(&given->data, out->weights.k), out->terms, 1,
                         out->arena, &frame, err));
    out->inputs = frame.q;
    out->p = frame.p;
    UR_TRY(ur_certify(given, &out->weights, &frame, out->arena, &out->certificate, err));
    out->certificate.holdout_residual = NAN; /* nobody knows which rows whoever fitted it saw */
    return out->certificate.met ? accept(given, &frame, out, err) : reject(given, out, err);
}

const ur_method ur_method_as_given = {.name = "as-given",
                                      .wing = "given",
                                      .needs = "a network",
                                      .theorem = &ur_none,
                                      .checks = "the labels are met, and the rules of uniqueness",
                                      .any_rows = 1,
                                      .run = run};
