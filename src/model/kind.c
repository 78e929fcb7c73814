/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kind.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* what lies before the struct */
typedef union {
    struct {
        ur_arena arena;
        const ur_kind *kind;
    } is;
    max_align_t alignment;
} head;

static head *head_of(const void *model)
{
    return (head *)model - 1;
}

void *ur_model_new(const ur_kind *kind, unrelu_error *err)
{
    head *h = ur_alloc(1, sizeof *h + kind->size);
    if (!h) {
        ur_fail_memory(err, 1, "model");
        return NULL;
    }
    h->is.kind = kind;
    unrelu_model *model = (unrelu_model *)(h + 1);
    model->kind = kind->name;
    return model;
}

ur_arena *ur_model_arena(const void *model)
{
    return &head_of(model)->is.arena;
}

unrelu_status ur_model_take_arrays(void *model, unrelu_error *err)
{
    const ur_kind *kind = head_of(model)->is.kind;
    size_t sizes[UR_MOST_SIZES];
    kind->set_sizes(model, sizes);
    for (size_t f = 0; f < kind->tables[0].count; f++) {
        const ur_field *field = &kind->tables[0].fields[f];
        const ur_fields table = {field, 1, kind->letters, sizes};
        double **array = (void *)((char *)model + field->offset);
        unrelu_array is;
        ur_field_show(&table, field, model, &is);
        if (field->kind == UR_ARRAY)
            *array = ur_take(ur_model_arena(model), is.shape[0], is.shape[1] * sizeof **array);
    }
    return ur_arena_status(ur_model_arena(model), err);
}

void ur_model_warn(void *model, const char *code, const char *format, ...)
{
    const ur_kind *kind = head_of(model)->is.kind;
    const unrelu_warning **list = (void *)((char *)model + kind->warnings);
    size_t *count = (void *)((char *)model + kind->warning_count);
    ur_warnings all = {*list, *count};
    va_list values;
    va_start(values, format);
    ur_warnings_add(&all, ur_model_arena(model), code, format, values);
    va_end(values);
    *list = all.list;
    *count = all.count;
}

void ur_model_warn_all(void *model, const ur_warnings *w)
{
    for (size_t i = 0; i < w->count; i++)
        ur_model_warn(model, w->list[i].code, "%s", w->list[i].message);
}

void ur_model_free(void *model)
{
    if (!model)
        return;
    ur_arena_end(ur_model_arena(model));
    ur_free(head_of(model));
}

unrelu_status ur_model_hand(void *model, unrelu_status status, void *out, unrelu_error *err)
{
    if (!model && status == UNRELU_OK)
        status = UNRELU_ENOMEM;
    if (status == UNRELU_OK)
        status = ur_arena_status(ur_model_arena(model), err);
    if (status != UNRELU_OK) {
        ur_model_free(model);
        model = NULL;
    }
    memcpy(out, &model, sizeof model);
    return status;
}

/* ---- models of any kind ---- */

void unrelu_model_free(unrelu_model *model)
{
    ur_model_free(model);
}

const unrelu_warning *unrelu_model_warnings(const unrelu_model *model, size_t *count)
{
    const ur_kind *kind = head_of(model)->is.kind;
    *count = kind->warnings ? *(const size_t *)((const char *)model + kind->warning_count) : 0;
    return *count ? *(const unrelu_warning *const *)((const char *)model + kind->warnings) : NULL;
}

/* the i-th member that the model has, or the one of this name; 0: there is none */
static int find(const void *model, const ur_kind *kind, size_t *i, const char *name,
                unrelu_array *out)
{
    size_t sizes[UR_MOST_SIZES];
    kind->set_sizes(model, sizes);
    for (size_t t = 0; t < UR_MOST_TABLES; t++)
        for (size_t f = 0; f < kind->tables[t].count; f++) {
            const ur_field *field = &kind->tables[t].fields[f];
            const ur_fields table = {field, 1, kind->letters, sizes};
            if (ur_field_show(&table, field, model, out) &&
                (name ? strcmp(name, field->name) == 0 : (*i)-- == 0))
                return 1;
        }
    const void *part =
        kind->part ? *(void *const *)((const char *)model + kind->part_offset) : NULL;
    return part && find(part, kind->part, i, name, out);
}

int unrelu_model_at(const unrelu_model *model, size_t i, unrelu_array *out)
{
    return find(model, head_of(model)->is.kind, &i, NULL, out);
}

int unrelu_model_member(const unrelu_model *model, const char *name, unrelu_array *out)
{
    return find(model, head_of(model)->is.kind, NULL, name, out);
}

const double *unrelu_model_array(const unrelu_model *model, const char *name, size_t *rows,
                                 size_t *columns)
{
    unrelu_array found;
    if (!unrelu_model_member(model, name, &found) || found.type != UNRELU_DOUBLES)
        return NULL;
    if (rows)
        *rows = found.shape[0];
    if (columns)
        *columns = found.shape[1];
    return found.data;
}
