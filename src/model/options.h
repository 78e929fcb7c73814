/* SPDX-License-Identifier: Apache-2.0 */
/* Options by name: one table for each struct of options, {name, type, place, what is allowed}. It
 * serves unrelu_..._options_set, the command line and whoever binds the library to another
 * language; none of them repeats what a value may be. */
#ifndef UR_OPTIONS_H
#define UR_OPTIONS_H

#include "base/sized.h"

typedef enum {
    UR_OPTION_CHOICE, /* an enum: the index of the word */
    UR_OPTION_YES,    /* int: yes or no */
    UR_OPTION_INT,    /* int */
    UR_OPTION_SIZE,   /* size_t */
    UR_OPTION_REAL,   /* double */
    UR_OPTION_SEED,   /* uint64_t */
    UR_OPTION_TEXT,   /* const char *, which is borrowed; not empty */
    UR_OPTION_OWN,    /* by read: values of several kinds */
} ur_option_type;

typedef struct {
    const char *name;
    ur_option_type type;
    size_t offset;     /* of the last field that it sets; a struct must be larger than that */
    const char *words; /* choice: "auto|none"; else what is shown: "K|auto" */
    double least, most;
    const char *want; /* "a whole number of at least 1" */
    /* own: 0 where text is not what is wanted */
    int (*read)(void *options, const char *text);
} ur_option;

/* value NULL: a flag that is given without one. EUSAGE names the option and what it wants; an
 * unknown name is EUSAGE too. Nothing is changed then. table ends with a row without a name. */
unrelu_status ur_option_set(const ur_option *table, void *options, const char *name,
                            const char *value, unrelu_error *err);
/* the i-th row of a table as the public header shows it; 0 after the last */
int ur_option_show(const ur_option *table, size_t i, unrelu_option *out);

/* "rectified", "normal", or a number: the biases of a planted model */
int ur_option_bias(const char *text, unrelu_bias_law *law, double *value);

#endif
