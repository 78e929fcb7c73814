/* SPDX-License-Identifier: Apache-2.0 */
/* What cells of laboratories and of R say, each as it is written and with what it must mean. */
#include "files.h"

#include "base/c_locale.h"
#include "read/csv_cell.h"

#include <math.h>

typedef struct {
    const char *text;
    ur_cell_kind kind;
    double value, upper;
} meaning;

static void expect_kind(const meaning *m)
{
    char line[256];
    double value = 7, upper = 7;
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    snprintf(line, sizeof line, "%s\n", m->text);
    ur_cell cell = ur_cell_find((const unsigned char *)line, ',');
    ur_cell_kind kind = ur_cell_read(&cell, c_locale, &value, &upper);
    freelocale(c_locale);
    if (kind != m->kind)
        fail_msg("'%s' is of kind %d, not %d", m->text, (int)kind, (int)m->kind);
    if (!(value == m->value || (isnan(value) && isnan(m->value))))
        fail_msg("'%s' is %g, not %g", m->text, value, m->value);
    if (!(upper == m->upper || (isnan(upper) && isnan(m->upper))))
        fail_msg("'%s' ends at %g, not %g", m->text, upper, m->upper);
}

static void every_token_means_what_its_writer_meant(void **state)
{
    (void)state;
    static const meaning table[] = {
        {"<0.25", UR_CELL_BELOW, 0.25, NAN},
        {"< 0.25", UR_CELL_BELOW, 0.25, NAN},
        {"<=3e-2", UR_CELL_BELOW, 0.03, NAN},
        {"\xe2\x89\xa4 5", UR_CELL_BELOW, 5, NAN},
        {"<-1.5", UR_CELL_BELOW, -1.5, NAN},
        {"\"<0.25\"", UR_CELL_BELOW, 0.25, NAN},
        {"0.5 U", UR_CELL_BELOW, 0.5, NAN},
        {"0.5U", UR_CELL_BELOW, 0.5, NAN},
        {"2u", UR_CELL_BELOW, 2, NAN},
        {"1.5 UJ", UR_CELL_BELOW, 1.5, NAN},
        {"1.5 J", UR_CELL_NUMBER, 1.5, NAN},
        {"2j", UR_CELL_NUMBER, 2, NAN},
        {"ND", UR_CELL_BELOW, NAN, NAN},
        {"nd", UR_CELL_BELOW, NAN, NAN},
        {"N.D.", UR_CELL_BELOW, NAN, NAN},
        {"n.d.", UR_CELL_BELOW, NAN, NAN},
        {"BDL", UR_CELL_BELOW, NAN, NAN},
        {"<LOD", UR_CELL_BELOW, NAN, NAN},
        {"<mdl", UR_CELL_BELOW, NAN, NAN},
        {"<LOQ", UR_CELL_BELOW, NAN, NAN},
        {">900", UR_CELL_ABOVE, 900, NAN},
        {"> 900", UR_CELL_ABOVE, 900, NAN},
        {">=900", UR_CELL_ABOVE, 900, NAN},
        {"\xe2\x89\xa5"
         "12",
         UR_CELL_ABOVE, 12, NAN},
        {"0.2..0.5", UR_CELL_BETWEEN, 0.2, 0.5},
        {"0 .. 5", UR_CELL_BETWEEN, 0, 5},
        {"-3..-1", UR_CELL_BETWEEN, -3, -1},
        {"1...5", UR_CELL_BACKWARDS, 1, 0.5}, /* the first two dots: from 1 to .5 */
        {"0.5..0.2", UR_CELL_BACKWARDS, 0.5, 0.2},
        {"3..3", UR_CELL_NUMBER, 3, NAN},
        {"3.", UR_CELL_NUMBER, 3, NAN},
        {"", UR_CELL_MISSING, NAN, NAN},
        {"NA", UR_CELL_MISSING, NAN, NAN},
        {"N/A", UR_CELL_MISSING, NAN, NAN},
        {"#N/A", UR_CELL_MISSING, NAN, NAN},
        {"null", UR_CELL_MISSING, NAN, NAN},
        {".", UR_CELL_MISSING, NAN, NAN},
        {"-nan", UR_CELL_MISSING, NAN, NAN},
        {"..", UR_CELL_TEXT, NAN, NAN},
        {"1..", UR_CELL_TEXT, NAN, NAN},
        {"..1", UR_CELL_TEXT, NAN, NAN},
        {"1..inf", UR_CELL_TEXT, NAN, NAN},
        {"1..2..3", UR_CELL_TEXT, NAN, NAN},
        {"<", UR_CELL_TEXT, NAN, NAN},
        {"<<1", UR_CELL_TEXT, NAN, NAN},
        {">", UR_CELL_TEXT, NAN, NAN},
        {">ND", UR_CELL_TEXT, NAN, NAN},
        {"<1e999", UR_CELL_TEXT, NAN, NAN},
        {">1e999", UR_CELL_TEXT, NAN, NAN},
        {"U", UR_CELL_TEXT, NAN, NAN},
        {"NDU", UR_CELL_TEXT, NAN, NAN},
        {"J", UR_CELL_TEXT, NAN, NAN},
        {"UJ", UR_CELL_TEXT, NAN, NAN},
        {"<5 J", UR_CELL_TEXT, NAN, NAN},
        {"<5 U", UR_CELL_TEXT, NAN, NAN},
        {"=5", UR_CELL_TEXT, NAN, NAN},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        expect_kind(&table[i]);
}

/* ---- marks of a block ---- */

static ur_block first_block(const char *path, ur_marks_wanted wanted, unrelu_status want,
                            unrelu_error *err)
{
    unrelu_source *source = NULL;
    ur_piece piece = {0};
    ur_block block = {.wanted = wanted};
    int more = 0;
    assert_int_equal(unrelu_source_open(path, NULL, &source, err), UNRELU_OK);
    assert_int_equal(ur_source_take(source, &piece, &more, err), UNRELU_OK);
    assert_int_equal(more, 1);
    assert_int_equal(ur_source_decode(source, &piece, &block, err), want);
    assert_int_equal(ur_source_met_limit(source),
                     want != UNRELU_OK && !strstr(err->text, "starts above"));
    ur_piece_free(&piece);
    unrelu_source_close(source);
    return block;
}

static void a_block_has_marks_and_ends_where_its_cells_are_no_values(void **state)
{
    (void)state;
    unrelu_error err;
    const char *path = files_text("m.csv", "a,b\n1,<2\nND,3\n>4,0.5..6\nNA,7\n"),
               *plain = files_text("p.csv", "1,2\n");
    static const unsigned char marks[] = {
        0, UR_BELOW_GIVEN, UR_BELOW_UNKNOWN, 0, UR_ABOVE_GIVEN, UR_BETWEEN_GIVEN, 0, 0};
    static const double x[] = {1, 2, NAN, 3, 4, 0.5, NAN, 7};
    ur_block block = first_block(path, UR_ALL_MARKS, UNRELU_OK, &err);
    assert_int_equal(block.rows * block.d, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(block.mark[i], marks[i]);
        assert_true(isnan(x[i]) ? isnan(block.x[i]) : block.x[i] == x[i]);
        assert_true(i == 5 ? block.upper[i] == 6 : isnan(block.upper[i]));
    }
    ur_block_free(&block);
    block = first_block(plain, UR_ALL_MARKS, UNRELU_OK, &err);
    assert_null(block.mark);
    assert_null(block.upper);
    ur_block_free(&block);
    block = first_block(files_text("b.csv", "1,<2\n"), UR_BELOW_TOO, UNRELU_OK, &err);
    assert_int_equal(block.mark[1], UR_BELOW_GIVEN);
    assert_null(block.upper);
    ur_block_free(&block);
}

static void marks_that_are_not_wanted_are_refused_by_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ur_marks_wanted wanted;
        const char *want;
    } table[] = {
        {"a,b\n1,<2\n", UR_VALUES_ONLY,
         "row 1 (line 2), column 2 (b): '<2' is a value below a detection limit"},
        {"a,b\n1,>2\n", UR_BELOW_TOO,
         "row 1 (line 2), column 2 (b): '>2' is a value above a limit"},
        {"a,b\n1,2\n1..2,3\n", UR_BELOW_TOO,
         "row 2 (line 3), column 1 (a): '1..2' is a value between two limits"},
        {"a,b\n1,2\n5..2,3\n", UR_ALL_MARKS,
         "row 2 (line 3), column 1 (a): '5..2' starts above its end; write the smaller number "
         "first"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        unrelu_error err;
        ur_block block =
            first_block(files_text("r.csv", table[i].text), table[i].wanted, UNRELU_EFORMAT, &err);
        ur_block_free(&block);
        if (!strstr(err.text, table[i].want))
            fail_msg("%s", err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_token_means_what_its_writer_meant),
        cmocka_unit_test(a_block_has_marks_and_ends_where_its_cells_are_no_values),
        cmocka_unit_test(marks_that_are_not_wanted_are_refused_by_place),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
