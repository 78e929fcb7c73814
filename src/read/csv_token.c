/* SPDX-License-Identifier: Apache-2.0 */
/* What the text of a cell says: a number, nothing, or where the number lies. Laboratories write a
 * value that was not detected in many ways; letters count in either case, blanks around signs
 * do not. */
#include "read/csv_cell.h"

#include "read/number.h"

#include <math.h>
#include <string.h>
#include <strings.h>

typedef struct {
    const unsigned char *start, *end;
} text;

static text trimmed(const unsigned char *start, const unsigned char *end)
{
    while (start < end && ur_is_blank(*start))
        start++;
    while (end > start && ur_is_blank(end[-1]))
        end--;
    return (text){start, end};
}

static int is_one_of(text t, const char *const *words)
{
    size_t size = (size_t)(t.end - t.start);
    for (; *words; words++)
        if (strlen(*words) == size && !strncasecmp((const char *)t.start, *words, size))
            return 1;
    return 0;
}

/* t without `sign` and the blanks behind it; 0 where it does not start so */
static int strip(text *t, const char *sign)
{
    size_t size = strlen(sign);
    if ((size_t)(t->end - t->start) < size || memcmp(t->start, sign, size) != 0)
        return 0;
    *t = trimmed(t->start + size, t->end);
    return 1;
}

static int read_finite(text t, locale_t c_locale, double *value)
{
    return ur_number_exact(t.start, t.end, c_locale, value) && isfinite(*value);
}

/* t without what laboratories of the EPA put behind a value, in either case, and the blanks before
 * it; 0 where it does not end so, or nothing is before it */
static int strip_flag(text *t, const char *flag)
{
    size_t size = strlen(flag);
    if ((size_t)(t->end - t->start) <= size ||
        strncasecmp((const char *)t->end - size, flag, size) != 0)
        return 0;
    *t = trimmed(t->start, t->end - size);
    return 1;
}

/* <v, <=v; v U, v UJ: not detected */
static int is_below(text t, locale_t c_locale, double *value)
{
    static const char *const below[] = {"<=", "<", "\xe2\x89\xa4"}; /* the last is U+2264 */
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        if (strip(&t, below[i]))
            return read_finite(t, c_locale, value);
    return (strip_flag(&t, "UJ") || strip_flag(&t, "U")) && read_finite(t, c_locale, value);
}

/* v J: seen, and estimated */
static int is_estimated(text t, locale_t c_locale, double *value)
{
    return strip_flag(&t, "J") && read_finite(t, c_locale, value);
}

static int is_above(text t, locale_t c_locale, double *value)
{
    static const char *const above[] = {">=", ">", "\xe2\x89\xa5"}; /* the last is U+2265 */
    for (size_t i = 0; i < sizeof above / sizeof *above; i++)
        if (strip(&t, above[i]))
            return read_finite(t, c_locale, value);
    return 0;
}

/* a..b: two dots with a number on each side; of '1...2' the first two */
static int is_between(text t, locale_t c_locale, double *low, double *high)
{
    for (const unsigned char *s = t.start; s + 1 < t.end; s++)
        if (s[0] == '.' && s[1] == '.' && read_finite(trimmed(t.start, s), c_locale, low) &&
            read_finite(trimmed(s + 2, t.end), c_locale, high))
            return 1;
    return 0;
}

ur_cell_kind ur_cell_read(const ur_cell *cell, locale_t c_locale, double *value, double *upper)
{
    static const char *const infinite[] = {"inf",       "+inf",      "-inf", "infinity",
                                           "+infinity", "-infinity", NULL};
    static const char *const missing[] = {"",    "NA",   "NaN",  "-NaN", /* printf writes -nan */
                                          "N/A", "#N/A", "NULL", ".",    NULL};
    static const char *const not_detected[] = {"ND",   "N.D.", "BDL", "<LOD", "<MDL",
                                               "<LOQ", "<DL",  "<RL", NULL};
    text t = {cell->start, cell->end};
    *value = *upper = NAN;
    if (cell->open)
        return UR_CELL_OPEN;
    if (ur_number_exact(t.start, t.end, c_locale, value))
        return isinf(*value) ? UR_CELL_INFINITE : UR_CELL_NUMBER;
    *value = NAN;
    if (is_one_of(t, missing))
        return UR_CELL_MISSING;
    if (is_one_of(t, infinite))
        return UR_CELL_INFINITE;
    if (is_one_of(t, not_detected) || is_below(t, c_locale, value))
        return UR_CELL_BELOW;
    if (is_estimated(t, c_locale, value))
        return UR_CELL_NUMBER;
    if (is_above(t, c_locale, value))
        return UR_CELL_ABOVE;
    if (!is_between(t, c_locale, value, upper)) {
        *value = *upper = NAN;
        return UR_CELL_TEXT;
    }
    if (*value == *upper) { /* both ends are the value */
        *upper = NAN;
        return UR_CELL_NUMBER;
    }
    return *value < *upper ? UR_CELL_BETWEEN : UR_CELL_BACKWARDS;
}
