/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas as instances and back, held against the formulas themselves under every assignment,
 * against minisat, and against all V by linear programmes. */
#include "files.h"

#include "dense/lp.h"
#include "left_out.h"
#include "unrelu/unrelu.h"
#include "write/npz_write.h"

#include <math.h>
#include <sys/wait.h>

enum { MOST_VARIABLES = 8, MOST_CLAUSES = 40, MOST_LENGTH = 4, MOST_D = MOST_VARIABLES + 4 };

typedef struct {
    int variables, clauses;
    int length[MOST_CLAUSES], literal[MOST_CLAUSES][MOST_LENGTH];
} formula;

/* bit i of the assignment is variable i + 1 */
static int satisfies(const formula *f, unsigned assignment)
{
    for (int c = 0; c < f->clauses; c++) {
        int some = 0;
        for (int i = 0; i < f->length[c]; i++) {
            int l = f->literal[c][i], value = (int)(assignment >> (abs(l) - 1) & 1);
            some |= value == (l > 0);
        }
        if (!some)
            return 0;
    }
    return 1;
}

static int longest(const formula *f)
{
    int most = 1;
    for (int c = 0; c < f->clauses; c++)
        most = f->length[c] > most ? f->length[c] : most;
    return most;
}

static formula random_formula(uint64_t *state)
{
    formula f = {.variables = 2 + (int)(random_bits(state) % 5)};
    f.clauses = 1 + (int)(random_bits(state) % (uint64_t)(5 * f.variables));
    for (int c = 0; c < f.clauses; c++) {
        f.length[c] = 1 + (int)(random_bits(state) % MOST_LENGTH);
        if (f.length[c] == 1 &&
            random_bits(state) % 4) /* fewer units, so that more are satisfied */
            f.length[c] = 3;
        for (int i = 0; i < f.length[c]; i++) {
            int variable = 1 + (int)(random_bits(state) % (uint64_t)f.variables);
            f.literal[c][i] = random_bits(state) % 2 ? variable : -variable;
        }
    }
    return f;
}

static void must(unrelu_status status, const unrelu_error *err)
{
    if (status == UNRELU_OK)
        return;
    skip_what_is_left_out(err);
    fail_msg("%s", err->text);
}

static unrelu_hardness *encoded_text(const char *text, int variable_alpha)
{
    unrelu_hardness *h;
    unrelu_error err = {0};
    must(unrelu_hardness_encode(files_text("f.cnf", text), variable_alpha, &h, &err), &err);
    return h;
}

/* DIMACS; good until the next call */
static const char *text_of(const formula *f)
{
    static char text[4096];
    int used = sprintf(text, "p cnf %d %d\n", f->variables, f->clauses);
    for (int c = 0; c < f->clauses; c++) {
        for (int i = 0; i < f->length[c]; i++)
            used += sprintf(text + used, "%d ", f->literal[c][i]);
        used += sprintf(text + used, "0\n");
    }
    return text;
}

static unrelu_hardness *encoded(const formula *f, int variable_alpha)
{
    return encoded_text(text_of(f), variable_alpha);
}

static void assign(const unrelu_hardness *h, unsigned assignment, double *V)
{
    int literals[MOST_VARIABLES];
    unrelu_error err = {0};
    for (size_t i = 0; i < h->variables; i++)
        literals[i] = assignment >> i & 1 ? (int)i + 1 : -(int)i - 1;
    must(unrelu_hardness_assign(h, literals, h->variables, V, &err), &err);
}

static unsigned decoded(const unrelu_hardness *h, const double *V)
{
    int literals[MOST_VARIABLES];
    unsigned assignment = 0;
    unrelu_error err = {0};
    must(unrelu_hardness_decode(h, V, literals, &err), &err);
    for (size_t i = 0; i < h->variables; i++) {
        assert_int_equal(abs(literals[i]), i + 1);
        assignment |= (unsigned)(literals[i] > 0) << i;
    }
    return assignment;
}

static double residual(const unrelu_hardness *h, const double *V)
{
    double r = -1;
    unrelu_error err = {0};
    must(unrelu_hardness_residual(h, V, &r, &err), &err);
    return r;
}

static void swap_rows(const unrelu_hardness *h, const double *V, double *other)
{
    memcpy(other, V + h->d, h->d * sizeof *V);
    memcpy(other + h->d, V, h->d * sizeof *V);
}

static void scale_rows(const unrelu_hardness *h, double *V, double x, double y)
{
    for (size_t j = 0; j < h->d; j++) {
        V[j] *= x;
        V[h->d + j] *= y;
    }
}

/* ---- both ways ---- */

static void hold_against(const formula *f, int variable_alpha)
{
    double V[2 * MOST_D], other[2 * MOST_D];
    unrelu_hardness *h = encoded(f, variable_alpha);
    assert_int_equal(h->variables, f->variables);
    assert_int_equal(h->d, f->variables + 3 + variable_alpha);
    assert_int_equal(h->n, 2 * f->clauses + 2 * (f->variables + 1) + 5 + 2 * variable_alpha);
    for (unsigned a = 0; a < 1U << f->variables; a++) {
        double wanted = satisfies(f, a) ? 0 : 1;
        assign(h, a, V);
        assert_true(residual(h, V) == wanted);
        assert_int_equal(decoded(h, V), a);
        swap_rows(h, V, other); /* now s is true */
        assert_true(residual(h, other) == wanted);
        assert_int_equal(decoded(h, other), a);
    }
    unrelu_hardness_free(h);
}

static void a_formula_is_satisfied_exactly_where_the_residual_is_zero(void **state)
{
    uint64_t seed = 7;
    int satisfiable = 0;
    (void)state;
    for (int i = 0; i < 100; i++) {
        formula f = random_formula(&seed);
        int some = 0;
        hold_against(&f, 0);
        hold_against(&f, 1);
        for (unsigned a = 0; a < 1U << f.variables; a++)
            some |= satisfies(&f, a);
        satisfiable += some;
    }
    assert_in_range(satisfiable, 20, 80); /* both answers occur */
}

/* ---- against a solver of formulas ---- */

/* three variables a clause, about 4.3 clauses a variable: where half of them can be satisfied */
static formula random_3_cnf(uint64_t *state)
{
    formula f = {.variables = 3 + (int)(random_bits(state) % 6)};
    f.clauses = (43 * f.variables + 5) / 10 - 1 + (int)(random_bits(state) % 3);
    for (int c = 0; c < f.clauses; c++)
        for (int *l = f.literal[c]; f.length[c] < 3;) {
            int variable = 1 + (int)(random_bits(state) % (uint64_t)f.variables);
            if (variable == abs(l[0]) || variable == abs(l[1]))
                continue;
            l[f.length[c]++] = random_bits(state) % 2 ? variable : -variable;
        }
    return f;
}

/* 10: satisfiable, with the assignment; 20: not */
static int minisat(const formula *f, int *literals, size_t *count)
{
    char command[1200];
    const char *answer = files_path("answer.txt");
    snprintf(command, sizeof command, "minisat -verb=0 %s %s > /dev/null 2>&1",
             files_text("f.cnf", text_of(f)), answer);
    int status = system(command);
    assert_true(WIFEXITED(status));
    *count = 0;
    if (WEXITSTATUS(status) != 10)
        return WEXITSTATUS(status);
    FILE *file = fopen(answer, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "SAT"), 0);
    while (*count < MOST_VARIABLES && fscanf(file, "%d", &literals[*count]) == 1 &&
           literals[*count] != 0)
        ++*count;
    fclose(file);
    return 10;
}

static void expect_as_minisat(const formula *f, int variable_alpha, int answer, const int *literals,
                              size_t count)
{
    double V[2 * MOST_D];
    unrelu_error err = {0};
    unrelu_hardness *h = encoded(f, variable_alpha);
    if (answer == 10) {
        must(unrelu_hardness_assign(h, literals, count, V, &err), &err);
        assert_true(residual(h, V) == 0);
        assert_true(satisfies(f, decoded(h, V)));
    } else {
        for (unsigned a = 0; a < 1U << f->variables; a++) {
            assign(h, a, V);
            assert_true(residual(h, V) > 0);
        }
    }
    unrelu_hardness_free(h);
}

static void minisat_and_the_residual_agree(void **state)
{
    uint64_t seed = 11;
    int satisfiable = 0, literals[MOST_VARIABLES];
    size_t count;
    (void)state;
    if (system("command -v minisat > /dev/null 2>&1") != 0) {
        print_message("minisat is not installed (Debian: minisat)\n");
        skip();
    }
    for (int i = 0; i < 100; i++) {
        formula f = random_3_cnf(&seed);
        int some = 0, answer = minisat(&f, literals, &count);
        for (unsigned a = 0; a < 1U << f.variables; a++)
            some |= satisfies(&f, a);
        assert_int_equal(answer, some ? 10 : 20);
        satisfiable += some;
        expect_as_minisat(&f, 0, answer, literals, count);
        expect_as_minisat(&f, 1, answer, literals, count);
    }
    assert_in_range(satisfiable, 20, 80);
}

/* ---- against all V ---- */

/* All V by the signs of both neurons at every row, each system a linear programme in (alpha_1 x,
 * alpha_2 y, 1); rows are taken from the last on, where few signs are possible. It knows nothing
 * of formulas. */
enum { P = 2 * MOST_D + 1, MOST_ROWS = 4 * (2 * MOST_CLAUSES + 2 * MOST_VARIABLES + 9) };

typedef struct {
    const formula *f;
    const unrelu_hardness *h;
    double sign[2]; /* of alpha */
    size_t p, rows, solutions;
    double R[MOST_ROWS * P];
} search;

static int is_feasible(search *s, double *u)
{
    static const double none[P];
    double r[P] = {0};
    ur_lp_outcome outcome;
    unrelu_error err = {0};
    r[s->p - 1] = 1;
    must(ur_lp_ray(s->rows, s->p, s->R, none, r, u, &outcome, &err), &err);
    assert_true(outcome == UR_LP_OPTIMAL || outcome == UR_LP_INFEASIBLE);
    return outcome == UR_LP_OPTIMAL;
}

static double *new_row(search *s)
{
    double *row = s->R + s->rows++ * s->p;
    memset(row, 0, s->p * sizeof *row);
    return row;
}

/* signs of both neurons at row i: w x >= 0 or <= 0; sum of what is on = a */
static void add_signs(search *s, size_t i, const int *on)
{
    const double *x = s->h->X + i * s->h->d;
    for (size_t j = 0; j < 2; j++) {
        double *row = new_row(s);
        for (size_t l = 0; l < s->h->d; l++)
            row[j * s->h->d + l] = on[j] ? x[l] : -x[l];
    }
    for (int side = -1; side <= 1; side += 2) {
        double *row = new_row(s);
        for (size_t j = 0; j < 2; j++)
            for (size_t l = 0; l < s->h->d && on[j]; l++)
                row[j * s->h->d + l] = side * s->sign[j] * x[l];
        row[s->p - 1] = -side * s->h->A[i];
    }
}

static void branch(search *s, size_t left)
{
    double u[P];
    if (s->rows > 0 && !is_feasible(s, u))
        return;
    if (left == 0) {
        s->solutions++;
        assert_true(residual(s->h, u) < 1e-8);
        assert_true(satisfies(s->f, decoded(s->h, u)));
        return;
    }
    size_t rows = s->rows;
    for (int signs = 0; signs < 4; signs++) {
        const int on[] = {signs & 1, signs >> 1};
        /* with label 0 and positive alpha both are off */
        if (s->h->A[left - 1] == 0 && signs > 0 && s->sign[0] * s->sign[1] > 0)
            break;
        add_signs(s, left - 1, on);
        branch(s, left - 1);
        s->rows = rows;
    }
}

static size_t solutions_of(const formula *f, int variable_alpha)
{
    static search s;
    unrelu_hardness *h = encoded(f, variable_alpha);
    s.solutions = 0;
    for (int signs = 0; signs < (variable_alpha ? 4 : 1); signs++) {
        s.f = f;
        s.h = h;
        s.sign[0] = signs & 1 ? -1 : 1;
        s.sign[1] = signs & 2 ? -1 : 1;
        s.p = 2 * h->d + 1;
        s.rows = 0;
        branch(&s, h->n);
    }
    unrelu_hardness_free(h);
    return s.solutions;
}

static void every_v_that_solves_decodes_and_none_does_where_nothing_satisfies(void **state)
{
    uint64_t seed = 12;
    int tried[2] = {0}; /* formulas that nothing satisfies, others */
    (void)state;
    while (tried[0] < 5 || tried[1] < 5) {
        formula f = random_formula(&seed);
        int some = 0;
        for (unsigned a = 0; a < 1U << f.variables; a++)
            some |= satisfies(&f, a);
        if (f.variables > 3 || tried[some]++ >= 5)
            continue;
        assert_int_equal(solutions_of(&f, 0) > 0, some);
        assert_int_equal(solutions_of(&f, 1) > 0, some);
    }
}

static void any_alpha_that_is_an_exact_factor_leaves_the_residual_exact(void **state)
{
    uint64_t seed = 8;
    static const double factors[][2] = {{2, 3}, {0.5, 0.25}, {7, 0.125}, {1e6, 3}};
    double V[2 * MOST_D];
    (void)state;
    for (int i = 0; i < 30; i++) {
        formula f = random_formula(&seed);
        unrelu_hardness *h = encoded(&f, 1);
        for (unsigned a = 0; a < 1U << f.variables; a++)
            for (size_t k = 0; k < 4; k++) {
                assign(h, a, V);
                scale_rows(h, V, factors[k][0], factors[k][1]);
                assert_true(residual(h, V) == (satisfies(&f, a) ? 0 : 1));
                assert_int_equal(decoded(h, V), a);
            }
        unrelu_hardness_free(h);
    }
}

static void a_fixed_alpha_does_not_allow_other_factors(void **state)
{
    double V[2 * MOST_D];
    (void)state;
    unrelu_hardness *h = encoded_text("p cnf 1 1\n1 0\n", 0);
    assign(h, 1, V);
    assert_true(residual(h, V) == 0);
    scale_rows(h, V, 2, 1);
    assert_true(residual(h, V) == 1);
    unrelu_hardness_free(h);
}

/* every V whose entries are among these; returns how many solve the instance */
static size_t count_solutions(const formula *f, const unrelu_hardness *h, const double *values,
                              size_t count)
{
    double V[2 * MOST_D];
    size_t digit[2 * MOST_D] = {0}, solutions = 0, place = 0, cells = 2 * h->d;
    while (place < cells) {
        for (size_t j = 0; j < cells; j++)
            V[j] = values[digit[j]];
        if (residual(h, V) == 0) {
            solutions++;
            assert_true(satisfies(f, decoded(h, V)));
        }
        for (place = 0; place < cells && ++digit[place] == count; place++)
            digit[place] = 0;
    }
    return solutions;
}

/* Each satisfying assignment has s true or false, and two ways of the constant; with a variable
 * alpha two signs of the last entry; scaled rows are not on the grid. */
static void nothing_but_satisfying_assignments_solves_an_instance(void **state)
{
    static const double grid[] = {-1, -0.5, 0, 0.5, 1}, coarse[] = {-1, -0.5, 1};
    static const formula formulas[] = {
        {1, 1, {1}, {{1}}},          {1, 1, {1}, {{-1}}},       {1, 2, {1, 1}, {{1}, {-1}}},
        {1, 1, {2}, {{1, -1}}},      {1, 1, {0}, {{0}}},        {1, 0, {0}, {{0}}},
        {1, 1, {3}, {{-1, -1, -1}}}, {1, 1, {3}, {{1, -1, 1}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        const formula *f = &formulas[i];
        size_t satisfying = (size_t)(satisfies(f, 0) + satisfies(f, 1));
        unrelu_hardness *h = encoded(f, 0);
        assert_int_equal(count_solutions(f, h, grid, 5), 4 * satisfying);
        unrelu_hardness_free(h);
        h = encoded(f, 1);
        assert_int_equal(count_solutions(f, h, coarse, 3), 8 * satisfying);
        unrelu_hardness_free(h);
    }
}

static void a_small_residual_is_enough_to_decode(void **state)
{
    uint64_t seed = 9;
    double V[2 * MOST_D];
    size_t near = 0;
    (void)state;
    for (int i = 0; i < 60; i++) {
        formula f = random_formula(&seed);
        double bound = 1.0 / (4 * longest(&f) + 2);
        unrelu_hardness *h = encoded(&f, i % 2);
        for (unsigned a = 0; a < 1U << f.variables; a++)
            for (int k = 0; k < 8; k++) {
                double size = ldexp(0.4, -k);
                assign(h, a, V);
                for (size_t j = 0; j < 2 * h->d; j++)
                    V[j] += size * (ldexp((double)(random_bits(&seed) >> 11), -52) - 1);
                double r = residual(h, V);
                assert_true(satisfies(&f, a) || r >= bound);
                if (r > 0 && r < bound) {
                    near++;
                    assert_true(satisfies(&f, decoded(h, V)));
                }
            }
        unrelu_hardness_free(h);
    }
    assert_in_range(near, 100, 1000000);
}

static void the_constants_are_those_of_the_construction(void **state)
{
    static const double clause[] = {-2, 1, 0, -1, -6, -6}, complement[] = {2, -1, 0, 1, -6, -6};
    (void)state;
    unrelu_hardness *h = encoded_text("p cnf 3 1\n1 -2 1 0\n", 0);
    assert_memory_equal(h->X, clause, sizeof clause);
    assert_memory_equal(h->X + h->d, complement, sizeof complement);
    assert_true(h->A[0] == 0 && h->A[1] == 0 && h->A[2] == 1);
    unrelu_hardness_free(h);
}

static void an_empty_clause_is_encoded_and_nothing_satisfies_it(void **state)
{
    double V[2 * MOST_D];
    (void)state;
    unrelu_hardness *h = encoded_text("p cnf 2 2\n0 1 2 0\n", 0);
    for (unsigned a = 0; a < 4; a++) {
        assign(h, a, V);
        assert_true(residual(h, V) == 1);
    }
    unrelu_hardness_free(h);
    h = encoded_text("p cnf 0 0", 1);
    assign(h, 0, V);
    assert_true(residual(h, V) == 0);
    unrelu_hardness_free(h);
}

/* ---- assignments and V that are not right ---- */

static void a_variable_that_is_not_mentioned_is_false(void **state)
{
    static const int literals[] = {2, 2}, wrong[] = {2, -2}, far[] = {1, -4}, zero[] = {0};
    double V[12], full[12];
    unrelu_error err = {0};
    (void)state;
    unrelu_hardness *h = encoded_text("p cnf 3 1\n1 2 0\n", 0);
    must(unrelu_hardness_assign(h, literals, 2, V, &err), &err);
    assign(h, 2, full);
    assert_memory_equal(V, full, sizeof V);
    assert_int_equal(unrelu_hardness_assign(h, wrong, 2, V, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "literal -2 contradicts 2 before it: keep one of them");
    assert_int_equal(unrelu_hardness_assign(h, far, 2, V, &err), UNRELU_EUSAGE);
    assert_string_equal(err.text, "literal -4, where the formula has 3 variables");
    assert_true(V[0] == 0);
    assert_int_equal(unrelu_hardness_assign(h, zero, 1, V, &err), UNRELU_EUSAGE);
    unrelu_hardness_free(h);
}

static void a_v_that_is_not_finite_or_overflows_has_no_residual_of_zero(void **state)
{
    double V[12], r = 0;
    int literals[3];
    unrelu_error err = {0};
    (void)state;
    unrelu_hardness *h = encoded_text("p cnf 3 1\n1 2 0\n", 0);
    assign(h, 2, V);
    V[8] = NAN;
    assert_int_equal(unrelu_hardness_residual(h, V, &r, &err), UNRELU_EDATA);
    assert_string_equal(err.text, "V has nan at row 2, column 3, where a finite number is needed");
    assert_int_equal(unrelu_hardness_decode(h, V, literals, &err), UNRELU_EDATA);
    for (size_t j = 0; j < 12; j++) /* inf - inf in the rows of the clause alone */
        V[j] = j >= 6 ? 0 : j % 2 ? 6e307 : -6e307;
    assert_true(residual(h, V) == INFINITY);
    unrelu_hardness_free(h);
}

static unrelu_status read_v(const unrelu_hardness *h, const char *path, double *V,
                            unrelu_error *err)
{
    unrelu_source *source = NULL;
    must(unrelu_source_open(path, NULL, &source, err), err);
    unrelu_status status = unrelu_hardness_read(h, source, V, err);
    unrelu_source_close(source);
    return status;
}

static void a_v_of_another_shape_is_refused_with_both(void **state)
{
    double V[8];
    char sentence[256];
    unrelu_error err = {0};
    (void)state;
    unrelu_hardness *h = encoded_text("p cnf 1 1\n1 0\n", 0);
    must(read_v(h, files_text("v.csv", "1,-1,1,-0.5\n-1,1,-0.5,1\n"), V, &err), &err);
    assert_true(residual(h, V) == 0);
    const char *path = files_text("w.csv", "1,-1,1\n-1,1,2\n3,3,3\n");
    assert_int_equal(read_v(h, path, V, &err), UNRELU_EFORMAT);
    snprintf(sentence, sizeof sentence, "%s: V is 3 x 3, where the instance needs 2 x 4", path);
    assert_string_equal(err.text, sentence);
    assert_true(V[0] == 0);
    unrelu_hardness_free(h);
}

/* ---- formulas as files ---- */

static void comments_lines_and_blanks_do_not_matter(void **state)
{
    static const char *const same[] = {
        "c\nc a comment\np cnf 3 2\n1 -3\n0 2\n\n3 0",
        "  p\tcnf  3   2 \r\n1 -3 0\r\n2 3 0\r\n",
        "p cnf 3 2\n1 -3 0\nc 9 9 9\n2 3 0\nc end",
        "p cnf 3 2\n1 -3 0 2 3 0\n%\n0\n\n",
        "\np cnf 03 2 1 -03 0 2 3 0",
    };
    (void)state;
    unrelu_hardness *first = encoded_text("p cnf 3 2\n1 -3 0\n2 3 0\n", 0);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        unrelu_hardness *h = encoded_text(same[i], 0);
        assert_int_equal(h->n, first->n);
        assert_int_equal(h->d, first->d);
        assert_memory_equal(h->X, first->X, h->n * h->d * sizeof *h->X);
        assert_memory_equal(h->A, first->A, h->n * sizeof *h->A);
        unrelu_hardness_free(h);
    }
    unrelu_hardness_free(first);
}

static void a_damaged_formula_is_refused_with_line_and_column(void **state)
{
#define HEADER " where the header is needed: p cnf VARIABLES CLAUSES, on one line"
#define WHOLE  " is no literal: whole numbers are needed, and a 0 behind each clause"
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "line 1, column 1: the file ends" HEADER},
        {"c only\n", "line 2, column 1: the file ends" HEADER},
        {"1 2 0\n", "line 1, column 1: '1'" HEADER},
        {"p dnf 1 1\n", "line 1, column 3: 'dnf'" HEADER},
        {"p cnf 3\n1 2 0\n", "line 2, column 1: '1'" HEADER},
        {"p cnf -3 1\n", "line 1, column 7: '-3'" HEADER},
        {"p cnf 3 2147483648\n", "line 1, column 9: '2147483648'" HEADER},
        {"p cnf 3 1\n1 x2 0\n", "line 2, column 3: 'x2'" WHOLE},
        {"p cnf 3 1\n1 - 0\n", "line 2, column 3: '-'" WHOLE},
        {"p cnf 3 1\n1 2.0 0\n", "line 2, column 3: '2.0'" WHOLE},
        {"p cnf 3 1\n\t1 \x01\xff 0\n", "line 2, column 4: '?"
                                        "?'" WHOLE},
        {"p cnf 3 1\n1 +2 0\n", "line 2, column 3: '+2'" WHOLE},
        {"p cnf 3 1\n1 0\np cnf 3 1\n", "line 3, column 1: 'p'" WHOLE},
        {"p cnf 3 1\n1 99999999999999999999999999999999999999 0\n",
         "line 2, column 3: '99999999999999999999999999999999'" WHOLE},
        {"p cnf 3 2\n1 2 0\n\n  -4 0\n",
         "line 4, column 3: literal -4, where the header announces 3 variables"},
        {"p cnf 3 1\n1 0\n2 0\n",
         "line 3, column 1: '2' after the last of the 1 clauses that the header announces"},
        {"p cnf 3 1\n1 2\n",
         "line 3, column 1: the formula ends within clause 1: a 0 is needed behind it"},
        {"p cnf 3 3\n1 0 2 0",
         "line 2, column 8: the formula ends after 2 clauses, where the header announces 3"},
        {"p cnf 2147483647 2147483647\n1 0\n",
         "line 3, column 1: the formula ends after 1 clauses, where the header announces "
         "2147483647"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unrelu_hardness *h;
        unrelu_error err = {0};
        char sentence[512];
        const char *path = files_text("damaged.cnf", cases[i].text);
        snprintf(sentence, sizeof sentence, "%s: %s", path, cases[i].why);
        unrelu_status status = unrelu_hardness_encode(path, 0, &h, &err);
        assert_string_equal(err.text, sentence);
        assert_int_equal(status, UNRELU_EFORMAT);
        assert_null(h);
    }
}

static void a_formula_too_large_for_its_matrix_is_refused(void **state)
{
    unrelu_hardness *h;
    unrelu_error err = {0};
    (void)state;
    const char *path = files_text("large.cnf", "p cnf 2147483647 0\n");
    assert_int_equal(unrelu_hardness_encode(path, 0, &h, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "X would be 4294967301 x 2147483650"));
    assert_int_equal(unrelu_hardness_encode(files_path("missing.cnf"), 0, &h, &err), UNRELU_EIO);
}

static void any_bytes_are_read_or_refused(void **state)
{
    static const char letters[] = "p cnf 2 1\n-0123%x\n  ";
    uint64_t seed = 10;
    char text[80];
    size_t read = 0;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        unrelu_hardness *h;
        unrelu_error err = {0};
        size_t length = (size_t)sprintf(text, "p cnf 2 1\n1 2 0\n");
        for (int k = (int)(random_bits(&seed) % 3); k >= 0; k--)
            text[random_bits(&seed) % length] = letters[random_bits(&seed) % (sizeof letters - 1)];
        unrelu_status status =
            unrelu_hardness_encode(files_write("any.cnf", text, length), 0, &h, &err);
        assert_true(status == UNRELU_OK || strstr(err.text, "any.cnf: "));
        read += status == UNRELU_OK;
        unrelu_hardness_free(h);
    }
    assert_in_range(read, 10, 2990);
}

/* ---- instances as files ---- */

static void an_instance_is_read_as_it_was_written(void **state)
{
    (void)state;
    for (int variable = 0; variable < 2; variable++) {
        unrelu_hardness *read, *h = encoded_text("p cnf 3 2\n1 -3 0\n2 3 0\n", variable);
        unrelu_error err = {0};
        const char *path = files_path("i.npz");
        must(unrelu_hardness_save(h, path, &err), &err);
        must(unrelu_hardness_load(path, &read, &err), &err);
        assert_int_equal(read->variables, 3);
        assert_int_equal(read->variable_alpha, variable);
        assert_int_equal(read->n, h->n);
        assert_int_equal(read->d, h->d);
        assert_memory_equal(read->X, h->X, h->n * h->d * sizeof *h->X);
        assert_memory_equal(read->A, h->A, h->n * sizeof *h->A);
        unrelu_hardness_free(read);
        unrelu_hardness_free(h);
    }
}

/* Padded, the same V solve it, whatever the neurons without weight are; labels are alpha f(V x). */
static void a_padded_instance_asks_the_same(void **state)
{
    (void)state;
    unrelu_error err = {0};
    const int good[] = {1, 2}, bad[] = {-1, 3};
    unrelu_hardness *read, *h = encoded_text("p cnf 3 2\n1 -3 0\n2 3 0\n", 0);
    const char *path = files_path("padded.npz");
    double *before = malloc(h->n * sizeof *before), V[5 * 6], residual;
    memcpy(before, h->A, h->n * sizeof *before);
    must(unrelu_hardness_pad(h, 5, 3, &err), &err);
    must(unrelu_hardness_save(h, path, &err), &err);
    must(unrelu_hardness_load(path, &read, &err), &err);
    assert_int_equal(read->k, 5);
    assert_int_equal(read->m, 3);
    assert_int_equal(read->d, 6);
    for (size_t i = 0; i < 15; i++)
        assert_true(read->alpha[i] == (i < 2));
    for (size_t i = 0; i < 3 * h->n; i++)
        assert_true(read->A[i] == (i % 3 == 0 ? before[i / 3] : 0));
    for (int satisfies = 0; satisfies < 2; satisfies++) {
        must(unrelu_hardness_assign(read, satisfies ? good : bad, 2, V, &err), &err);
        for (size_t j = 12; j < 30; j++) {
            assert_true(V[j] == 0);
            V[j] = (double)j; /* no weight */
        }
        must(unrelu_hardness_residual(read, V, &residual, &err), &err);
        assert_true(residual == !satisfies);
        double worst = 0; /* naive, with the whole alpha */
        for (size_t i = 0; i < read->n; i++)
            for (size_t l = 0; l < 3; l++) {
                double sum = -read->A[i * 3 + l];
                for (size_t j = 0; j < 5; j++) {
                    double t = 0;
                    for (size_t q = 0; q < 6; q++)
                        t += V[j * 6 + q] * read->X[i * 6 + q];
                    sum += t > 0 ? read->alpha[l * 5 + j] * t : 0;
                }
                worst = fabs(sum) > worst ? fabs(sum) : worst;
            }
        assert_true(worst == residual);
    }
    unrelu_hardness_free(read);
    unrelu_hardness_free(h);
    free(before);
    h = encoded_text("p cnf 1 1\n1 0\n", 1);
    assert_int_equal(unrelu_hardness_pad(h, 3, 1, &err), UNRELU_EUSAGE);
    assert_non_null(strstr(err.text, "of k = 2 alone"));
    must(unrelu_hardness_pad(h, 2, 1, &err), &err);
    assert_int_equal(unrelu_hardness_pad(h, 1, 1, &err), UNRELU_EUSAGE);
    unrelu_hardness_free(h);
}

static void expect_bad_instance(const char *kind, const size_t x[2], const size_t a[2],
                                const double *alpha, const char *why)
{
    static const double zeros[64];
    const size_t two = 2;
    ur_npz_writer *w = NULL;
    unrelu_hardness *h;
    unrelu_error err = {0};
    const char *path = files_path("bad.npz");
    must(ur_npz_writer_open(path, &w, &err), &err);
    if (kind)
        ur_npz_add_string(w, "kind", kind);
    ur_npz_add(w, "X", zeros, 2, x);
    ur_npz_add(w, "A", zeros, 2, a);
    if (alpha)
        ur_npz_add(w, "alpha", alpha, 1, &two);
    must(ur_npz_commit(w, &err), &err);
    assert_int_equal(unrelu_hardness_load(path, &h, &err), UNRELU_EFORMAT);
    if (!strstr(err.text, why))
        fail_msg("'%s' is not in '%s'", why, err.text);
    assert_null(h);
}

static void what_is_no_instance_is_refused(void **state)
{
    static const double ones[] = {1, 1}, other[] = {1, 2};
    static const size_t x[] = {5, 4}, narrow[] = {5, 2}, three[] = {5, 3}, a[] = {5, 1},
                        a4[] = {4, 1};
    (void)state;
    expect_bad_instance("network", x, a, ones, "is of kind 'network', where an instance");
    expect_bad_instance(NULL, x, a, ones, "is of no kind, where an instance");
    expect_bad_instance("hardness", x, a, other,
                        "alpha has 2 in row 1, column 2, where (1, 1) is needed");
    expect_bad_instance("hardness", narrow, a, ones, "at least 3 columns");
    expect_bad_instance("hardness", three, a, NULL, "at least 4 columns");
    expect_bad_instance("hardness", x, a4, ones, "A is 4 x 1, where 5 x 1 is needed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_formula_is_satisfied_exactly_where_the_residual_is_zero),
        cmocka_unit_test(minisat_and_the_residual_agree),
        cmocka_unit_test(every_v_that_solves_decodes_and_none_does_where_nothing_satisfies),
        cmocka_unit_test(any_alpha_that_is_an_exact_factor_leaves_the_residual_exact),
        cmocka_unit_test(a_fixed_alpha_does_not_allow_other_factors),
        cmocka_unit_test(nothing_but_satisfying_assignments_solves_an_instance),
        cmocka_unit_test(a_small_residual_is_enough_to_decode),
        cmocka_unit_test(the_constants_are_those_of_the_construction),
        cmocka_unit_test(an_empty_clause_is_encoded_and_nothing_satisfies_it),
        cmocka_unit_test(a_variable_that_is_not_mentioned_is_false),
        cmocka_unit_test(a_v_that_is_not_finite_or_overflows_has_no_residual_of_zero),
        cmocka_unit_test(a_v_of_another_shape_is_refused_with_both),
        cmocka_unit_test(comments_lines_and_blanks_do_not_matter),
        cmocka_unit_test(a_damaged_formula_is_refused_with_line_and_column),
        cmocka_unit_test(a_formula_too_large_for_its_matrix_is_refused),
        cmocka_unit_test(any_bytes_are_read_or_refused),
        cmocka_unit_test(an_instance_is_read_as_it_was_written),
        cmocka_unit_test(a_padded_instance_asks_the_same),
        cmocka_unit_test(what_is_no_instance_is_refused),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
