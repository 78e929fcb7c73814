/* SPDX-License-Identifier: Apache-2.0 */
/* Two models with the same members, bit by bit. */
#ifndef MEMBERS_H
#define MEMBERS_H

#include "planted.h"

static inline void assert_same_member(const unrelu_array *a, const unrelu_array *b)
{
    static const size_t sizes[] = {[UNRELU_DOUBLES] = sizeof(double),
                                   [UNRELU_SIZES] = sizeof(size_t),
                                   [UNRELU_INTS] = sizeof(int),
                                   [UNRELU_BYTES] = 1,
                                   [UNRELU_UINT32S] = 4,
                                   [UNRELU_UINT64S] = 8};
    size_t count = 1;
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->dimensions, b->dimensions);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(a->shape[i], b->shape[i]);
        count *= a->shape[i];
    }
    const char *const *texts = a->data, *const *others = b->data;
    for (size_t i = 0; a->type == UNRELU_TEXTS && i < count; i++)
        assert_string_equal(texts[i], others[i]);
    if (a->type != UNRELU_TEXTS)
        assert_memory_equal(a->data, b->data, count * sizes[a->type]);
}

/* returns how many there are */
static inline size_t assert_same_members(const unrelu_model *a, const unrelu_model *b)
{
    unrelu_array one, other;
    size_t i = 0, count, others;
    for (; unrelu_model_at(a, i, &one); i++) {
        assert_true(unrelu_model_at(b, i, &other));
        assert_same_member(&one, &other);
    }
    assert_false(unrelu_model_at(b, i, &other));
    const unrelu_warning *first = unrelu_model_warnings(a, &count);
    const unrelu_warning *second = unrelu_model_warnings(b, &others);
    assert_int_equal(count, others);
    for (size_t w = 0; w < count; w++) {
        assert_string_equal(first[w].code, second[w].code);
        assert_string_equal(first[w].message, second[w].message);
    }
    return i;
}

#endif
