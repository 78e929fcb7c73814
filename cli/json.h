/* SPDX-License-Identifier: Apache-2.0 */
/* The one JSON object of --json. What is not finite becomes null. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>

#include "unrelu/unrelu.h"

typedef struct {
    json_t *object;
    int failed; /* memory ran out on the way */
} cli_json;

cli_json cli_json_start(const char *command);
void cli_json_put(cli_json *json, const char *key, json_t *value);  /* takes value */
void cli_json_append(cli_json *json, json_t *array, json_t *value); /* takes value */
void cli_json_append_object(cli_json *json, json_t *array, const cli_json *object); /* takes it */
json_t *cli_json_number(double value);
json_t *cli_json_string(const char *text); /* '?' for each byte beyond ASCII where it is no UTF-8 */
void cli_json_text(cli_json *json, const char *key, const char *text); /* NULL: null */
void cli_json_whole(cli_json *json, const char *key, uint64_t value);
void cli_json_real(cli_json *json, const char *key, double value);
void cli_json_reals(cli_json *json, const char *key, const double *values,
                    size_t count); /* NULL: null */
json_t *cli_json_codes(cli_json *json, uint32_t flags);
void cli_json_flags(cli_json *json, const unrelu_gaussian *model); /* of its coordinates */
void cli_json_warnings(cli_json *json, const unrelu_warning *warnings, size_t count);
/* all that a model says, matrices of up to 500 columns too */
void cli_json_gaussian(cli_json *json, const unrelu_gaussian *model);
void cli_json_network(cli_json *json, const unrelu_network *model);
void cli_json_mixture(cli_json *json, const unrelu_mixture *model);
/* Frees it; its text, indented, of six digits, for unrelu_free; NULL where memory ended, now or
 * before. No zero ends it. */
char *cli_json_dump(cli_json *json, size_t *length);
/* Adds the seconds, prints and frees; returns the exit status. */
int cli_json_finish(cli_json *json);

#endif
