/* SPDX-License-Identifier: Apache-2.0 */
/* Which array is which layer: V is k x d and U is m x k, so that shapes tell, but where both orders
 * would do (an autoencoder); then names that differ in one number, as those of PyTorch do. Whatever
 * else is in the file would be another layer, and is refused: without it the network is not the one
 * that was saved. */
#include "network/model/state_dict.h"

#include "base/error.h"
#include "base/limits.h"
#include "model/ranges.h"
#include "read/input_file.h"
#include "read/npz.h"
#include "read/tensors.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char WEIGHT[] = ".weight", BIAS[] = ".bias";
enum { NONE = -1 };

typedef struct {
    const char *name;
    size_t at;            /* in the file */
    size_t rows, columns; /* of its matrix */
} layer;

typedef struct {
    const char *path;
    ur_tensors *file;
    layer layers[UR_LAYERS];
} dict;

/* ---- names ---- */

/* "0" of "0.weight" */
static size_t stem(const char *name)
{
    return strlen(name) - strlen(WEIGHT);
}

static int is_bias_of(const char *name, const char *weight)
{
    size_t size = stem(weight);
    return strncmp(name, weight, size) == 0 && strcmp(name + size, BIAS) == 0;
}

/* the place of the bias of a layer, or NONE */
static long bias_of(const dict *q, const layer *l)
{
    for (size_t i = 0; i < ur_tensors_count(q->file); i++)
        if (is_bias_of(ur_tensors_name(q->file, i), l->name))
            return (long)i;
    return NONE;
}

/* of two names that are the same but for one number, whether the first has the smaller one; *told:
 * whether they are */
static int comes_first(const char *a, const char *b, int *told)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    *told = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
    char *after_a, *after_b;
    if (!*told)
        return 0;
    unsigned long first = strtoul(a, &after_a, 10), second = strtoul(b, &after_b, 10);
    *told = first != second && strcmp(after_a, after_b) == 0;
    return first < second;
}

/* ---- layers ---- */

static unrelu_status refuse_count(const dict *q, size_t found, unrelu_error *err)
{
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s has %zu array%s called *.weight, where a network of one hidden layer has "
                   "two; save its weights as 0.weight, 0.bias, 2.weight and 2.bias",
                   q->path, found, found == 1 ? "" : "s");
}

static unrelu_status find_layers(dict *q, unrelu_error *err)
{
    size_t found = 0;
    for (size_t i = 0; i < ur_tensors_count(q->file); i++) {
        const char *name = ur_tensors_name(q->file, i);
        if (!ur_is_weight(name))
            continue;
        if (found < UR_LAYERS)
            q->layers[found] = (layer){.name = name, .at = i};
        found++;
    }
    return found == UR_LAYERS ? UNRELU_OK : refuse_count(q, found, err);
}

/* nothing beside the two layers */
static unrelu_status check_rest(const dict *q, unrelu_error *err)
{
    const layer *l = q->layers;
    for (size_t i = 0; i < ur_tensors_count(q->file); i++) {
        const char *name = ur_tensors_name(q->file, i);
        if (i != l[0].at && i != l[1].at && !is_bias_of(name, l[0].name) &&
            !is_bias_of(name, l[1].name))
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s has an array '%.100s' beside %.60s and %.60s: only networks of two "
                           "linear layers and their biases are read; save these alone",
                           q->path, name, l[0].name, l[1].name);
    }
    return UNRELU_OK;
}

static unrelu_status look_at_shape(dict *q, layer *l, unrelu_error *err)
{
    size_t ndim = 0, shape[4] = {0};
    UR_TRY(ur_tensors_shape(q->file, l->at, &ndim, shape, err));
    if (ndim != 2 || shape[0] == 0 || shape[1] == 0)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: '%.100s' has %zu dimensions%s, and the weights of a linear layer are a "
                       "matrix",
                       q->path, l->name, ndim, ndim == 2 ? " and no numbers" : "");
    UR_TRY(ur_columns_check(q->path, shape[0], err));
    UR_TRY(ur_columns_check(q->path, shape[1], err));
    l->rows = shape[0];
    l->columns = shape[1];
    return UNRELU_OK;
}

/* layers[0] is the hidden one from here on */
static unrelu_status order_layers(dict *q, unrelu_error *err)
{
    layer *l = q->layers, first = l[0];
    int forth = l[1].columns == l[0].rows, back = l[0].columns == l[1].rows, told = 1;
    if (!forth && !back)
        return ur_fail(
            err, UNRELU_EFORMAT,
            "%s: '%.60s' is %zu x %zu and '%.60s' %zu x %zu, which are not two layers in "
            "a row; k x d and m x k are needed",
            q->path, l[0].name, l[0].rows, l[0].columns, l[1].name, l[1].rows, l[1].columns);
    if (forth && back)
        forth = comes_first(l[0].name, l[1].name, &told);
    if (!told)
        return ur_fail(
            err, UNRELU_EFORMAT,
            "%s: '%.60s' is %zu x %zu and '%.60s' %zu x %zu, and either may be the first "
            "layer; call them 0.weight and 2.weight",
            q->path, l[0].name, l[0].rows, l[0].columns, l[1].name, l[1].rows, l[1].columns);
    if (!forth) {
        l[0] = l[1];
        l[1] = first;
    }
    return UNRELU_OK;
}

/* ---- numbers ---- */

static unrelu_status read_matrix(dict *q, size_t at, size_t rows, size_t columns, ur_arena *to,
                                 double **out, unrelu_error *err)
{
    UR_TRY(ur_tensors_read(q->file, at, rows * columns, to, out, err));
    return ur_range_check(q->path, ur_tensors_name(q->file, at), &ur_is_finite, *out, rows, columns,
                          0, err);
}

/* zeros where the layer has none: NULL, and ur_network_alloc makes them */
static unrelu_status read_bias(dict *q, const layer *l, ur_arena *to, double **out,
                               unrelu_error *err)
{
    long at = bias_of(q, l);
    *out = NULL;
    return at == NONE ? UNRELU_OK : read_matrix(q, (size_t)at, l->rows, 1, to, out, err);
}

/* ---- the whole ---- */

/* relu, unless `export` wrote the file and says otherwise */
static unrelu_status read_activation(const dict *q, unrelu_network *model, unrelu_error *err)
{
    const char *text = ur_tensors_activation(q->file);
    unrelu_activation f = {UNRELU_RELU, 0};
    unrelu_error why = {0};
    if (text && unrelu_activation_parse(text, &f, &why) != UNRELU_OK)
        return ur_fail(err, UNRELU_EFORMAT, "%s: %.300s", q->path, why.text);
    ur_network_set_activation(model, f);
    return UNRELU_OK;
}

unrelu_status ur_is_state_dict(const char *path, int *yes, unrelu_error *err)
{
    UR_ARENA(arena);
    ur_file_start start;
    ur_npz *npz;
    UR_TRY(ur_file_look(path, &start, err));
    *yes = start == UR_FILE_TENSORS;
    if (start != UR_FILE_ZIP)
        return UNRELU_OK;
    UR_TRY(ur_npz_open(path, &arena, &npz, err));
    *yes = !ur_npz_has(npz, "kind") && ur_npz_has_layers(npz);
    return UNRELU_OK;
}

unrelu_status ur_state_dict_load(const char *path, unrelu_network *model, unrelu_error *err)
{
    UR_ARENA(arena);
    dict q = {.path = path};
    const layer *hidden = &q.layers[0], *outer = &q.layers[1];
    ur_arena *own = ur_model_arena(model);
    UR_TRY(ur_tensors_open(path, &arena, &q.file, err));
    UR_TRY(find_layers(&q, err));
    UR_TRY(check_rest(&q, err));
    UR_TRY(look_at_shape(&q, &q.layers[0], err));
    UR_TRY(look_at_shape(&q, &q.layers[1], err));
    UR_TRY(order_layers(&q, err));
    UR_TRY(read_activation(&q, model, err));
    model->d = hidden->columns;
    model->k = hidden->rows;
    model->m = outer->rows;
    UR_TRY(read_matrix(&q, hidden->at, model->k, model->d, own, &model->V, err));
    UR_TRY(read_matrix(&q, outer->at, model->m, model->k, own, &model->U, err));
    UR_TRY(read_bias(&q, hidden, own, &model->c, err));
    return read_bias(&q, outer, own, &model->e, err);
}
