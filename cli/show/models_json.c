/* SPDX-License-Identifier: Apache-2.0 */
/* Models as JSON: all that they say, matrices too. */
#include "flags.h"
#include "json.h"
#include "model_text.h"

/* counts are doubles in the model, as they add up over shards */
static void put_counts(cli_json *json, const char *key, const double *values, size_t count)
{
    if (!values)
        return;
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        cli_json_append(json, array, json_integer((json_int_t)values[i]));
    cli_json_put(json, key, array);
}

/* ---- members by their tables ---- */

/* beyond it no matrices: six of 500 columns are 30 MB of text */
enum { MOST_IN_MATRIX = 500 };

static json_t *item_of(const unrelu_array *a, size_t i)
{
    switch (a->type) {
    case UNRELU_DOUBLES:
        return cli_json_number(((const double *)a->data)[i]);
    case UNRELU_FLOATS:
        return cli_json_number((double)((const float *)a->data)[i]);
    case UNRELU_TEXTS:
        return cli_json_string(((const char *const *)a->data)[i]);
    case UNRELU_SIZES:
        return json_integer((json_int_t)((const size_t *)a->data)[i]);
    case UNRELU_INTS:
        return json_integer(((const int *)a->data)[i]);
    case UNRELU_BYTES:
        return json_integer(((const uint8_t *)a->data)[i]);
    case UNRELU_UINT32S:
        return json_integer(((const uint32_t *)a->data)[i]);
    case UNRELU_UINT64S:
        return json_integer((json_int_t)((const uint64_t *)a->data)[i]);
    }
    return json_null();
}

/* `count` items of an array from `first` on, of the dimensions from `level` on: lists in lists */
static json_t *nested(cli_json *json, const unrelu_array *a, size_t level, size_t first,
                      size_t count)
{
    if (level >= a->dimensions || level >= sizeof a->shape / sizeof *a->shape)
        return item_of(a, first);
    size_t rows = a->shape[level], each = rows ? count / rows : 0;
    json_t *list = json_array();
    for (size_t i = 0; i < rows; i++)
        cli_json_append(json, list, nested(json, a, level + 1, first + i * each, each));
    return list;
}

static size_t count_of(const unrelu_array *a)
{
    size_t count = 1;
    for (size_t k = 0; k < a->dimensions && k < sizeof a->shape / sizeof *a->shape; k++)
        count *= a->shape[k];
    return count;
}

/* what the object does not have yet, under the names of the file's arrays */
static void put_other_members(cli_json *json, const unrelu_model *model)
{
    unrelu_array member;
    if (!model->kind) /* a caller's own struct: it has no tables */
        return;
    for (size_t i = 0; unrelu_model_at(model, i, &member); i++) {
        int large = member.dimensions > 1 && member.shape[1] > MOST_IN_MATRIX;
        int unsaid = member.dimensions == 0 && member.type == UNRELU_TEXTS &&
                     !**(const char *const *)member.data;
        if (large || unsaid || json_object_get(json->object, member.name))
            continue;
        if (member.dimensions == 0 && member.type == UNRELU_TEXTS) /* a sentence, perhaps */
            cli_json_text(json, member.name, cli_flagged(*(const char *const *)member.data).text);
        else
            cli_json_put(json, member.name, nested(json, &member, 0, 0, count_of(&member)));
    }
}

static void put_names(cli_json *json, const unrelu_gaussian *m)
{
    json_t *names = json_array();
    for (size_t i = 0; i < m->d; i++)
        cli_json_append(json, names, cli_json_string(m->names[i]));
    cli_json_put(json, "names", names);
}

void cli_json_gaussian(cli_json *json, const unrelu_gaussian *m)
{
    const struct {
        const char *key;
        const double *values;
    } arrays[] = {
        {"b", m->b},
        {"b_se", m->b_se},
        {"scale", m->scale},
        {"scale_se", m->scale_se},
        {"limit", m->limit},
        {"noise", m->noise},
        {"eigenvalues", m->eigenvalues},
        {"eigenvalues_se", m->eigenvalues_se},
    };
    cli_json_text(json, "kind", "rectified-gaussian");
    cli_json_whole(json, "n", m->n);
    cli_json_whole(json, "d", m->d);
    cli_json_text(json, "method", m->method);
    cli_json_text(json, "norms", m->norms);
    cli_json_text(json, "angles", m->angles);
    if (m->errors && *m->errors)
        cli_json_text(json, "errors", m->errors);
    cli_json_whole(json, "seed", m->seed);
    if (m->names)
        put_names(json, m);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (arrays[i].values)
            cli_json_reals(json, arrays[i].key, arrays[i].values, m->d);
    if (m->transform != UNRELU_TRANSFORM_NONE) {
        cli_json_text(json, "transform", unrelu_transform_name(m->transform));
        if (*m->activation)
            cli_json_text(json, "activation", m->activation);
        if (m->lambda)
            cli_json_reals(json, "lambda", m->lambda, m->d);
    }
    put_counts(json, "observed", m->observed, m->d);
    put_counts(json, "positive", m->positive, m->d);
    if (m->flags)
        cli_json_flags(json, m);
    cli_json_real(json, "lambda_min", m->lambda_min);
    cli_json_put(json, "repaired", json_boolean(m->repaired));
    if (m->k) {
        cli_json_whole(json, "k", m->k);
        cli_json_text(json, "how_k", cli_flagged(m->how_k).text);
    }
    cli_json_whole(json, "rows_dropped", m->rows_dropped);
    put_other_members(json, &m->model);
    cli_json_warnings(json, m->warnings, m->warning_count);
}

static void put_guarantee(cli_json *json, const unrelu_network *m)
{
    cli_json part = {.object = json_object()};
    cli_json_text(&part, "theorem", cli_flagged(m->guarantee).text);
    cli_json_text(&part, "holds", m->guarantee_holds[0] ? m->guarantee_holds : "untested");
    cli_json_text(&part, "because", cli_flagged(m->guarantee_because).text);
    json->failed |= part.failed;
    cli_json_put(json, "guarantee", part.object);
}

void cli_json_network(cli_json *json, const unrelu_network *m)
{
    char activation[32];
    unrelu_activation_name(m->activation, activation, sizeof activation);
    cli_json_text(json, "kind", "network");
    cli_json_put(json, "n", m->n ? json_integer((json_int_t)m->n) : json_null());
    cli_json_whole(json, "d", m->d);
    cli_json_whole(json, "m", m->m);
    cli_json_whole(json, "k", m->k);
    cli_json_text(json, "method", m->method);
    cli_json_whole(json, "seed", m->seed);
    cli_json_text(json, "verdict", unrelu_verdict_name(m->verdict));
    cli_json_real(json, "residual", m->residual);
    cli_json_whole(json, "samples_checked", m->samples_checked);
    cli_json_whole(json, "min_active", m->min_active);
    cli_json_whole(json, "min_inactive", m->min_inactive);
    cli_json_real(json, "holdout_residual", m->holdout_residual);
    cli_json_real(json, "gap", m->gap);
    cli_json_real(json, "noise", m->noise);
    cli_json_text(json, "how_k", cli_flagged(m->how_k).text);
    cli_json_whole(json, "starts", m->starts);
    cli_json_whole(json, "starts_agree", m->starts_agree);
    cli_json_text(json, "precision", m->precision);
    cli_json_put(json, "proof", json_boolean(m->proof));
    cli_json_real(json, "objective", m->objective);
    cli_json_real(json, "objective_bound", m->objective_bound);
    cli_json_whole(json, "corrupted", m->corrupted);
    cli_json_real(json, "incoherence", m->incoherence);
    cli_json_put(json, "rational", json_boolean(m->V_rational != NULL));
    cli_json_text(json, "biases", m->biases);
    cli_json_text(json, "activation", activation);
    cli_json_whole(json, "linear_rank", m->linear_rank);
    cli_json_put(json, "inputs_rank",
                 m->inputs_rank ? json_integer((json_int_t)m->inputs_rank) : json_null());
    put_guarantee(json, m);
    cli_json_text(json, "assumption", cli_flagged(m->assumption).text);
    cli_json_reals(json, "active", m->active, m->k);
    cli_json_reals(json, "c", m->c, m->k);
    cli_json_reals(json, "c_se", m->c_se, m->k);
    cli_json_reals(json, "e", m->e, m->m);
    cli_json_reals(json, "e_se", m->e_se, m->m);
    json_t *norms = m->U ? json_array() : json_null();
    for (size_t j = 0; m->U && j < m->k; j++)
        cli_json_append(json, norms, cli_json_number(cli_norm_of_u(m, j)));
    cli_json_put(json, "u_norm", norms);
    if (m->tried) {
        json_t *tried = json_array();
        for (size_t i = 0; i < m->tried_count; i++)
            cli_json_append(json, tried, cli_json_string(cli_flagged(m->tried[i]).text));
        cli_json_put(json, "tried", tried);
    }
    put_other_members(json, &m->model);
    cli_json_warnings(json, m->warnings, m->warning_count);
}

void cli_json_mixture(cli_json *json, const unrelu_mixture *m)
{
    const unrelu_gaussian *hidden = m->hidden;
    double error = cli_largest_error_of_a(m);
    cli_json_text(json, "kind", "mixture");
    cli_json_put(json, "n", m->n ? json_integer((json_int_t)m->n) : json_null());
    cli_json_whole(json, "d", m->d);
    cli_json_whole(json, "p", m->p);
    cli_json_text(json, "method", m->method);
    cli_json_whole(json, "seed", m->seed);
    cli_json_text(json, "verdict", unrelu_verdict_name(m->verdict));
    cli_json_real(json, "noise", m->noise);
    cli_json_real(json, "relative_noise", m->relative_noise);
    cli_json_real(json, "residual", m->residual);
    cli_json_real(json, "negative", m->negative);
    cli_json_whole(json, "samples_checked", m->samples_checked);
    cli_json_whole(json, "facets", m->facets);
    cli_json_whole(json, "min_off", m->min_off);
    cli_json_whole(json, "tries", m->tries);
    cli_json_text(json, "how_p", cli_flagged(m->how_p).text);
    cli_json_text(json, "precision", m->precision);
    cli_json_reals(json, "b", hidden->b, hidden->d);
    cli_json_reals(json, "b_se", hidden->b_se, hidden->d);
    cli_json_reals(json, "scale", hidden->scale, hidden->d);
    cli_json_reals(json, "scale_se", hidden->scale_se, hidden->d);
    json_t *off = hidden->observed && hidden->positive ? json_array() : json_null();
    for (size_t i = 0; json_is_array(off) && i < hidden->d; i++)
        cli_json_append(json, off, cli_json_number(cli_censored_share(hidden, i)));
    cli_json_put(json, "off", off);
    if (hidden->flags)
        cli_json_flags(json, hidden);
    cli_json_text(json, "hidden_method", hidden->method);
    cli_json_put(json, "A_se_max", error >= 0 ? json_real(error) : json_null());
    put_other_members(json, &m->model);
    cli_json_warnings(json, m->warnings, m->warning_count);
}
