/* SPDX-License-Identifier: Apache-2.0 */
/* Reads DIMACS: lines that start with c are comments, then 'p cnf VARIABLES CLAUSES', then
 * literals, a 0 behind each clause, over any lines. A line that starts with % ends the formula. As
 * many clauses must be there as the header says, an empty one among them is fine. What is wrong is
 * named by line and column. Memory grows with what was read, never with what the header says; a
 * word is read no further than any literal goes, and the whole to UR_FORMULA_MOST bytes. */
#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "paper/hardness/hardness.h"
#include "read/bytes.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 16, LONGEST = 32 };

typedef struct {
    const char *label;
    ur_bytes bytes;
    unsigned char *buffer;
    size_t used, filled;
    size_t line, column; /* of the next byte */
    int fresh;           /* nothing but blanks on this line so far */
    char token[LONGEST + 1];
    size_t token_line, token_column;
    int ended;
} reader;

/* the next byte, not taken; EOF at the end */
static unrelu_status look(reader *r, int *byte, unrelu_error *err)
{
    *byte = EOF;
    if (r->used == r->filled) {
        r->used = r->filled = 0;
        UR_TRY(ur_bytes_read(&r->bytes, r->buffer, BUFFER, &r->filled, err));
        if (r->bytes.position > UR_FORMULA_MOST)
            return ur_fail(err, UNRELU_EFORMAT,
                           "%s: the formula goes on at line %zu after %d MiB, where at most so "
                           "many are read: no memory holds what it would be encoded to; take a "
                           "smaller formula",
                           r->label, r->line, UR_FORMULA_MOST >> 20);
    }
    if (r->used < r->filled)
        *byte = r->buffer[r->used];
    return UNRELU_OK;
}

/* takes *byte and looks at the next */
static unrelu_status step(reader *r, int *byte, unrelu_error *err)
{
    r->used++;
    r->column++;
    if (*byte == '\n') {
        r->line++;
        r->column = 1;
        r->fresh = 1;
    }
    return look(r, byte, err);
}

static int is_blank(int byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* the next word that is in no comment, cut to what fits, with what cannot be printed as '?' */
static unrelu_status next(reader *r, unrelu_error *err)
{
    for (int comment = 0;; comment = 1) {
        size_t length = 0;
        int byte;
        UR_TRY(look(r, &byte, err));
        while (comment && byte != EOF && byte != '\n')
            UR_TRY(step(r, &byte, err));
        while (is_blank(byte))
            UR_TRY(step(r, &byte, err));
        int first = r->fresh; /* on its line */
        r->token_line = r->line;
        r->token_column = r->column;
        while (byte != EOF && !is_blank(byte)) {
            if (length < LONGEST)
                r->token[length++] = (char)(byte > ' ' && byte < 127 ? byte : '?');
            else if (!first || r->token[0] != 'c')
                break; /* whoever asked for it refuses it */
            UR_TRY(step(r, &byte, err));
        }
        r->token[length] = '\0';
        r->fresh = 0;
        r->ended = length == 0;
        if (first && r->token[0] == '%') { /* the end of the formula */
            r->token[0] = '\0';
            r->ended = 1;
        }
        if (r->ended || !first || r->token[0] != 'c')
            return UNRELU_OK;
    }
}

static int is_whole(const char *text, long most, long *value)
{
    const char *digits = text + (text[0] == '-');
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || length >= LONGEST - 1 || digits[length])
        return 0;
    *value = strtol(text, NULL, 10); /* LONG_MAX where it is larger */
    return *value <= most && *value >= -most;
}

/* ---- the header ---- */

static unrelu_status refuse_header(const reader *r, unrelu_error *err)
{
    const char *quote = r->ended ? "" : "'";
    return ur_fail(err, UNRELU_EFORMAT,
                   "%s: line %zu, column %zu: %s%s%s where the header is needed: p cnf VARIABLES "
                   "CLAUSES, on one line",
                   r->label, r->token_line, r->token_column, quote,
                   r->ended ? "the file ends" : r->token, quote);
}

static unrelu_status read_header(reader *r, ur_cnf *cnf, unrelu_error *err)
{
    long numbers[2] = {0};
    UR_TRY(next(r, err));
    size_t line = r->token_line;
    if (strcmp(r->token, "p") != 0)
        return refuse_header(r, err);
    UR_TRY(next(r, err));
    if (strcmp(r->token, "cnf") != 0 || r->token_line != line)
        return refuse_header(r, err);
    for (int i = 0; i < 2; i++) {
        UR_TRY(next(r, err));
        if (r->token_line != line || !is_whole(r->token, INT_MAX, &numbers[i]) || numbers[i] < 0)
            return refuse_header(r, err);
    }
    cnf->variables = (size_t)numbers[0];
    cnf->clauses = (size_t)numbers[1];
    return UNRELU_OK;
}

/* ---- the clauses ---- */

static unrelu_status take_literal(const reader *r, ur_cnf *cnf, size_t clauses, unrelu_error *err)
{
    long value = 0;
    if (!is_whole(r->token, LONG_MAX - 1, &value))
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: line %zu, column %zu: '%s' is no literal: whole numbers are needed, "
                       "and a 0 behind each clause",
                       r->label, r->token_line, r->token_column, r->token);
    if (clauses == cnf->clauses)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: line %zu, column %zu: '%s' after the last of the %zu clauses that the "
                       "header announces",
                       r->label, r->token_line, r->token_column, r->token, cnf->clauses);
    if ((size_t)labs(value) > cnf->variables)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: line %zu, column %zu: literal %s, where the header announces %zu "
                       "variables",
                       r->label, r->token_line, r->token_column, r->token, cnf->variables);
    if (cnf->count == cnf->capacity) {
        size_t capacity = cnf->capacity ? 2 * cnf->capacity : 256;
        int *more = capacity < SIZE_MAX / sizeof *more / 2
                        ? ur_resize(cnf->literals, capacity * sizeof *more)
                        : NULL;
        if (!more)
            return ur_fail_memory(err, capacity, "literals");
        cnf->literals = more;
        cnf->capacity = capacity;
    }
    cnf->literals[cnf->count++] = (int)value;
    return UNRELU_OK;
}

static unrelu_status read_clauses(reader *r, ur_cnf *cnf, unrelu_error *err)
{
    size_t clauses = 0;
    UR_TRY(next(r, err));
    while (!r->ended) {
        UR_TRY(take_literal(r, cnf, clauses, err));
        clauses += cnf->literals[cnf->count - 1] == 0;
        UR_TRY(next(r, err));
    }
    if (cnf->count > 0 && cnf->literals[cnf->count - 1] != 0)
        return ur_fail(
            err, UNRELU_EFORMAT,
            "%s: line %zu, column %zu: the formula ends within clause %zu: a 0 is needed "
            "behind it",
            r->label, r->token_line, r->token_column, clauses + 1);
    if (clauses < cnf->clauses)
        return ur_fail(err, UNRELU_EFORMAT,
                       "%s: line %zu, column %zu: the formula ends after %zu clauses, where the "
                       "header announces %zu",
                       r->label, r->token_line, r->token_column, clauses, cnf->clauses);
    return UNRELU_OK;
}

static void close_bytes(void *bytes)
{
    ur_bytes_close(bytes);
}

static void free_literals(void *cnf)
{
    ur_free(((ur_cnf *)cnf)->literals);
}

unrelu_status ur_cnf_read(const char *path, ur_arena *arena, ur_cnf *cnf, unrelu_error *err)
{
    int standard = strcmp(path, "-") == 0;
    reader r = {.label = standard ? "standard input" : path, .line = 1, .column = 1, .fresh = 1};
    UR_ARENA(own); /* after r, whose bytes it closes: scopes end last first */
    r.buffer = ur_take(&own, BUFFER, 1);
    *cnf = (ur_cnf){0};
    ur_arena_adopt(arena, cnf, free_literals);
    UR_TRY(ur_arena_status(arena, err));
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(ur_bytes_open(&r.bytes, standard ? NULL : path, r.label, 0, 0, err));
    ur_arena_adopt(&own, &r.bytes, close_bytes);
    UR_TRY(ur_arena_status(&own, err));
    UR_TRY(read_header(&r, cnf, err));
    return read_clauses(&r, cnf, err);
}
