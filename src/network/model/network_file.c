/* SPDX-License-Identifier: Apache-2.0 */
/* A network as a .npz file; docs/formats.md lists the arrays. To be read it needs kind, U and V
 * alone: what else is missing is relu, zero biases, no errors, numbered names. Weights that PyTorch
 * wrote are read too (state_dict.c). */
#include "base/error.h"
#include "base/limits.h"
#include "model/rules.h"
#include "model/warnings.h"
#include "network/model/network.h"
#include "network/model/state_dict.h"

#include <math.h>
#include <string.h>

#define ERRORS(member, letters) UR_ARRAY_IN(unrelu_network, member, letters, ur_is_error)
#define FINITE(member, letters) UR_FINITE_FIELD(unrelu_network, member, letters)
#define NUMBER(member, without) UR_NUMBER_IN(unrelu_network, member, without, ur_is_error)
#define COUNT(member)           UR_COUNT_FIELD(unrelu_network, member)
#define UP_TO(member, bound)    UR_COUNT_UP_TO(unrelu_network, member, bound)
#define WORD(member)            UR_WORD_FIELD(unrelu_network, member)
#define TEXTS(member, letters)  UR_TEXTS_FIELD(unrelu_network, member, letters)

static const ur_field fields[] = {
    FINITE(U, "mk"),
    FINITE(V, "kd"),
    FINITE(c, "k"),
    FINITE(e, "m"),
    ERRORS(U_se, "mk"),
    ERRORS(V_se, "kd"),
    ERRORS(c_se, "k"),
    ERRORS(e_se, "m"),
    UR_ARRAY_IN(unrelu_network, active, "k", ur_is_share),
    NUMBER(residual, 0),
    UR_NUMBER_IN(unrelu_network, noise, 0, ur_is_size),
    NUMBER(holdout_residual, NAN),
    UR_NUMBER_IN(unrelu_network, gap, NAN, ur_is_known),
    COUNT(n),
    UP_TO(samples_checked, n),
    UP_TO(min_active, n),
    UP_TO(min_inactive, n),
    COUNT(starts),
    UP_TO(starts_agree, starts),
    UP_TO(linear_rank, d),
    WORD(method),
    WORD(biases),
    WORD(precision),
    WORD(how_k),
    WORD(guarantee),
    WORD(assumption),
    NUMBER(objective, NAN),
    NUMBER(objective_bound, NAN),
    NUMBER(incoherence, NAN),
    TEXTS(V_rational, "kd"),
    TEXTS(U_rational, "mk"),
    WORD(guarantee_holds),
    WORD(guarantee_because),
    UP_TO(inputs_rank, d),
};

/* wrong labels, where there are any: z of them */
static const ur_field wrong[] = {FINITE(E_row, "z"), FINITE(E_column, "z"), FINITE(E_value, "z")};
/* where it was learned: t branches */
static const ur_field branches[] = {TEXTS(tried, "t")};
enum { MOST_BRANCHES = 1000 };
/* written in ways of their own, below */
static const ur_field others[] = {
    TEXTS(input_names, "d"),
    TEXTS(label_names, "m"),
    {.name = "activation", .kind = UR_WORD, .offset = offsetof(unrelu_network, activation_name)},
    {.name = "verdict",
     .kind = UR_CHOICE,
     .offset = offsetof(unrelu_network, verdict),
     .words = ur_verdict_words},
    UR_FIELD(unrelu_network, seed, UR_SEED, NULL, 0, 0),
    WORD(failure),
};
enum { FIELDS = sizeof fields / sizeof *fields, WRONG = sizeof wrong / sizeof *wrong };

static void set_sizes(const void *model, size_t *sizes)
{
    const unrelu_network *m = model;
    sizes[0] = m->d;
    sizes[1] = m->k;
    sizes[2] = m->m;
    sizes[3] = m->corrupted;
    sizes[4] = m->tried_count;
}

const ur_kind ur_network_kind = {
    UR_KIND_OF(unrelu_network, "network"),
    .letters = "dkmzt",
    .set_sizes = set_sizes,
    .tables = {UR_KIND_TABLE(fields), UR_KIND_TABLE(wrong), UR_KIND_TABLE(others),
               UR_KIND_TABLE(branches)},
};

static void save_fields(ur_npz_writer *w, const unrelu_network *m, const ur_field *rows,
                        size_t count)
{
    size_t sizes[UR_MOST_SIZES];
    set_sizes(m, sizes);
    ur_fields_save(w, &(ur_fields){rows, count, ur_network_kind.letters, sizes}, m);
}

static unrelu_status save(const unrelu_network *m, const ur_npz_target *to, unrelu_error *err)
{
    ur_npz_writer *w = NULL;
    if (!m->U || !m->V)
        return ur_fail(err, UNRELU_EUSAGE, "the network has no weights (its verdict is '%s')",
                       unrelu_verdict_name(m->verdict));
    UR_TRY(ur_model_create(to, "network", &w, err));
    ur_npz_add_string(w, "activation", m->activation_name);
    ur_npz_add_string(w, "verdict", unrelu_verdict_name(m->verdict));
    ur_seed_save(w, m->seed);
    if (m->input_names)
        ur_npz_add_strings(w, "input_names", m->input_names, m->d);
    if (m->label_names)
        ur_npz_add_strings(w, "label_names", m->label_names, m->m);
    save_fields(w, m, fields, FIELDS);
    if (m->corrupted > 0)
        save_fields(w, m, wrong, WRONG);
    if (m->tried_count > 0)
        save_fields(w, m, branches, 1);
    return ur_model_commit(w, ur_warnings_save(w, m->warnings, m->warning_count, err), err);
}

/* ---- load ---- */

static unrelu_status load_sizes(ur_npz *npz, const char *path, unrelu_network *m, unrelu_error *err)
{
    size_t u = 0, v = 0, U[4] = {0}, V[4] = {0};
    UR_TRY(ur_npz_shape(npz, "U", &u, U, err));
    UR_TRY(ur_npz_shape(npz, "V", &v, V, err));
    if (u != 2 || v != 2)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: U has %zu dimensions and V %zu, where both must be matrices", path, u,
                       v);
    if (U[1] != V[0] || U[0] == 0 || V[1] == 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: U is %zu x %zu and V is %zu x %zu, where m x k and k x d are needed",
                       path, U[0], U[1], V[0], V[1]);
    /* without neurons nothing but the names vouches for m and d */
    if (V[0] == 0 && !(ur_npz_has(npz, "input_names") && ur_npz_has(npz, "label_names")))
        return ur_fail(err, UNRELU_EFORMAT, "%s: V is 0 x %zu: the network has no neurons", path,
                       V[1]);
    UR_TRY(ur_columns_check(path, V[1], err));
    UR_TRY(ur_columns_check(path, U[0], err));
    m->m = U[0];
    m->k = V[0];
    m->d = V[1];
    return UNRELU_OK;
}

static unrelu_status load_activation(ur_npz *npz, const char *path, unrelu_network *m,
                                     unrelu_error *err)
{
    const char *text;
    unrelu_error why = {0};
    if (!ur_npz_has(npz, "activation"))
        return UNRELU_OK;
    UR_TRY(ur_npz_string(npz, "activation", ur_model_arena(m), &text, err));
    unrelu_activation f;
    if (unrelu_activation_parse(text, &f, &why) != UNRELU_OK)
        return ur_fail(err, UNRELU_EFORMAT, "%s: %.300s", path, why.text);
    ur_network_set_activation(m, f);
    return UNRELU_OK;
}

static unrelu_status load_fields(ur_npz *npz, const char *path, const ur_field *rows, size_t count,
                                 unrelu_network *m, unrelu_error *err)
{
    size_t sizes[UR_MOST_SIZES];
    set_sizes(m, sizes);
    const ur_fields table = {rows, count, ur_network_kind.letters, sizes};
    return ur_fields_load(npz, path, &table, ur_model_arena(m), m, err);
}

/* ---- wrong labels ---- */

/* where the wrong labels are: whole numbers from 0 to below the limit */
static unrelu_status check_places(const char *path, const char *name, const double *at,
                                  size_t count, size_t limit, unrelu_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!(at[i] >= 0 && at[i] < (double)limit && at[i] == floor(at[i])))
            return ur_fail(
                err, UNRELU_EFORMAT,
                "%s: %s has %g at place %zu, where a whole number from 0 to below %zu is "
                "needed",
                path, name, at[i], i + 1, limit);
    return UNRELU_OK;
}

static unrelu_status load_wrong(ur_npz *npz, const char *path, unrelu_network *m, unrelu_error *err)
{
    size_t has = 0, ndim = 0, shape[4] = {0};
    for (size_t i = 0; i < WRONG; i++)
        has += (size_t)ur_npz_has(npz, wrong[i].name);
    if (has == 0)
        return UNRELU_OK;
    if (has < WRONG)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: of E_row, E_column and E_value only %zu are there, where all three are "
                       "needed",
                       path, has);
    UR_TRY(ur_npz_shape(npz, wrong[0].name, &ndim, shape, err));
    m->corrupted = ndim == 1 ? shape[0] : 0;
    UR_TRY(load_fields(npz, path, wrong, WRONG, m, err));
    UR_TRY(check_places(path, "E_row", m->E_row, m->corrupted, m->n, err));
    return check_places(path, "E_column", m->E_column, m->corrupted, m->m, err);
}

static unrelu_status load_branches(ur_npz *npz, const char *path, unrelu_network *m,
                                   unrelu_error *err)
{
    size_t ndim = 0, shape[4] = {0};
    if (!ur_npz_has(npz, branches[0].name))
        return UNRELU_OK;
    UR_TRY(ur_npz_shape(npz, branches[0].name, &ndim, shape, err));
    if (ndim != 1 || shape[0] > MOST_BRANCHES)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: tried has %zu dimensions and %zu entries, where a list of at most %d "
                       "is needed",
                       path, ndim, shape[0], MOST_BRANCHES);
    m->tried_count = shape[0];
    return load_fields(npz, path, branches, 1, m, err);
}

/* ---- weights as fractions ---- */

static int is_fraction(const char *text)
{
    size_t sign = text[0] == '-', digits = strspn(text + sign, "0123456789");
    const char *rest = text + sign + digits;
    if (digits == 0 || *rest == '\0')
        return digits > 0;
    return *rest == '/' && rest[1] != '0' && rest[1] != '\0' &&
           rest[1 + strspn(rest + 1, "0123456789")] == '\0';
}

static unrelu_status check_fractions(const char *path, const char *name, const char *const *texts,
                                     size_t rows, size_t columns, unrelu_error *err)
{
    for (size_t i = 0; i < rows * columns; i++)
        if (!is_fraction(texts[i]))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: %s has no integer or fraction at row %zu, column %zu", path, name,
                           i / columns + 1, i % columns + 1);
    return UNRELU_OK;
}

static unrelu_status check_rational(const char *path, const unrelu_network *m, unrelu_error *err)
{
    if (!m->V_rational && !m->U_rational)
        return UNRELU_OK;
    if (!m->V_rational || !m->U_rational)
        return ur_fail(err, UNRELU_EFORMAT, "%s has %s_rational without %s_rational", path,
                       m->V_rational ? "V" : "U", m->V_rational ? "U" : "V");
    UR_TRY(check_fractions(path, "V_rational", m->V_rational, m->k, m->d, err));
    return check_fractions(path, "U_rational", m->U_rational, m->m, m->k, err);
}

/* ---- the whole ---- */

/* Rows of V have length 1 now: what that took may be too much for U and c. */
static unrelu_status check_scaled(const char *path, const unrelu_network *m, unrelu_error *err)
{
    for (size_t j = 0; j < m->k; j++) {
        int finite = isfinite(m->c[j]);
        for (size_t i = 0; i < m->m; i++)
            finite &= isfinite(m->U[i * m->k + j]);
        if (!finite)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: the weights of a neuron go beyond the range of a double where its "
                           "row of the hidden layer has length 1; scale them",
                           path);
    }
    return UNRELU_OK;
}

/* weights, and nothing else is known of them */
static unrelu_status load_weights(const char *path, unrelu_network *m, unrelu_error *err)
{
    UR_TRY(ur_state_dict_load(path, m, err));
    UR_TRY(ur_network_alloc(m, err));
    for (size_t j = 0; j < m->k; j++)
        m->active[j] = NAN;
    m->method = UR_STATE_DICT;
    UR_TRY(ur_network_normalise(m, err));
    return check_scaled(path, m, err);
}

static unrelu_status load(const ur_npz_origin *from, unrelu_network *m, unrelu_error *err)
{
    const char *path = from->path;
    UR_ARENA(arena);
    ur_npz *npz = NULL;
    int foreign = 0;
    if (!from->bytes)
        UR_TRY(ur_is_state_dict(path, &foreign, err));
    if (foreign)
        return load_weights(path, m, err);
    UR_TRY(ur_model_open(&arena, from, "network", &npz, err));
    UR_TRY(load_sizes(npz, path, m, err));
    UR_TRY(load_activation(npz, path, m, err));
    UR_TRY(ur_verdict_load(npz, path, "a network with weights", &m->verdict, err));
    UR_TRY(ur_seed_load(npz, path, &m->seed, err));
    ur_arena *own = ur_model_arena(m);
    UR_TRY(ur_names_load(npz, path, "input_names", m->d, own, &m->input_names, err));
    UR_TRY(ur_names_load(npz, path, "label_names", m->m, own, &m->label_names, err));
    UR_TRY(load_fields(npz, path, fields, FIELDS, m, err));
    UR_TRY(load_wrong(npz, path, m, err));
    UR_TRY(load_branches(npz, path, m, err));
    UR_TRY(check_rational(path, m, err));
    UR_TRY(ur_network_alloc(m, err)); /* what the file does not have */
    for (size_t j = 0; !ur_npz_has(npz, "active") && j < m->k; j++)
        m->active[j] = NAN;
    if (!ur_npz_has(npz, "warning_codes"))
        return UNRELU_OK;
    return ur_warnings_load(npz, path, own, &m->warnings, &m->warning_count, err);
}

unrelu_status unrelu_network_load(const char *path, unrelu_network **out, unrelu_error *err)
{
    unrelu_network *m = ur_network_new(err);
    const ur_npz_origin from = {.path = path};
    return ur_model_hand(m, m ? load(&from, m, err) : UNRELU_ENOMEM, out, err);
}

unrelu_status unrelu_network_save(const unrelu_network *m, const char *path, unrelu_error *err)
{
    return save(m, &(ur_npz_target){.path = path}, err);
}

unrelu_status unrelu_network_pack(const unrelu_network *m, void **bytes, size_t *size,
                                  unrelu_error *err)
{
    return save(m, &(ur_npz_target){.bytes = bytes, .size = size}, err);
}

unrelu_status unrelu_network_unpack(const void *bytes, size_t size, unrelu_network **model,
                                    unrelu_error *err)
{
    unrelu_network *m = ur_network_new(err);
    const ur_npz_origin from = ur_npz_origin_of("model in memory", bytes, size);
    return ur_model_hand(m, m ? load(&from, m, err) : UNRELU_ENOMEM, model, err);
}
