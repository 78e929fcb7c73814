/* SPDX-License-Identifier: Apache-2.0 */
/* How samples were read goes into their model, and from there to others of the kind. */
#include "base/error.h"
#include "base/sized.h"
#include "gaussian/model/gaussian_model.h"
#include "read/source.h"

#include <math.h>
#include <string.h>

unrelu_status ur_gaussian_set_reading(unrelu_gaussian *m, const unrelu_source *source,
                                      const size_t *index, unrelu_error *err)
{
    ur_arena *arena = ur_model_arena(m);
    const unrelu_source_options *asked = ur_source_asked(source);
    const double *top = ur_source_top(source);
    if (asked->indicator)
        m->indicator = ur_take_copy(arena, asked->indicator);
    if (asked->na)
        m->na = ur_take_copy(arena, asked->na);
    m->complete = asked->complete;
    m->top = top ? ur_take(arena, m->d, sizeof *m->top) : NULL;
    UR_TRY(ur_arena_status(arena, err));
    for (size_t i = 0; top && i < m->d; i++)
        m->top[i] = top[index[i]];
    return UNRELU_OK;
}

/* the top codes of the model's columns, as `top` takes them */
static const char *write_top(ur_arena *arena, const unrelu_gaussian *m)
{
    const char *text = NULL;
    for (size_t i = 0; m->top && i < m->d; i++) {
        if (!isfinite(m->top[i]))
            continue;
        char *name = ur_take(arena, 2 * strlen(m->names[i]) + 1, 1), *to = name;
        for (const char *s = m->names[i]; name && *s; s++) {
            *to++ = *s;
            if (*s == '"')
                *to++ = '"';
        }
        text = ur_take_text(arena, "%s%s\"%s\"=%.17g", text ? text : "", text ? "," : "",
                            name ? name : "", m->top[i]);
    }
    return text;
}

/* what was said, else what the model says; NULL: nothing */
static const char *either(const char *said, const char *of_model)
{
    const char *text = said ? said : of_model;
    return text && *text ? text : NULL;
}

unrelu_status unrelu_gaussian_source(const unrelu_gaussian *m, const char *path,
                                     const unrelu_source_options *options, unrelu_source **out,
                                     unrelu_error *err)
{
    UR_ARENA(arena);
    unrelu_source_options o;
    *out = NULL;
    unrelu_source_options_init(&o, sizeof o);
    UR_TRY(ur_sized_copy(&o, sizeof o, options, "the options", err));
    o.indicator = either(o.indicator, m->indicator);
    o.na = either(o.na, m->na);
    o.top = either(o.top, write_top(&arena, m));
    UR_TRY(ur_arena_status(&arena, err));
    return ur_source_open_wanted(path, &o, o.columns ? NULL : m->names, m->d, out, err);
}
