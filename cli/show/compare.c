/* SPDX-License-Identifier: Apache-2.0 */
#include "escape.h"
#include "models.h"

#include <stddef.h>
#include <stdio.h>

#include "flags.h"
#include "json.h"
#include "scope.h"
#include "table.h"

typedef struct {
    const char *key, *title, *means;
    size_t offset; /* of a double, in the distance */
} metric;

typedef struct {
    const char *key;
    size_t value;
} count;

typedef struct {
    const char *kind; /* NULL: not said */
    const char *part; /* "neuron"; NULL: parts need no matching */
    count sizes[5];   /* up to one without a key */
    struct {
        size_t matched, missing, extra;
    } parts;
    const metric *metrics; /* up to one without a key */
    const void *distance;
    const char *note; /* NULL: there is none */
} comparison;

static double value_of(const comparison *c, const metric *m)
{
    return *(const double *)((const char *)c->distance + m->offset);
}

static int print_json(const comparison *c)
{
    cli_json json = cli_json_start("compare");
    if (c->kind)
        cli_json_text(&json, "kind", c->kind);
    for (const count *size = c->sizes; size->key; size++)
        cli_json_whole(&json, size->key, size->value);
    if (c->part) {
        cli_json_whole(&json, "matched", c->parts.matched);
        cli_json_whole(&json, "missing", c->parts.missing);
        cli_json_whole(&json, "extra", c->parts.extra);
    }
    for (const metric *m = c->metrics; m->key; m++)
        cli_json_real(&json, m->key, value_of(c, m));
    if (c->note)
        cli_json_text(&json, "note", cli_flagged(c->note).text);
    return cli_json_finish(&json);
}

static int print(const cli_shared *shared, const comparison *c)
{
    cli_table table;
    if (shared->json)
        return print_json(c);
    if (c->part) { /* "5 neurons matched, 1 of the truth missing" */
        cli_print("%zu %s%s matched", c->parts.matched, c->part, c->parts.matched == 1 ? "" : "s");
        if (c->parts.missing)
            cli_print(", %zu of the truth missing", c->parts.missing);
        if (c->parts.extra)
            cli_print(", %zu of the model left over", c->parts.extra);
        putchar('\n');
    }
    cli_table_start(&table, 3);
    for (const metric *m = c->metrics; m->key; m++) {
        cli_table_add(&table, "%s", m->title);
        cli_table_add(&table, "%.4g", value_of(c, m));
        cli_table_add(&table, "%s", m->means);
    }
    cli_table_print(&table, "lrl");
    if (c->note && c->note[0])
        cli_note("%s", cli_flagged(c->note).text);
    return 0;
}

/* ---- rectified Gaussians ------------------------------------------------------------- */

#define AT(name) offsetof(unrelu_gaussian_distance, name)
static const metric gaussian_metrics[] = {
    {"b_error", "error of b", "|b - b*| / |W*|_F", AT(b_error)},
    {"sigma_error", "error of Sigma", "|Sigma - Sigma*|_F / |W*|_F^2", AT(sigma_error)},
    {"correlation_rms", "error of the correlations", "root mean square over pairs",
     AT(correlation_rms)},
    {"kl", "KL(model || truth)", "of the Gaussians before the rectifier", AT(kl)},
    {"kl_reverse", "KL(truth || model)", "", AT(kl_reverse)},
    {"tv_bound", "total variation, at most", "by Pinsker, of the rectified ones too", AT(tv_bound)},
    {"lambda_min_truth", "smallest eigenvalue, truth", "of its correlations", AT(lambda_min_truth)},
    {"lambda_min_model", "smallest eigenvalue, model", "of its correlations", AT(lambda_min_model)},
    {0},
};
#undef AT

int cli_compare_gaussians(const cli_shared *shared, const cli_model *truth, const cli_model *model)
{
    const unrelu_gaussian *a = truth->gaussian, *b = model->gaussian;
    unrelu_gaussian_distance x = {0};
    for (size_t i = 0; i < b->d && a->d == b->d; i++) { /* columns are compared in their order */
        size_t j = 0;
        while (j < a->d && strcmp(a->names[j], b->names[i]) != 0)
            j++;
        if (j < a->d && strcmp(a->names[i], b->names[i]) != 0)
            return cli_refuse_file("column %zu is '%.60s' in the truth and '%.60s' in the model: "
                                   "they need one order",
                                   i + 1, a->names[i], b->names[i]);
    }
    CLI_CALL(unrelu_gaussian_compare(a, b, &x, &err));
    return print(shared, &(comparison){.sizes = {{"d", a->d}},
                                       .metrics = gaussian_metrics,
                                       .distance = &x,
                                       .note = x.note});
}

/* ---- networks ------------------------------------------------------------------------ */

#define AT(name) offsetof(unrelu_network_distance, name)
static const metric network_metrics[] = {
    {"V_max", "error of V", "max |V - V*|", AT(V_max)},
    {"V_frobenius", "", "|V - V*|_F", AT(V_frobenius)},
    {"U_max", "error of U", "max |U - U*| / max |U*|", AT(U_max)},
    {"U_frobenius", "", "|U - U*|_F / |U*|_F", AT(U_frobenius)},
    {"c_max", "error of c", "max |c - c*|", AT(c_max)},
    {"c_frobenius", "", "|c - c*|", AT(c_frobenius)},
    {"e_max", "error of e", "max |e - e*|", AT(e_max)},
    {"e_frobenius", "", "|e - e*|", AT(e_frobenius)},
    {"function_error", "error of the labels", "relative, root mean square at 1000 inputs",
     AT(function_error)},
    {0},
};
#undef AT

int cli_compare_networks(const cli_shared *shared, const cli_model *truth, const cli_model *model)
{
    const unrelu_network *a = truth->network, *b = model->network;
    unrelu_network_distance x = {0};
    CLI_CALL(unrelu_network_compare(a, b, &x, &err));
    return print(
        shared,
        &(comparison){.kind = "network",
                      .part = "neuron",
                      .sizes = {{"d", a->d}, {"m", a->m}, {"k_truth", a->k}, {"k_model", b->k}},
                      .parts = {x.matched, x.missing, x.extra},
                      .metrics = network_metrics,
                      .distance = &x});
}

/* ---- mixtures ------------------------------------------------------------------------ */

#define AT(name) offsetof(unrelu_mixture_distance, name)
static const metric mixture_metrics[] = {
    {"A_max", "error of A", "max |A - A*|", AT(A_max)},
    {"A_column", "", "largest length of a column of A - A*", AT(A_column)},
    {"A_frobenius", "", "|A - A*|_F", AT(A_frobenius)},
    {"b_max", "error of b", "max |b - b*|", AT(b_max)},
    {"b_error", "", "|b - b*| / |W*|_F", AT(hidden.b_error)},
    {"sigma_max", "error of Sigma = W W'", "max |Sigma - Sigma*|", AT(sigma_max)},
    {"sigma_error", "", "|Sigma - Sigma*|_F / |W*|_F^2", AT(hidden.sigma_error)},
    {"correlation_rms", "error of the correlations", "root mean square over pairs",
     AT(hidden.correlation_rms)},
    {"kl", "KL(model || truth)", "of W z + b", AT(hidden.kl)},
    {"kl_reverse", "KL(truth || model)", "", AT(hidden.kl_reverse)},
    {"tv_bound", "total variation, at most", "by Pinsker, of the hidden units",
     AT(hidden.tv_bound)},
    {0},
};
#undef AT

int cli_compare_mixtures(const cli_shared *shared, const cli_model *truth, const cli_model *model)
{
    const unrelu_mixture *a = truth->mixture, *b = model->mixture;
    unrelu_mixture_distance x = {0};
    CLI_CALL(unrelu_mixture_compare(a, b, &x, &err));
    return print(shared, &(comparison){.kind = "mixture",
                                       .part = "unit",
                                       .sizes = {{"d", a->d}, {"p_truth", a->p}, {"p_model", b->p}},
                                       .parts = {x.matched, x.missing, x.extra},
                                       .metrics = mixture_metrics,
                                       .distance = &x,
                                       .note = x.hidden.note});
}
