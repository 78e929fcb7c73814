/* SPDX-License-Identifier: Apache-2.0 */
#include "flags.h"
#include "json.h"

#include "network_text.h"

static void put_certificate(cli_json *json, const unrelu_network *m)
{
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
}

static void put_norms(cli_json *json, const unrelu_network *m)
{
    json_t *array = m->U ? json_array() : json_null();
    for (size_t j = 0; m->U && j < m->k; j++)
        cli_json_append(json, array, cli_json_number(cli_norm_of_u(m, j)));
    cli_json_put(json, "u_norm", array);
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
    put_certificate(json, m);
    cli_json_text(json, "biases", m->biases);
    cli_json_text(json, "activation", activation);
    cli_json_whole(json, "linear_rank", m->linear_rank);
    cli_json_text(json, "guarantee", cli_flagged(m->guarantee).text);
    cli_json_text(json, "assumption", cli_flagged(m->assumption).text);
    cli_json_reals(json, "active", m->active, m->k);
    cli_json_reals(json, "c", m->c, m->k);
    cli_json_reals(json, "c_se", m->c_se, m->k);
    cli_json_reals(json, "e", m->e, m->m);
    cli_json_reals(json, "e_se", m->e_se, m->m);
    put_norms(json, m);
    cli_json_warnings(json, m->warnings, m->warning_count);
}
