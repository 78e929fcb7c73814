/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "read/number.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <sys/stat.h>
#include <zlib.h>

static void expect_table(const char *path, const char *columns, const char *note, size_t n,
                         size_t d, const double *x)
{
    table t = table_of(path, columns);
    assert_string_equal(t.note, note);
    assert_int_equal(t.n, n);
    assert_int_equal(t.d, d);
    for (size_t i = 0; i < n * d; i++)
        if (!isnan(x[i]) || !isnan(t.x[i]))
            assert_memory_equal(&t.x[i], &x[i], sizeof x[i]);
    table_free(&t);
}

static const double two_by_two[] = {1, 2, 3, 4};

static void headers_are_detected_and_told(void **state)
{
    (void)state;
    const char *found = "header row found, 2 column names kept", *none = "no header row";
    expect_table(files_text("a.csv", "lead,zinc\n1,2\n3,4\n"), NULL, found, 2, 2, two_by_two);
    expect_table(files_text("a.csv", "1,2\n3,4\n"), NULL, none, 2, 2, two_by_two);
    expect_table(files_text("a.csv", "1,zinc\n1,2\n3,4\n"), NULL, found, 2, 2, two_by_two);
    const double missing[] = {NAN, 1, 3, 4};
    expect_table(files_text("a.csv", "NA,1\n3,4\n"), NULL, none, 2, 2, missing);
    table t = table_of(files_text("a.csv", "\" a \"\"b\"\" \",,# c\n1,2,3\n"), NULL);
    assert_string_equal(t.names[0], "a \"b\"");
    assert_string_equal(t.names[1], "x2");
    assert_string_equal(t.names[2], "# c");
    table_free(&t);
    t = table_of(files_text("a.csv", "# a,b\n1,2\n"), NULL); /* numpy.savetxt(header=...) */
    assert_string_equal(t.names[0], "a");
    table_free(&t);
}

static void quoted_numbers_above_plain_ones_are_names(void **state)
{
    (void)state;
    const char *found = "header row found, 2 column names kept", *none = "no header row";
    const double second[] = {2, 4}, three[] = {2019, 2020, 1, 2, 3, 4};
    const char *path = files_text("a.csv", "\"2019\",\"2020\"\n\n1,2\n3,4\n");
    expect_table(path, NULL, found, 2, 2, two_by_two);
    expect_table(path, "2020", found, 2, 1, second);
    /* write.csv of R quotes row names too */
    expect_table(files_text("a.csv", "\"\",\"2020\"\n\"1\",2\n\"3\",4\n"), NULL,
                 "header row found, 2 column names kept; left out: column 1 (row names)", 2, 1,
                 second);
    /* all cells are quoted, or the first line is not, or there is no other */
    expect_table(files_text("a.csv", "\"2019\",\"2020\"\n\"1\",\"2\"\n\"3\",\"4\"\n"), NULL, none,
                 3, 2, three);
    expect_table(files_text("a.csv", "\"2019\",2020\n1,2\n3,4\n"), NULL, none, 3, 2, three);
    expect_table(files_text("a.csv", "\"2019\",\"2020\"\n"), NULL, none, 1, 2, three);
    expect_table(files_text("a.csv", "\"2019\",\"2020\"\n\n\n"), NULL, none, 1, 2, three);
}

static void text_and_row_names_are_left_out_and_named(void **state)
{
    (void)state;
    const double second[] = {2, 4}, third[] = {2, 4, 6}, *x = two_by_two;
    expect_table(files_text("a.csv", "a,b,,\n1,2,,\n3,4,,\n"), NULL,
                 "header row found, 4 column names kept; left out: column 3 (empty), column 4 "
                 "(empty)",
                 2, 2, x);
    const double pair[] = {1, 2, 2, 4};
    static const char two[] = "header row found, 2 column names kept";
#define TWO   "header row found, 2 column names kept; left out: "
#define THREE "header row found, 3 column names kept; left out: "
    expect_table(files_text("a.csv", "site,lead,zinc\nA,1,2\nB,3,4\n"), NULL, THREE "'site' (text)",
                 2, 2, x);
    expect_table(files_text("a.csv", "lead,day,zinc\n1,2012-05-01,2\n3,2012-05-02,4\n"), NULL,
                 THREE "'day' (text)", 2, 2, x);
    expect_table(files_text("a.csv", "site,lead,zinc\nA,1,2\nB,3,4\n"), "^lead",
                 THREE "'site' (text)", 2, 1, second);
    /* row names: by their name, by counting, by increasing under the name that R gives */
    expect_table(files_text("a.csv", ",zinc\n1,2\n3,4\n"), NULL, TWO "column 1 (row names)", 2, 1,
                 second);
    expect_table(files_text("a.csv", "rownames,zinc\n7,2\n3,4\n"), NULL,
                 TWO "'rownames' (row names)", 2, 1, second);
    expect_table(files_text("a.csv", "Unnamed: 0,zinc\n0,2\n1,4\n"), NULL,
                 TWO "'Unnamed: 0' (row names)", 2, 1, second);
    expect_table(files_text("a.csv", "X,zinc\n1,2\n3,4\n"), NULL, TWO "'X' (row names)", 2, 1,
                 second);
    expect_table(files_text("a.csv", "id,zinc\n1,2\n2,4\n3,6\n"), NULL, TWO "'id' (row names)", 3,
                 1, third);
    /* measured, as far as anyone can tell: two rows that count, X that falls, no header */
    expect_table(files_text("a.csv", "id,zinc\n1,2\n2,4\n"), NULL, two, 2, 2, pair);
    const double falling[] = {3, 2, 1, 4}, counting[] = {1, 2, 2, 4, 3, 6};
    expect_table(files_text("a.csv", "X,zinc\n3,2\n1,4\n"), NULL, two, 2, 2, falling);
    expect_table(files_text("a.csv", "1,2\n2,4\n3,6\n"), NULL, "no header row", 3, 2, counting);
    /* what is asked for is taken */
    expect_table(files_text("a.csv", "id,zinc\n1,2\n2,4\n3,6\n"), "id,zinc", two, 3, 2, counting);
    /* more than half of the cells; missing ones do not count; the fifth name is not told */
    const double fourth[] = {2, 4, 6, 8};
    expect_table(files_text("a.csv", "b,zinc\nx,2\n,4\ny,6\n5,8\n"), NULL, TWO "'b' (text)", 4, 1,
                 fourth);
    expect_table(files_text("a.csv", "a,b,c,d,e,zinc\nu,u,u,u,u,2\nv,v,v,v,v,4\n"), NULL,
                 "header row found, 6 column names kept; left out: 'a' (text), 'b' (text), 'c' "
                 "(text), 'd' (text), ...",
                 2, 1, second);
#undef TWO
#undef THREE
}

static void columns_that_may_be_numbers_are_not_left_out(void **state)
{
    (void)state;
#define REMEDY                                                                                     \
    " is not a number; correct it, leave the column out with `columns`, or mark a missing value "  \
    "by an empty cell, NA or NaN"
    /* one cell; half of the cells; a whole table of text; commas in numbers */
    expect_refusal(files_text("w.csv", "a,b\n1,2\n2,x\n4,5\n"), NULL, UNRELU_EFORMAT,
                   "%s: row 2 (line 3), column 2 (b): 'x'" REMEDY);
    expect_refusal(files_text("w.csv", "a,b\n1,x\n"), NULL, UNRELU_EFORMAT,
                   "%s: row 1 (line 2), column 2 (b): 'x'" REMEDY);
    expect_refusal(files_text("w.csv", "a,b\n1,2\n2,x\n4,5\n5,y\n"), NULL, UNRELU_EFORMAT,
                   "%s: row 2 (line 3), column 2 (b): 'x'" REMEDY);
    expect_refusal(files_text("w.csv", "a,b\nx,y\nz,w\n"), NULL, UNRELU_EFORMAT,
                   "%s: row 1 (line 2), column 1 (a): 'x'" REMEDY);
    expect_refusal(files_text("w.csv", "a;b\n3;0,5\n2;1,5\n1;2,5\n"), NULL, UNRELU_EFORMAT,
                   "%s: row 1 (line 2), column 2 (b): '0,5' is not a number; write numbers with a "
                   "decimal point and without thousands separators; decimal commas are turned by "
                   "tr ',;' '.,' < FILE");
#undef REMEDY
}

/* The start of the file decides: text far behind it is a wrong cell of a column of numbers. */
static void only_the_start_of_a_file_is_looked_at_for_text(void **state)
{
    (void)state;
    enum { ROWS = 20000, BYTES = 5 }; /* more than the 64 KiB that are looked at */
    static char text[ROWS * BYTES + 64];
    size_t used = (size_t)sprintf(text, "a,b\n");
    for (size_t i = 0; i < ROWS; i++)
        used += (size_t)sprintf(text + used, "%s", i < ROWS - 2 ? "1,NA\n" : "1,xx\n");
    expect_refusal(files_text("w.csv", text), NULL, UNRELU_EFORMAT,
                   "%s: row 19999 (line 20000), column 2 (b): 'xx' is not a number; correct it, "
                   "leave the column out with `columns`, or mark a missing value by an empty cell, "
                   "NA or NaN");
}

static void separators_line_ends_marks_and_blanks_do_not_matter(void **state)
{
    (void)state;
    const char *none = "no header row", *semicolon = "no header row; the separator is ';'",
               *tab = "no header row; the separator is a tab";
    const double *x = two_by_two;
    expect_table(files_text("a.csv", "1,2\r\n3,4\r\n"), NULL, none, 2, 2, x);
    expect_table(files_text("a.csv", "1,2\n3,4"), NULL, none, 2, 2, x);
    expect_table(files_text("a.csv", "1,2\r\n3,4\r"), NULL, none, 2, 2, x);
    expect_table(files_text("a.csv", "\xef\xbb\xbf"
                                     "1,2\n3,4\n"),
                 NULL, none, 2, 2, x);
    expect_table(files_text("a.csv", "\n\n1,2\n \t\n3,4\n\r\n\n"), NULL, none, 2, 2, x);
    expect_table(files_text("a.csv", " 1 ,\t2\n\"3\", \" 4 \" \n"), NULL, none, 2, 2, x);
    expect_table(files_text("a.csv", "+1,2.\n.3e1,40E-1\n"), NULL, none, 2, 2, x);
    expect_table(files_text("a.csv", "1;2\n3;4\n"), NULL, semicolon, 2, 2, x);
    expect_table(files_text("a.csv", "1\t2\n3\t4\n"), NULL, tab, 2, 2, x);
    expect_table(files_text("a.tsv", "1\t2\n3\t4\n"), NULL, none, 2, 2, x);
    expect_table(files_text("A.TSV", "1\t2\n3\t4\n"), NULL, none, 2, 2, x);
    expect_table(files_text("a.txt", "1,2\n3,4\n"), NULL,
                 "the content is read as CSV; no header row", 2, 2, x);
}

static void missing_values_are_nan(void **state)
{
    (void)state;
    const double x[] = {NAN, NAN, NAN, NAN, NAN, NAN};
    expect_table(files_text("m.csv", "a,b,c\n,NA,NaN\n\"\",na, -nan\n"), NULL,
                 "header row found, 3 column names kept", 2, 3, x);
    expect_table(files_text("m.tsv", "a\tb\n\t\n\t\n"), NULL,
                 "header row found, 2 column names kept", 2, 2, x);
    const double column[] = {1, NAN, 2}; /* a blank line is no row, NA is */
    expect_table(files_text("m.csv", "1\n\nNA\n2\n\n"), NULL, "no header row", 3, 1, column);
}

static void columns_are_chosen_by_name_number_and_range(void **state)
{
    (void)state;
    const char *note = "header row found, 5 column names kept";
    const char *path = files_text("c.csv", "id,lead,3,zinc,tin\nx17,1,2,3,4\n\"y,1\",5,6,7,8\n");
    const double picked[] = {4, 1, 8, 5}, named[] = {2, 6}, all[] = {1, 2, 3, 4, 5, 6, 7, 8};
    expect_table(path, "tin, lead", note, 2, 2, picked);
    expect_table(path, "3", note, 2, 1, named); /* the name wins over the number */
    expect_table(path, "2-5", note, 2, 4, all); /* text may stand in the others */
    expect_table(path, "2-", note, 2, 4, all);
    expect_table(path, "lead:tin", note, 2, 4, all);
    expect_table(path, "2:tin", note, 2, 4, all);
    expect_table(path, "^id", note, 2, 4, all);
    expect_table(path, "^1", note, 2, 4, all);
    expect_table(path, "*in*,lead,^zinc", note, 2, 2, picked); /* tin, lead */
    expect_refusal(path, "tin:lead", UNRELU_EUSAGE,
                   "%s: the columns 'tin:lead' end before they start: write the first one first");
    expect_refusal(path, "4-2", UNRELU_EUSAGE,
                   "%s: the columns '4-2' end before they start: write the first one first");
    expect_refusal(path, "lead,lead", UNRELU_EUSAGE,
                   "%s: column 2 is chosen twice; name each column once");
    expect_refusal(path, "lead,^lead", UNRELU_EUSAGE,
                   "%s: no column is left of those chosen: exclude fewer");
    expect_refusal(path, "^", UNRELU_EUSAGE,
                   "%s: empty entry in the list of columns '^'; write for example \"1,3,5-9\"");
    expect_refusal(path, "rain*", UNRELU_EUSAGE,
                   "%s: no column is called 'rain*'; give a name of the header row or a number "
                   "from 1 to 5");
    expect_refusal(path, "^zink", UNRELU_EUSAGE,
                   "%s: no column is called 'zink'; did you mean 'zinc'?");
    expect_refusal(path, "\"lead", UNRELU_EUSAGE,
                   "%s: a quote in the list of columns is not closed: '\"lead'");
    expect_refusal(path, "\"lead\"x", UNRELU_EUSAGE,
                   "%s: text follows a closing quote in the list of columns: 'x'");
    expect_refusal(path, "\"2-5\"", UNRELU_EUSAGE,
                   "%s: no column is called '2-5'; give a name of the header row or a number from "
                   "1 to 5");
    expect_table(files_text("c.csv", "\"a, \"\"b\"\"\",^c,d*\n1,2,3\n"), "d*,\"a, \"\"b\"\"\",^c",
                 "header row found, 3 column names kept", 1, 3, (double[]){3, 1, 2});
    path = files_text("c.csv", "id,lead,3,zinc,tin\nx17,1,2,3,4\n\"y,1\",5,6,7,8\n");
    expect_refusal(path, "zink", UNRELU_EUSAGE,
                   "%s: no column is called 'zink'; did you mean 'zinc'?");
    expect_refusal(path, "LEAD", UNRELU_EUSAGE,
                   "%s: no column is called 'LEAD'; did you mean 'lead'?");
    expect_refusal(path, "uranium", UNRELU_EUSAGE,
                   "%s: no column is called 'uranium'; give a name of the header row or a number "
                   "from 1 to 5");
    expect_refusal(files_text("c.csv", "a,b,a\n1,2,3\n"), "a", UNRELU_EUSAGE,
                   "%s: columns 1 and 3 are both called 'a'; choose by number");
    expect_table(files_text("c.csv", "a,b,a\n1,2,3\n"), "1,3",
                 "header row found, 3 column names kept", 1, 2, (double[]){1, 3});
}

static void lines_beside_the_table_are_left_out_and_told(void **state)
{
    (void)state;
    const double *x = two_by_two;
    static const char remarks[] = "header row found, 2 column names kept; 2 lines of remarks above "
                                  "left out",
                      excel[] = "header row found, 2 column names kept; the separator is ';'; 1 "
                                "line of remarks above left out",
                      units[] = "header row found, 2 column names kept; line 2 (units) left out";
    expect_table(files_text("a.csv", "# of, the, lake\n#\n\na,b\n1,2\n3,4\n"), NULL, remarks, 2, 2,
                 x);
    expect_table(files_text("a.csv", "# 2019\n1,2\n3,4\n"), NULL,
                 "no header row; 1 line of remarks above left out", 2, 2, x);
    expect_table(files_text("a.csv", "#,x\n# a,b\n1,2\n3,4\n"), NULL,
                 "header row found, 2 column names kept; 1 line of remarks above left out", 2, 2,
                 x);
    expect_table(files_text("a.csv", "sep=;\r\na;b\r\n1;2\r\n3;4\r\n"), NULL, excel, 2, 2, x);
    expect_table(files_text("a.tsv", "# r\n#\n\na\tb\n5s\t12n\n1\t2\n3\t4\n"), NULL,
                 "header row found, 2 column names kept; 2 lines of remarks above left out; line 5 "
                 "(units) left out",
                 2, 2, x);
    expect_table(files_text("a.csv", "a,b\nug/L,mg\n1,2\n3,4\n"), NULL, units, 2, 2, x);
    /* lines are counted on, and a wrong value is none of these */
    expect_refusal(
        files_text("a.csv", "# r\na,b\nug/L,mg\n1,2\n3,x\n"), NULL, UNRELU_EFORMAT,
        "%s: row 2 (line 5), column 2 (b): 'x' is not a number; correct it, leave the "
        "column out with `columns`, or mark a missing value by an empty cell, NA or NaN");
    expect_refusal(
        files_text("a.csv", "site,a\nA,n/d\nB,2\nC,3\n"), NULL, UNRELU_EFORMAT,
        "%s: row 1 (line 2), column 2 (a): 'n/d' is not a number; correct it, leave the "
        "column out with `columns`, or mark a missing value by an empty cell, NA or NaN");
    expect_refusal(
        files_text("a.csv", "a,b\nug/L,1\n1,2\n3,4\n"), NULL, UNRELU_EFORMAT,
        "%s: row 1 (line 2), column 1 (a): 'ug/L' is not a number; correct it, leave the "
        "column out with `columns`, or mark a missing value by an empty cell, NA or NaN");
}

/* lines that are longer than what is read at first, 64 KiB */
static void lines_beside_a_wide_table_are_left_out_too(void **state)
{
    enum { WIDTH = 20000, CELL = 8 };
    static const char names[] = "column_", units[] = "ug per_", quoted[] = "\"2020\" ";
    (void)state;
    char *text = malloc(4 * WIDTH * CELL + 100);
    const struct {
        const char *above, *lines[3], *note;
    } cases[] = {
        {"# a remark\n", {names, "1.23456", "1.23456"}, "; 1 line of remarks above left out"},
        {"", {names, units, "1.23456"}, "; line 2 (units) left out"},
        {"", {quoted, "1.23456", "1.23456"}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *s = stpcpy(text, cases[i].above), note[200];
        for (size_t line = 0; line < 3; line++)
            for (size_t j = 0; j < WIDTH; j++)
                s += sprintf(s, "%s%c", cases[i].lines[line], j + 1 < WIDTH ? ',' : '\n');
        table t = table_of(files_text("a.csv", text), "3,5");
        snprintf(note, sizeof note, "header row found, %d column names kept%s", WIDTH,
                 cases[i].note);
        assert_string_equal(t.note, note);
        assert_int_equal(t.n, i == 1 ? 1 : 2);
        table_free(&t);
    }
    free(text);
}

static void a_column_that_tells_of_another_is_pointed_at(void **state)
{
    (void)state;
    const double first[] = {1, 3}, both[] = {1, 1, 3, 0};
#define SEEMS "'a_q' seems to say where 'a' is a limit, and was not asked (`indicator` _q)"
    expect_table(files_text("a.csv", "a,a_q\n1,<\n3,J\n"), NULL,
                 "header row found, 2 column names kept; left out: 'a_q' (text); " SEEMS, 2, 1,
                 first);
    expect_table(files_text("a.csv", "a,a_q\n1,1\n3,0\n"), NULL,
                 "header row found, 2 column names kept; " SEEMS, 2, 2, both);
    expect_table(files_text("a.csv", "a,a_q\n1,<\n3,J\n"), "a",
                 "header row found, 2 column names kept; " SEEMS, 2, 1, first);
    /* it tells of no limit, says something else, or has no such name */
    expect_table(files_text("a.csv", "a,a_q\n1,J\n3,=\n"), NULL,
                 "header row found, 2 column names kept; left out: 'a_q' (text)", 2, 1, first);
    expect_table(files_text("a.csv", "a,a_q\n1,<\n3,so\n"), NULL,
                 "header row found, 2 column names kept; left out: 'a_q' (text)", 2, 1, first);
    expect_table(files_text("a.csv", "a,b_q\n1,<\n3,J\n"), NULL,
                 "header row found, 2 column names kept; left out: 'b_q' (text)", 2, 1, first);
    expect_table(files_text("a.csv", "a,a2\n1,1\n3,0\n"), NULL,
                 "header row found, 2 column names kept", 2, 2, both);
    /* of the one with the longest name, and the first such column */
    expect_table(files_text("a.csv", "b,a_q_r,a,a_q,a_q1\n1,1,9,5,7\n3,0,8,5,6\n"), "1-2",
                 "header row found, 5 column names kept", 2, 2, both);
    expect_table(files_text("a.csv", "b,a_q_r,a,a_q,a_q1\n5,1,9,1,7\n5,0,8,3,6\n"), "4,2",
                 "header row found, 5 column names kept; 'a_q_r' seems to say where 'a_q' is a "
                 "limit, and was not asked (`indicator` _r)",
                 2, 2, both);
    expect_table(files_text("a.csv", "b,b_r,a1,a,a_q\n1,1,9,9,1\n3,0,8,8,0\n"), "1,2",
                 "header row found, 5 column names kept; 'b_r' seems to say where 'b' is a limit, "
                 "and was not asked (`indicator` _r)",
                 2, 2, both);
}

static void wrong_cells_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"a,b\n1,2\n3,abc\n",
         "%s: row 2 (line 3), column 2 (b): 'abc' is not a number; correct it, leave the column "
         "out "
         "with `columns`, or mark a missing value by an empty cell, NA or NaN"},
        {"1,2\n\n3,<0.25\n",
         "%s: row 2 (line 3), column 2: '<0.25' is a value below a detection limit, which only "
         "'unrelu fit', 'check', 'report' and 'impute' read; leave the column out with `columns`"},
        {"1,< 0.25\n3,4\n",
         "%s: row 1 (line 1), column 2: '< 0.25' is a value below a detection limit, which only "
         "'unrelu fit', 'check', 'report' and 'impute' read; leave the column out with `columns`"},
        {"a,b\nND,2\n",
         "%s: row 1 (line 2), column 1 (a): 'ND' is a value below a detection limit, which only "
         "'unrelu fit', 'check', 'report' and 'impute' read; leave the column out with `columns`"},
        {"a,b\n1,-Inf\n",
         "%s: row 1 (line 2), column 2 (b): '-Inf' is infinite or too large for a double; every "
         "value must be finite (an empty cell, NA or NaN marks a missing one)"},
        {"a,b\n1,1e400\n",
         "%s: row 1 (line 2), column 2 (b): '1e400' is infinite or too large for a double; every "
         "value must be finite (an empty cell, NA or NaN marks a missing one)"},
        {"a,b\n1,0x10\n",
         "%s: row 1 (line 2), column 2 (b): '0x10' is not a number; correct it, leave the column "
         "out with `columns`, or mark a missing value by an empty cell, NA or NaN"},
        {"a,b\n1,\"1,000\"\n",
         "%s: row 1 (line 2), column 2 (b): '1,000' is not a number; write numbers with a decimal "
         "point and without thousands separators"},
        {"a;b\n1;0,5\n",
         "%s: row 1 (line 2), column 2 (b): '0,5' is not a number; write numbers with a decimal "
         "point and without thousands separators; decimal commas are turned by tr ',;' '.,' < "
         "FILE"},
        {"1 2\n3 4\n",
         "%s: row 1 (line 2), column 1 (1 2): '3 4' is not a number; the separator is a "
         "comma; where blanks separate cells: tr -s ' ' ',' < FILE"},
        {"a,b\n1,\x01\x7f"
         "0123456789012345678901234567890123456789\n",
         "%s: row 1 (line 2), column 2 (b): "
         "'\\x01\\x7f01234567890123456789012345678901234567...' is not a number; correct it, leave "
         "the column out with `columns`, or mark a missing value by an empty cell, NA or NaN"},
        {"a,b\n1,\"2\n3\",4\n",
         "%s: row 1 (line 2), column 2 (b): the quoted cell '2' does not end on its line, or text "
         "follows its closing quote; line breaks inside cells are not read, nor cells that blanks "
         "separate"},
        {"a,b\n1,1e\n",
         "%s: row 1 (line 2), column 2 (b): '1e' is not a number; correct it, leave the column out "
         "with `columns`, or mark a missing value by an empty cell, NA or NaN"},
        {"a,b\n1,2\n3\n", "%s: row 2 (line 3) has 1 cell, expected 2 as in the header row"},
        {"1,2\n3,4,5\n", "%s: row 2 (line 2) has 3 cells, expected 2 as in the first row"},
        {"a,\"b\nc\"\n1,2\n", "%s: line 1, column 2: a quoted column name does not end on its "
                              "line; line breaks inside cells are not read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refusal(files_text("w.csv", cases[i].text), NULL, UNRELU_EFORMAT, cases[i].sentence);
    expect_refusal(files_write("w.csv", "1,2\n3,4\0\n", 9), NULL, UNRELU_EFORMAT,
                   "%s: row 2 (line 2), column 2: '4\\x00' is not a number; the file holds NUL "
                   "bytes; save it as plain text (UTF-8)");
    expect_refusal(
        files_text("w.csv", "1,2\r3,4\r"), NULL, UNRELU_EFORMAT,
        "%s: line 1 holds a carriage return inside; lines must end in LF or CR LF, not in "
        "CR alone");
}

static void files_without_a_table_are_refused(void **state)
{
    (void)state;
    expect_refusal(files_text("e.csv", ""), NULL, UNRELU_EFORMAT,
                   "%s is empty (0 bytes); expected a table of numbers");
    expect_refusal(files_text("e.csv", " \n\r\n"), NULL, UNRELU_EFORMAT,
                   "%s holds only blank lines; expected a table of numbers");
    expect_refusal(files_text("e.csv", "\xef\xbb\xbf"), NULL, UNRELU_EFORMAT,
                   "%s holds only blank lines; expected a table of numbers");
    expect_refusal(files_text("e.csv", "a,b\n\n"), NULL, UNRELU_EDATA,
                   "%s has a header but no rows; nothing can be learned");
    expect_refusal(files_write("e.csv",
                               "\xff\xfe"
                               "1\0,\0",
                               6),
                   NULL, UNRELU_EFORMAT, "%s is UTF-16 text; save it as UTF-8");
}

/* ---- numbers ---- */

static void expect_same_as_strtod(const char *text, locale_t c_locale)
{
    char buffer[512];
    double fast, exact, wanted = strtod_l(text, NULL, c_locale);
    memset(buffer, 0, sizeof buffer);
    int size = snprintf(buffer, sizeof buffer - 16, "%s\n", text) - 1;
    const unsigned char *s = (const unsigned char *)buffer, *end = ur_number_fast(s, &fast);
    if (end) {
        assert_ptr_equal(end, s + size);
        if (memcmp(&fast, &wanted, sizeof fast) != 0)
            fail_msg("%s read as %.17g, not %.17g", text, fast, wanted);
    }
    assert_true(ur_number_exact(s, s + size, c_locale, &exact));
    assert_memory_equal(&exact, &wanted, sizeof exact);
}

static void numbers_are_rounded_correctly(void **state)
{
    (void)state;
    static const char *const hard[] = {
        "0",
        "-0",
        "0.0",
        "-0e99",
        "9007199254740993",
        "9007199254740992",
        "9007199254740991.5",
        "1.00000000000000011102230246251565",
        "1.0000000000000001110",
        "0.3",
        "1e22",
        "1e23",
        "8.5e22",
        "123456789012345678e-27",
        "18446744073709551615",
        "9999999999999999999e27",
        "9999999999999999999e-27",
        "1e-27",
        "1e27",
        "5e-324",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "0000000000000000000000000000001.5",
        "0.00000000000000000000123",
        "12345678901234567890123",
        "4503599627370496.5",
        "4503599627370497.5",
        "0.500000000000000166533453693773481063544750213623046875",
        "3.518437208883201171875e13",
        "1e-99999999999",
        "0e99999999999",
        "6.02214076e23",
        "1.1e+05",
    };
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    uint64_t seed = 20240607;
    char text[64];
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        expect_same_as_strtod(hard[i], c_locale);
    for (int i = 0; i < 400000; i++) {
        uint64_t bits = random_bits(&seed), kind = random_bits(&seed);
        double any;
        memcpy(&any, &bits, sizeof any);
        if (kind % 4 == 0 && isfinite(any)) /* any double at all */
            snprintf(text, sizeof text, "%.*g", 1 + (int)((kind >> 8) % 19), any);
        else if (kind % 4 == 1) /* the usual range, full digits */
            snprintf(text, sizeof text, "%.17g", (double)(int64_t)bits * 0x1p-61);
        else if (kind % 4 == 2) /* any 19 digits, any of the fast exponents */
            snprintf(text, sizeof text, "%llue%d",
                     (unsigned long long)(bits % 9999999999999999999u),
                     (int)((kind >> 8) % 55) - 27);
        else /* halfway between two doubles of 53 bits, and a hair off */
            snprintf(text, sizeof text, "%lluE-%02d",
                     (unsigned long long)((bits >> 11 | 1u) << (kind >> 8) % 11) | (kind >> 20 & 1),
                     (int)((kind >> 24) % 28));
        expect_same_as_strtod(text, c_locale);
    }
    freelocale(c_locale);
}

static void the_locale_of_the_program_does_not_matter(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    for (size_t i = 0; i < sizeof commas / sizeof *commas; i++)
        if (setlocale(LC_ALL, commas[i]))
            break;
    const double x[] = {1.5, 0.1234567890123456789012};
    expect_table(files_text("l.csv", "1.5,0.1234567890123456789012\n"), NULL, "no header row", 1, 2,
                 x);
    setlocale(LC_ALL, "C");
}

/* ---- pieces, pipes, gzip ---- */

enum { ROWS = 30000, COLUMNS = 4 };

/* a table of over a megabyte with blank lines and missing cells in it; *x is the truth */
static char *make_text(size_t *size, double **x)
{
    char *text = malloc(ROWS * COLUMNS * 24 + 4096), *to = text;
    uint64_t seed = 7;
    *x = malloc(sizeof(double) * ROWS * COLUMNS);
    to += sprintf(to, "a,b,c,d\n");
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            double value = (double)(int64_t)random_bits(&seed) * 0x1p-62;
            int missing = random_bits(&seed) % 50 == 0;
            (*x)[i * COLUMNS + j] = missing ? NAN : value;
            to += missing ? sprintf(to, "%s", j % 2 ? "NA" : "") : sprintf(to, "%.17g", value);
            *to++ = j + 1 < COLUMNS ? ',' : '\n';
        }
        if (i % 1000 == 0)
            *to++ = '\n';
    }
    *size = (size_t)(to - text);
    return text;
}

static void expect_truth(const table *t, const double *x)
{
    assert_int_equal(t->n, ROWS);
    assert_int_equal(t->d, COLUMNS);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        if (!isnan(t->x[i]) || !isnan(x[i]))
            assert_true(t->x[i] == x[i]);
}

static void rows_do_not_depend_on_where_the_text_is_cut(void **state)
{
    (void)state;
    size_t size;
    double *x;
    char *text = make_text(&size, &x);
    table plain = table_of(files_write("p.csv", text, size), NULL);
    assert_true(plain.pieces > 8);
    expect_truth(&plain, x);

    const char *packed = files_path("p.csv.gz");
    gzFile gz = gzopen(packed, "wb1");
    assert_int_equal(gzwrite(gz, text, (unsigned)size), size);
    gzclose(gz);
    table zipped = table_of(packed, NULL);
    assert_true(zipped.pieces != plain.pieces);
    expect_truth(&zipped, x);

    /* an error on the last line of the file knows its row and line */
    memcpy(text + size - 3, "%\n", 3);
    unrelu_error err;
    table t;
    assert_int_equal(table_read(files_write("p.csv", text, size), NULL, &t, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "p.csv: row 30000 (line 30031), column 4 (d): '"));
    table_free(&plain);
    table_free(&zipped);
    free(text);
    free(x);
}

static void a_broken_gzip_file_is_told(void **state)
{
    (void)state;
    size_t size, packed_size;
    double *x;
    char *text = make_text(&size, &x);
    const char *path = files_path("b.csv.gz");
    gzFile gz = gzopen(path, "wb1");
    gzwrite(gz, text, (unsigned)size);
    gzclose(gz);
    unsigned char *packed = files_read(path, &packed_size);
    table t;
    unrelu_error err;
    files_write("b.csv.gz", packed, packed_size / 2);
    assert_int_equal(table_read(path, NULL, &t, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "cannot be unpacked after "));
    packed[packed_size - 6] ^= 1; /* the checksum */
    files_write("b.csv.gz", packed, packed_size);
    assert_int_equal(table_read(path, NULL, &t, &err), UNRELU_EFORMAT);
    assert_non_null(strstr(err.text, "the file is truncated or damaged"));
    free(packed);
    free(text);
    free(x);
}

/* Runs the reader on a pipe as standard input: a child writes the text. */
static int enter_pipe(const char *text, size_t size)
{
    int ends[2], before = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    if (fork() == 0) {
        close(ends[0]);
        for (size_t done = 0; done < size;) {
            ssize_t put = write(ends[1], text + done, size - done < 5000 ? size - done : 5000);
            if (put <= 0)
                break;
            done += (size_t)put;
        }
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    return before;
}

static void leave_pipe(int before)
{
    dup2(before, STDIN_FILENO);
    close(before);
}

static void standard_input_can_be_read_twice_unless_told_otherwise(void **state)
{
    (void)state;
    size_t size;
    double *x;
    char *text = make_text(&size, &x);
    for (int single = 0; single < 2; single++) {
        unrelu_source *source;
        unrelu_error err = {0};
        unrelu_source_options options = {.size = sizeof options, .single_pass = single};
        int before = enter_pipe(text, size);
        assert_int_equal(unrelu_source_open("-", &options, &source, &err), UNRELU_OK);
        assert_string_equal(ur_source_label(source), "standard input");
        table t = {0};
        assert_int_equal(table_collect(source, &t, &err), UNRELU_OK); /* rewinds at the start */
        expect_truth(&t, x);
        size_t pieces = t.pieces;
        unrelu_status status = table_collect(source, &t, &err);
        if (single) {
            assert_int_equal(status, UNRELU_EUSAGE);
            assert_string_equal(err.text, "standard input was opened for a single pass and cannot "
                                          "be read again; save it as a file and give its name");
        } else {
            assert_int_equal(status, UNRELU_OK);
            expect_truth(&t, x);
            assert_int_equal(t.pieces, pieces);
        }
        free(t.x);
        unrelu_source_close(source);
        leave_pipe(before);
    }
    free(text);
    free(x);
}

static void a_second_pass_may_start_before_the_first_has_ended(void **state)
{
    (void)state;
    size_t size;
    double *x;
    char *text = make_text(&size, &x);
    int before = enter_pipe(text, size), more;
    unrelu_source *source;
    ur_piece piece = {0};
    table t = {0};
    assert_int_equal(unrelu_source_open("-", NULL, &source, NULL), UNRELU_OK);
    assert_int_equal(ur_source_take(source, &piece, &more, NULL), UNRELU_OK);
    assert_int_equal(ur_source_take(source, &piece, &more, NULL), UNRELU_OK);
    assert_int_equal(table_collect(source, &t, NULL), UNRELU_OK);
    expect_truth(&t, x);
    free(t.x);
    ur_piece_free(&piece);
    unrelu_source_close(source);
    leave_pipe(before);
    free(text);
    free(x);
}

static void a_file_as_standard_input_starts_where_it_stands(void **state)
{
    (void)state;
    int before = dup(STDIN_FILENO);
    int fd = open(files_text("s.csv", "comment\n1,2\n3,4\n"), O_RDONLY);
    lseek(fd, 8, SEEK_SET);
    dup2(fd, STDIN_FILENO);
    close(fd);
    expect_table("-", NULL, "no header row", 2, 2, two_by_two);
    leave_pipe(before);
}

static void a_named_pipe_is_read_like_standard_input(void **state)
{
    (void)state;
    const char *path = files_path("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    if (fork() == 0) {
        int fd = open(path, O_WRONLY);
        _exit(write(fd, "1,2\n3,4\n", 8) != 8);
    }
    unrelu_source *source;
    table t = {0};
    assert_int_equal(unrelu_source_open(path, NULL, &source, NULL), UNRELU_OK);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(table_collect(source, &t, NULL), UNRELU_OK);
        assert_int_equal(t.n, 2);
        assert_memory_equal(t.x, two_by_two, sizeof two_by_two);
    }
    free(t.x);
    unrelu_source_close(source);
    assert_int_equal(mkfifo(files_path("pipe.npy"), 0600), 0);
    expect_refusal(files_path("pipe.npy"), NULL, UNRELU_EIO,
                   "%s is not a regular file, and arrays are read at offsets; save it as a file "
                   "first");
}

/* many columns announced, lines of one cell: the block must not be sized by rows times columns */
static void many_short_lines_do_not_ask_for_memory(void **state)
{
    (void)state;
    enum { WIDTH = 100000, LINES = 400000 };
    char *text = malloc(3 * WIDTH + 2 * LINES), *to = text;
    for (int j = 0; j < WIDTH; j++)
        to += sprintf(to, j + 1 < WIDTH ? "a," : "a\n");
    for (int i = 0; i < LINES; i++)
        to += sprintf(to, "1\n");
    const char *path = files_write("s.csv", text, (size_t)(to - text));
    expect_refusal(path, NULL, UNRELU_EFORMAT,
                   "%s: row 1 (line 2) has 1 cell, expected 100000 as in the header row");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_detected_and_told),
        cmocka_unit_test(quoted_numbers_above_plain_ones_are_names),
        cmocka_unit_test(text_and_row_names_are_left_out_and_named),
        cmocka_unit_test(columns_that_may_be_numbers_are_not_left_out),
        cmocka_unit_test(only_the_start_of_a_file_is_looked_at_for_text),
        cmocka_unit_test(separators_line_ends_marks_and_blanks_do_not_matter),
        cmocka_unit_test(missing_values_are_nan),
        cmocka_unit_test(columns_are_chosen_by_name_number_and_range),
        cmocka_unit_test(lines_beside_the_table_are_left_out_and_told),
        cmocka_unit_test(lines_beside_a_wide_table_are_left_out_too),
        cmocka_unit_test(a_column_that_tells_of_another_is_pointed_at),
        cmocka_unit_test(wrong_cells_are_refused_with_their_place),
        cmocka_unit_test(files_without_a_table_are_refused),
        cmocka_unit_test(numbers_are_rounded_correctly),
        cmocka_unit_test(the_locale_of_the_program_does_not_matter),
        cmocka_unit_test(rows_do_not_depend_on_where_the_text_is_cut),
        cmocka_unit_test(a_broken_gzip_file_is_told),
        cmocka_unit_test(standard_input_can_be_read_twice_unless_told_otherwise),
        cmocka_unit_test(a_second_pass_may_start_before_the_first_has_ended),
        cmocka_unit_test(a_file_as_standard_input_starts_where_it_stands),
        cmocka_unit_test(a_named_pipe_is_read_like_standard_input),
        cmocka_unit_test(many_short_lines_do_not_ask_for_memory),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
