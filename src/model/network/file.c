/* SPDX-License-Identifier: Apache-2.0 */
/* A network as a .npz file; docs/formats.md lists the arrays. To be read it needs kind, U and V
 * alone: what else is missing is relu, zero biases, no errors, numbered names. */
#include "error.h"
#include "memory.h"
#include "model/network/network.h"
#include "model/warnings.h"
#include "read/npz.h"
#include "write/npz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member)   offsetof(unrelu_network, member)
#define SIZE(member) sizeof(((unrelu_network *)NULL)->member)

static const struct array_field {
    const char *name;
    size_t offset;     /* of the pointer */
    const char *shape; /* letters: of d, k, m */
    int finite;        /* NaN is refused */
} arrays[] = {
    {"U", AT(U), "mk", 1},      {"V", AT(V), "kd", 1},       {"c", AT(c), "k", 1},
    {"e", AT(e), "m", 1},       {"U_se", AT(U_se), "mk", 0}, {"V_se", AT(V_se), "kd", 0},
    {"c_se", AT(c_se), "k", 0}, {"e_se", AT(e_se), "m", 0},  {"active", AT(active), "k", 0},
};

static const struct number_field {
    const char *name;
    size_t offset;
    double missing;
} numbers[] = {
    {"residual", AT(residual), 0},
    {"noise", AT(noise), 0},
    {"holdout_residual", AT(holdout_residual), NAN},
    {"gap", AT(gap), NAN},
};

static const struct count_field {
    const char *name;
    size_t offset;
} counts[] = {
    {"n", AT(n)},
    {"samples_checked", AT(samples_checked)},
    {"min_active", AT(min_active)},
    {"min_inactive", AT(min_inactive)},
    {"starts", AT(starts)},
    {"starts_agree", AT(starts_agree)},
    {"linear_rank", AT(linear_rank)},
};

static const struct word_field {
    const char *name;
    size_t offset, size;
} words[] = {
    {"method", AT(method), SIZE(method)},          {"biases", AT(biases), SIZE(biases)},
    {"precision", AT(precision), SIZE(precision)}, {"how_k", AT(how_k), SIZE(how_k)},
    {"guarantee", AT(guarantee), SIZE(guarantee)}, {"assumption", AT(assumption), SIZE(assumption)},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void *at(const unrelu_network *m, size_t offset)
{
    return (char *)m + offset;
}

/* the shape that the letters spell; returns the number of dimensions */
static size_t spell(const unrelu_network *m, const char *letters, size_t shape[2])
{
    size_t ndim = strlen(letters);
    for (size_t i = 0; i < ndim; i++)
        shape[i] = letters[i] == 'd' ? m->d : letters[i] == 'k' ? m->k : m->m;
    return ndim;
}

/* ---- save ---- */

static void add_fields(ur_npz_writer *w, const unrelu_network *m)
{
    size_t shape[2];
    for (size_t i = 0; i < COUNT(arrays); i++) {
        double *const *array = at(m, arrays[i].offset);
        if (*array)
            ur_npz_add(w, arrays[i].name, *array, spell(m, arrays[i].shape, shape), shape);
    }
    for (size_t i = 0; i < COUNT(numbers); i++)
        ur_npz_add_number(w, numbers[i].name, *(double *)at(m, numbers[i].offset));
    for (size_t i = 0; i < COUNT(counts); i++) {
        const size_t *count = at(m, counts[i].offset);
        ur_npz_add_integer(w, counts[i].name, (int64_t)*count);
    }
    for (size_t i = 0; i < COUNT(words); i++)
        ur_npz_add_string(w, words[i].name, at(m, words[i].offset));
}

unrelu_status unrelu_network_save(const unrelu_network *m, const char *path, unrelu_error *err)
{
    ur_npz_writer *w = NULL;
    if (!m->U || !m->V)
        return ur_fail(err, UNRELU_EUSAGE, "the network has no weights (its verdict is '%s')",
                       unrelu_verdict_name(m->verdict));
    unrelu_status status = ur_npz_writer_open(path, &w, err);
    if (status != UNRELU_OK)
        return status;
    char activation[48], seed[24]; /* the seed as text: a double does not hold all of it */
    unrelu_activation_name(m->activation, activation, sizeof activation);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)m->seed);
    ur_npz_add_string(w, "kind", "network");
    ur_npz_add_string(w, "activation", activation);
    ur_npz_add_string(w, "verdict", unrelu_verdict_name(m->verdict));
    ur_npz_add_string(w, "seed", seed);
    if (m->input_names)
        ur_npz_add_strings(w, "input_names", m->input_names, m->d);
    if (m->label_names)
        ur_npz_add_strings(w, "label_names", m->label_names, m->m);
    add_fields(w, m);
    status = ur_warnings_save(w, m->warnings, m->warning_count, err);
    if (status == UNRELU_OK)
        return ur_npz_commit(w, err);
    ur_npz_abort(w);
    return status;
}

/* ---- load ---- */

typedef struct {
    ur_npz *npz;
    const char *path;
    unrelu_network *m;
    unrelu_error *err;
} reader;

static unrelu_status read_kind(const reader *r)
{
    char kind[32] = "";
    if (!ur_npz_has(r->npz, "kind"))
        return ur_fail(r->err, UNRELU_EFORMAT,
                       "%s has no array 'kind': it is not a model written by unrelu", r->path);
    unrelu_status status = ur_npz_string(r->npz, "kind", kind, sizeof kind, r->err);
    if (status == UNRELU_OK && strcmp(kind, "network") != 0)
        status = ur_fail(r->err, UNRELU_EFORMAT, "%s is of kind '%s', where a network is needed",
                         r->path, kind);
    return status;
}

static unrelu_status read_sizes(const reader *r)
{
    size_t u = 0, v = 0, U[4] = {0}, V[4] = {0};
    unrelu_status status = ur_npz_shape(r->npz, "U", &u, U, r->err);
    if (status == UNRELU_OK)
        status = ur_npz_shape(r->npz, "V", &v, V, r->err);
    if (status != UNRELU_OK)
        return status;
    if (u != 2 || v != 2)
        return ur_fail(r->err, UNRELU_EFORMAT,
                       "%s: U has %zu dimensions and V %zu, where both must be matrices", r->path,
                       u, v);
    if (U[1] != V[0] || U[0] == 0 || V[1] == 0)
        return ur_fail(r->err, UNRELU_EFORMAT,
                       "%s: U is %zu x %zu and V is %zu x %zu, where m x k and k x d are needed",
                       r->path, U[0], U[1], V[0], V[1]);
    /* without neurons nothing but the names vouches for m and d */
    if (V[0] == 0 && !(ur_npz_has(r->npz, "input_names") && ur_npz_has(r->npz, "label_names")))
        return ur_fail(r->err, UNRELU_EFORMAT, "%s: V is 0 x %zu: the network has no neurons",
                       r->path, V[1]);
    r->m->m = U[0];
    r->m->k = V[0];
    r->m->d = V[1];
    return UNRELU_OK;
}

static unrelu_status check_finite(const reader *r, const char *name, const double *x, size_t count,
                                  size_t width)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return ur_fail(r->err, UNRELU_EFORMAT,
                           "%s: %s has %g at row %zu, column %zu, where a finite number is needed",
                           r->path, name, x[i], i / width + 1, i % width + 1);
    return UNRELU_OK;
}

static unrelu_status read_array(const reader *r, const struct array_field *field)
{
    size_t ndim = 0, shape[4] = {0}, want[2] = {1, 1};
    size_t dimensions = spell(r->m, field->shape, want);
    double **to = at(r->m, field->offset);
    unrelu_status status = ur_npz_shape(r->npz, field->name, &ndim, shape, r->err);
    if (status != UNRELU_OK)
        return status;
    if (ndim != dimensions || shape[0] != want[0] || (ndim == 2 && shape[1] != want[1]))
        return ur_fail(r->err, UNRELU_EFORMAT,
                       dimensions == 2 ? "%s: %s must be a matrix of %zu x %zu"
                                       : "%s: %s must be a vector of %zu numbers",
                       r->path, field->name, want[0], want[1]);
    status = ur_npz_doubles(r->npz, field->name, want[0] * want[1], to, r->err);
    if (status == UNRELU_OK && field->finite)
        status =
            check_finite(r, field->name, *to, want[0] * want[1], dimensions == 2 ? want[1] : 1);
    return status;
}

static unrelu_status read_arrays(const reader *r)
{
    unrelu_status status = UNRELU_OK;
    int measured = ur_npz_has(r->npz, "active");
    for (size_t i = 0; status == UNRELU_OK && i < COUNT(arrays); i++)
        if (ur_npz_has(r->npz, arrays[i].name))
            status = read_array(r, &arrays[i]);
    if (status == UNRELU_OK)
        status = ur_network_alloc(r->m, r->err); /* what is missing */
    for (size_t j = 0; status == UNRELU_OK && !measured && j < r->m->k; j++)
        r->m->active[j] = NAN;
    return status;
}

static unrelu_status read_count(const reader *r, const struct count_field *field)
{
    double value = 0;
    unrelu_status status = ur_npz_number(r->npz, field->name, &value, r->err);
    if (status == UNRELU_OK && !(value >= 0 && value < 1e18 && value == floor(value)))
        status = ur_fail(r->err, UNRELU_EFORMAT, "%s: %s is %g, where a count is needed", r->path,
                         field->name, value);
    if (status == UNRELU_OK)
        *(size_t *)at(r->m, field->offset) = (size_t)value;
    return status;
}

static unrelu_status read_fields(const reader *r)
{
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; status == UNRELU_OK && i < COUNT(numbers); i++) {
        double *to = at(r->m, numbers[i].offset);
        *to = numbers[i].missing;
        if (ur_npz_has(r->npz, numbers[i].name))
            status = ur_npz_number(r->npz, numbers[i].name, to, r->err);
    }
    for (size_t i = 0; status == UNRELU_OK && i < COUNT(counts); i++)
        if (ur_npz_has(r->npz, counts[i].name))
            status = read_count(r, &counts[i]);
    for (size_t i = 0; status == UNRELU_OK && i < COUNT(words); i++)
        if (ur_npz_has(r->npz, words[i].name))
            status = ur_npz_string(r->npz, words[i].name, at(r->m, words[i].offset), words[i].size,
                                   r->err);
    return status;
}

static unrelu_status read_activation(const reader *r)
{
    char text[96];
    unrelu_error why = {""};
    if (!ur_npz_has(r->npz, "activation"))
        return UNRELU_OK;
    unrelu_status status = ur_npz_string(r->npz, "activation", text, sizeof text, r->err);
    if (status != UNRELU_OK)
        return status;
    if (unrelu_activation_parse(text, &r->m->activation, &why) != UNRELU_OK)
        return ur_fail(r->err, UNRELU_EFORMAT, "%s: %.300s", r->path, why.text);
    return UNRELU_OK;
}

static unrelu_status read_verdict(const reader *r)
{
    char text[32];
    if (!ur_npz_has(r->npz, "verdict"))
        return UNRELU_OK;
    unrelu_status status = ur_npz_string(r->npz, "verdict", text, sizeof text, r->err);
    if (status != UNRELU_OK)
        return status;
    for (int verdict = UNRELU_VERDICT_PLANTED; verdict < UNRELU_VERDICT_FAILED; verdict++)
        if (strcmp(text, unrelu_verdict_name((unrelu_verdict)verdict)) == 0) {
            r->m->verdict = (unrelu_verdict)verdict;
            return UNRELU_OK;
        }
    return ur_fail(r->err, UNRELU_EFORMAT, "%s: '%s' is no verdict of a network with weights",
                   r->path, text);
}

static unrelu_status read_seed(const reader *r)
{
    char text[24] = "", *end = text;
    if (!ur_npz_has(r->npz, "seed"))
        return UNRELU_OK;
    unrelu_status status = ur_npz_string(r->npz, "seed", text, sizeof text, r->err);
    if (status != UNRELU_OK)
        return status;
    r->m->seed = strtoull(text, &end, 10);
    if (end == text || *end)
        return ur_fail(r->err, UNRELU_EFORMAT, "%s: '%s' is no seed", r->path, text);
    return UNRELU_OK;
}

static unrelu_status read_names(const reader *r, const char *name, size_t count, char ***to)
{
    char **names = NULL;
    size_t found = 0;
    if (!ur_npz_has(r->npz, name))
        return UNRELU_OK;
    unrelu_status status = ur_npz_strings(r->npz, name, &names, &found, r->err);
    if (status == UNRELU_OK && found != count) {
        ur_strings_free(names, found);
        return ur_fail(r->err, UNRELU_EFORMAT, "%s: %s has %zu names for %zu columns", r->path,
                       name, found, count);
    }
    if (status == UNRELU_OK)
        *to = names;
    return status;
}

static unrelu_status read_all(const reader *r)
{
    unrelu_status status;
    if ((status = read_kind(r)) != UNRELU_OK || (status = read_sizes(r)) != UNRELU_OK ||
        (status = read_activation(r)) != UNRELU_OK || (status = read_verdict(r)) != UNRELU_OK ||
        (status = read_seed(r)) != UNRELU_OK || (status = read_fields(r)) != UNRELU_OK ||
        (status = read_names(r, "input_names", r->m->d, &r->m->input_names)) != UNRELU_OK ||
        (status = read_names(r, "label_names", r->m->m, &r->m->label_names)) != UNRELU_OK ||
        (status = read_arrays(r)) != UNRELU_OK)
        return status;
    if (!ur_npz_has(r->npz, "warning_codes"))
        return UNRELU_OK;
    return ur_warnings_load(r->npz, r->path, &r->m->warnings, &r->m->warning_count, r->err);
}

unrelu_status unrelu_network_load(const char *path, unrelu_network *m, unrelu_error *err)
{
    reader r = {NULL, path, m, err};
    memset(m, 0, sizeof *m);
    unrelu_status status = ur_npz_open(path, &r.npz, err);
    if (status != UNRELU_OK)
        return status;
    status = read_all(&r);
    ur_npz_close(r.npz);
    if (status != UNRELU_OK)
        unrelu_network_free(m);
    return status;
}
