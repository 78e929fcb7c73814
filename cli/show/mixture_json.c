/* SPDX-License-Identifier: Apache-2.0 */
#include "flags.h"
#include "json.h"

#include "mixture_text.h"
#include "model_text.h"

static void put_certificate(cli_json *json, const unrelu_mixture *m)
{
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
}

static void put_off(cli_json *json, const unrelu_gaussian *hidden)
{
    json_t *array = hidden->observed && hidden->positive ? json_array() : json_null();
    for (size_t i = 0; json_is_array(array) && i < hidden->d; i++)
        cli_json_append(json, array, cli_json_number(cli_censored_share(hidden, i)));
    cli_json_put(json, "off", array);
}

static void put_units(cli_json *json, const unrelu_gaussian *hidden)
{
    cli_json_reals(json, "b", hidden->b, hidden->d);
    cli_json_reals(json, "b_se", hidden->b_se, hidden->d);
    cli_json_reals(json, "scale", hidden->scale, hidden->d);
    cli_json_reals(json, "scale_se", hidden->scale_se, hidden->d);
    put_off(json, hidden);
    if (hidden->flags)
        cli_json_flags(json, hidden);
}

void cli_json_mixture(cli_json *json, const unrelu_mixture *m)
{
    double error = cli_largest_error_of_a(m);
    cli_json_text(json, "kind", "mixture");
    cli_json_put(json, "n", m->n ? json_integer((json_int_t)m->n) : json_null());
    cli_json_whole(json, "d", m->d);
    cli_json_whole(json, "p", m->p);
    cli_json_text(json, "method", m->method);
    cli_json_whole(json, "seed", m->seed);
    put_certificate(json, m);
    put_units(json, &m->hidden);
    cli_json_put(json, "A_se_max", error >= 0 ? json_real(error) : json_null());
    cli_json_warnings(json, m->warnings, m->warning_count);
}
