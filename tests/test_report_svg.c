/* SPDX-License-Identifier: Apache-2.0 */
/* Axes, marks and each kind of chart, as the text that they are. */
#include "pages.h"

#include <math.h>

static const char hostile[] = "</title><script>x()</script>\"'&\n\xff";

/* a plot with these axes, as the text of its chart; the page is kept in *page */
static char *plotted(cli_plot *plot, double width, char **page)
{
    plot->page = new_page();
    plot->frame = (cli_frame){"test", "test", NULL, width, 200};
    cli_plot_open(plot);
    cli_plot_close(plot);
    *page = saved(plot->page);
    char *svg = chart_in(*page);
    check_chart(svg);
    return svg;
}

/* the labels of the axis y (class "end") or x ("middle"), with a blank after each */
static const char *labels(const char *svg, const char *class)
{
    static char all[1024];
    char group[64];
    snprintf(group, sizeof group, "<g class=\"%s\">", class);
    const char *s = strstr(svg, group), *end = strstr(s, "</g>");
    all[0] = '\0';
    while ((s = strstr(s, "<text")) && s < end) {
        s = strchr(s, '>') + 1;
        strncat(all, s, strcspn(s, "<"));
        strcat(all, " ");
    }
    return all;
}

static void y_labels_are(double low, double high, cli_axis axis, const char *expected)
{
    char *page;
    axis.low = low;
    axis.high = high;
    axis.has_labels = 1;
    cli_plot plot = {.x = {.high = 1}, .y = axis};
    const char *found = labels(plotted(&plot, 400, &page), "end");
    if (strcmp(found, expected) != 0)
        fail_msg("%g to %g: %s, expected %s", low, high, found, expected);
    free(page);
}

static void ticks_are_round_numbers(void **state)
{
    (void)state;
    y_labels_are(0, 97, (cli_axis){0}, "0 20 40 60 80 ");
    y_labels_are(0, 97, (cli_axis){.is_nice = 1}, "0 20 40 60 80 100 ");
    y_labels_are(-0.31, 0.3, (cli_axis){0}, "−0.3 −0.2 −0.1 0.0 0.1 0.2 0.3 ");
    y_labels_are(-1, 1, (cli_axis){0}, "−1.0 −0.5 0.0 0.5 1.0 ");
    y_labels_are(1234.5, 1234.9, (cli_axis){0}, "1234.5 1234.6 1234.7 1234.8 1234.9 ");
    y_labels_are(0, 1, (cli_axis){.is_share = 1},
                 "0\u202f% 20\u202f% 40\u202f% 60\u202f% "
                 "80\u202f% 100\u202f% ");
    y_labels_are(0.5, 3.5, (cli_axis){.is_whole = 1, .count = 9}, "1 2 3 ");
    y_labels_are(0.5, 40.5, (cli_axis){.is_whole = 1}, "10 20 30 40 ");
    y_labels_are(0.0009, 9, (cli_axis){.is_log = 1}, "0.001 0.01 0.1 1 ");
    y_labels_are(0.015, 0.3, (cli_axis){.is_log = 1}, "0.02 0.05 0.1 0.2 ");
    y_labels_are(0.011, 0.013, (cli_axis){.is_log = 1}, "0.0110 0.0115 0.0120 0.0125 0.0130 ");
    y_labels_are(0, 0, (cli_axis){0}, "−0.4 −0.2 0.0 0.2 0.4 ");
    y_labels_are(5, 5, (cli_axis){0}, "3 4 5 6 7 ");
    y_labels_are(NAN, INFINITY, (cli_axis){0}, "0.0 0.2 0.4 0.6 0.8 1.0 ");
    y_labels_are(NAN, 1, (cli_axis){.is_log = 1}, "1 2 ");
}

static void powers_of_ten_go_to_the_title(void **state)
{
    (void)state;
    char *page;
    cli_plot plot = {.x = {.low = -3.2e-16, .high = 3.2e-16, .title = "rest", .has_labels = 1},
                     .y = {.high = 250000, .has_labels = 1}};
    const char *svg = plotted(&plot, 400, &page);
    assert_string_equal(labels(svg, "end"), "0.0 0.5 1.0 1.5 2.0 2.5 ");
    assert_non_null(strstr(svg, ">×10⁵</text>"));
    assert_non_null(strstr(svg, ">rest (×10⁻¹⁶)</text>"));
    free(page);
}

static void given_ticks_are_taken(void **state)
{
    (void)state;
    char *page;
    static const double at[] = {20000, 50000, 200000, 3000000};
    cli_plot plot = {
        .x = {.low = 2e4, .high = 3e6, .is_log = 1, .at = at, .count = 4, .has_labels = 1},
        .y = {.high = 1}};
    assert_string_equal(labels(plotted(&plot, 400, &page), "middle"), "3M 200k 50k 20k ");
    free(page);
}

/* on an axis that is too short for all of them some are left out, not the last */
static void labels_do_not_touch(void **state)
{
    (void)state;
    static const double at[] = {100, 200, 300, 400, 500, 600, 700, 800};
    for (double width = 60; width < 500; width += 20) {
        char *page;
        cli_plot plot = {.x = {.low = 100, .high = 800, .at = at, .count = 8, .has_labels = 1},
                         .y = {.high = 1}};
        const char *s = strstr(plotted(&plot, width, &page), "<g class=\"middle\">");
        double before = INFINITY;
        assert_non_null(strstr(s, ">800</text>"));
        while ((s = strstr(s, "<text x=\""))) {
            double x = strtod(s += strlen("<text x=\""), NULL);
            assert_true(before - x > 3 * 0.56 * CLI_FONT);
            before = x;
        }
        free(page);
    }
}

static void values_have_their_pixels(void **state)
{
    (void)state;
    char *page;
    cli_plot plot = {.x = {.low = 2, .high = 4}, .y = {.low = 0.01, .high = 1, .is_log = 1}};
    plotted(&plot, 400, &page);
    assert_true(cli_pixel(&plot.x, 2) == plot.x.from && cli_pixel(&plot.x, 4) == plot.x.to);
    assert_true(fabs(cli_pixel(&plot.x, 3) - (plot.x.from + plot.x.to) / 2) <= 0.1);
    assert_true(fabs(cli_pixel(&plot.y, 0.1) - (plot.y.from + plot.y.to) / 2) <= 0.1);
    assert_true(plot.y.from > plot.y.to); /* upwards */
    assert_true(cli_pixel(&plot.x, -1e300) == plot.x.from &&
                cli_pixel(&plot.x, 1e300) == plot.x.to);
    assert_true(cli_pixel(&plot.y, 0) == plot.y.from);
    free(page);
}

static void long_titles_are_cut(void **state)
{
    (void)state;
    char *page;
    cli_plot plot = {.x = {.high = 1, .title = "größe größe größe größe größe größe größe"},
                     .y = {.high = 1}};
    const char *svg = plotted(&plot, 200, &page);
    assert_null(strstr(svg, plot.x.title));
    assert_non_null(strstr(svg, "…"));
    free(page);
}

static void names_that_are_cut_keep_both_ends(void **state)
{
    (void)state;
    cli_page *page = new_page();
    assert_string_equal(cli_shortened(page, "concentration_10", 8), "conc…_10");
    assert_string_equal(cli_shortened(page, "concentration_10", 16), "concentration_10");
    assert_string_equal(cli_shortened(page, "größere_übung", 5), "gr…ng");
    assert_string_equal(cli_shortened(page, "concentration_10", 1), "…");
    cli_page_drop(page);
}

static void marks_are_escaped_and_have_gaps(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3, 4}, y[] = {0, 1, NAN, 3, 4}, none[] = {NAN, NAN};
    cli_plot plot = {.page = new_page(),
                     .frame = {hostile, hostile, hostile, 100, 100},
                     .x = {.high = 4, .title = hostile},
                     .y = {.high = 4}};
    cli_plot_open(&plot);
    cli_mark_line(&plot, "line first", 5, x, y, NULL, hostile);
    cli_mark_line(&plot, "area first", 5, x, y, x, "band");
    cli_mark_line(&plot, "line first", 2, x, none, NULL, "nothing");
    cli_mark_line(&plot, "area first", 2, x, none, x, "nothing");
    cli_mark_dot(&plot, 1, 2, hostile);
    cli_mark_bar(&plot, 1, 0, 2, 3, hostile);
    cli_mark_rule(&plot, 1, 0, 2, 3, hostile);
    cli_plot_close(&plot);
    char *page = saved(plot.page);
    assert_null(strstr(page, "<script>x"));
    assert_int_equal(times(page, "&lt;script&gt;x()"), 7); /* and once more, cut, at the axis */
    char *svg = chart_in(page);
    check_chart(svg);
    const char *line = strstr(svg, "class=\"line first\" d=\"M");
    assert_non_null(line);
    const char *second = strchr(strchr(line, 'M') + 1, 'M');
    assert_true(second && second < strchr(strchr(line, 'M'), '"')); /* a gap */
    free(page);
}

/* ---- kinds ---- */

static char *checked(cli_page *page)
{
    char *text = saved(page);
    char *copy = strdup(text);
    check_chart(chart_in(copy));
    free(copy);
    return text;
}

static void a_histogram_has_bars_and_two_parts_of_a_curve(void **state)
{
    (void)state;
    static const double edges[] = {0, 1, 2, 9}, heights[] = {0.4, 0, 0.1}, counts[] = {40, 0, 10},
                        expected[] = {38, 20, 9};
    cli_histogram h = {.frame = {hostile, "text", NULL, 300, 200},
                       .x_title = hostile,
                       .y_title = "density",
                       .bins = 3,
                       .edges = edges,
                       .heights = heights,
                       .counts = counts,
                       .expected = expected,
                       .low = -2,
                       .high = 3,
                       .curve = {0.5, 1, 1, 0}};
    cli_page *page = new_page();
    cli_chart_histogram(page, &h);
    char *text = checked(page);
    assert_non_null(strstr(text, "<title>0 to 1: 40, expected 38.0</title>"));
    assert_null(strstr(text, "1 to 2: 0"));
    assert_int_equal(times(text, "class=\"dash second\""), 1);
    assert_int_equal(times(text, "class=\"line second\""), 1);
    free(text);
    h.curve.sd = 0;
    h.expected = NULL;
    page = new_page();
    cli_chart_histogram(page, &h);
    text = checked(page);
    assert_non_null(strstr(text, "<title>0 to 1: 40</title>"));
    assert_int_equal(times(text, "class=\"line second\""), 0);
    free(text);
}

static void a_distribution_has_steps_with_gaps_and_a_normal_over_it(void **state)
{
    enum { COUNT = 10 };
    /* hidden below 1; two steps at 2; between two limits; one beyond the axis */
    double values[COUNT] = {NAN, NAN, NAN, 1, 2, 2, NAN, 5, 6, 90};
    (void)state;
    cli_page *page = new_page();
    cli_chart_steps(page, &(cli_steps){.frame = {"A & B", "steps", NULL, 300, 200},
                                       .x_title = "lead",
                                       .low = 0,
                                       .high = 10,
                                       .count = COUNT,
                                       .values = values,
                                       .curve = {2, 3, 1}});
    char *text = saved(page), *svg = chart_in(text);
    check_chart(svg);
    assert_int_equal(times(svg, "class=\"dash second\""), 1);
    assert_int_equal(times(svg, "class=\"line second\""), 1);
    const char *line = strstr(svg, "class=\"line first\" d=\"");
    assert_non_null(line);
    line = strstr(line, "d=\"") + 3;
    size_t moves = 0, lines = 0, length = strcspn(line, "\"");
    for (size_t i = 0; i < length; i++) {
        moves += line[i] == 'M';
        lines += line[i] == 'L';
    }
    assert_int_equal(moves, 2); /* before and after the gap */
    assert_int_equal(lines, 6); /* up and on at 1 and at 2; at 5 and at 6 */
    assert_int_equal(times(svg, "of the values are at or below"), 2);
    /* Phi(0): half of the model lies below 2 */
    assert_non_null(strstr(svg, "50 % of the values are at or below 2; by the model 50 %"));
    assert_non_null(strstr(svg, "80 % of the values are at or below 5; by the model 84.1 %"));
    free(text);
}

static void points_have_a_line_and_a_band(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3}, y[] = {1.1, 2.2, 1e6}, low[] = {0, 1, NAN},
                        high[] = {2, 3, INFINITY};
    const char *labels[] = {hostile, "second", "third"};
    cli_points p = {.frame = {"title", "text", NULL, 200, 200},
                    .x_title = hostile,
                    .y_title = "samples: lead",
                    .x_word = "model",
                    .y_word = "samples",
                    .count = 3,
                    .x = x,
                    .y = y,
                    .low = low,
                    .high = high,
                    .size = 3,
                    .labels = labels};
    cli_page *page = new_page();
    cli_chart_points(page, &p);
    char *text = checked(page);
    assert_int_equal(times(text, "h0\"><title>"), 3);
    assert_non_null(strstr(text, "<title>second: model 2, samples 2.2</title>"));
    assert_int_equal(times(text, "class=\"area second\""), 1);
    free(text);
    p.low = p.high = NULL;
    p.count = 1;
    page = new_page();
    cli_chart_points(page, &p);
    text = checked(page);
    assert_int_equal(times(text, "class=\"area second\""), 0);
    free(text);
}

static void bars_and_estimates_say_their_numbers(void **state)
{
    (void)state;
    static const double values[] = {0.5, 0.25, -0.125}, from[] = {0.4, NAN, -0.325},
                        to[] = {0.6, NAN, 0.075};
    const char *labels[] = {hostile, "second", "third"};
    cli_page *page = new_page();
    cli_chart_bars(page, &(cli_bars){.frame = {"title", "text", NULL, 480, 230},
                                     .y_title = "share",
                                     .one = "neuron",
                                     .colour = "first",
                                     .count = 2,
                                     .values = values,
                                     .is_share = 1});
    char *text = checked(page);
    assert_non_null(strstr(text, "<title>neuron 2: 25 %</title>"));
    assert_non_null(strstr(text, "100\u202f%"));
    free(text);
    cli_estimates e = {.frame = {"title", "text", hostile, 480, 260},
                       .axis_title = "value",
                       .count = 3,
                       .values = values,
                       .from = from,
                       .to = to,
                       .low = -1,
                       .high = 1,
                       .labels = labels,
                       .beside = labels};
    page = new_page();
    cli_chart_estimates(page, &e);
    text = checked(page);
    assert_int_equal(times(text, ": 0.5, from 0.4 to 0.6</title>"), 2); /* point and interval */
    assert_int_equal(times(text, "<title>second: 0.25</title>"), 1);
    free(text);
    page = new_page();
    e.one = "number";
    cli_chart_estimates(page, &e);
    text = checked(page);
    assert_int_equal(times(text, "<title>number 3: -0.125, from -0.325 to 0.075</title>"), 2);
    free(text);
}

/* rows x columns with a value that is not there; symmetric where they are equal */
static char *mapped(size_t rows, size_t columns, const char *const *names)
{
    double *values = calloc(rows * columns, sizeof *values);
    for (size_t i = 0; i < rows * columns; i++)
        values[i] = cos((double)(i / columns) * (double)(i % columns));
    values[0] = NAN;
    cli_page *page = new_page();
    cli_chart_heatmap(page, &(cli_heatmap){.frame = {hostile, hostile, hostile, 600, 0},
                                           .rows = rows,
                                           .columns = columns,
                                           .values = values,
                                           .se = values,
                                           .row_names = {.names = names, .letter = "x"},
                                           .column_names = {.names = names, .letter = "x"},
                                           .largest = 0.9,
                                           .is_symmetric = rows == columns,
                                           .label = "entry",
                                           .row_title = "row",
                                           .column_title = "column"});
    free(values);
    return checked(page);
}

static void small_maps_have_a_mark_for_each_cell(void **state)
{
    (void)state;
    const char name[] = "</title><script>x()</script>", *const names[] = {name, name, name};
    char *text = mapped(3, 2, names);
    assert_int_equal(times(text, "</path>"), 6);
    assert_int_equal(times(text, "<image"), 0);
    assert_null(strstr(text, "<script>x"));
    free(text);
    text = mapped(3, 3, NULL);
    assert_int_equal(times(text, "</path>"), 6); /* of 9 cells the pairs are one */
    assert_non_null(strstr(text, "<title>x2, x3: -0.416</title>"));
    assert_non_null(strstr(text, ">−0.42</text>"));
    free(text);
    text = mapped(32, 32, NULL);
    assert_int_equal(times(text, "</path>"), 32 * 33 / 2);
    free(text);
    text = mapped(1, 1, NULL);
    assert_int_equal(times(text, "</path>"), 1);
    free(text);
}

static void large_maps_are_pictures_with_rows(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{33, 32}, {1, 1100}, {1100, 1}, {300, 200}};
    for (size_t k = 0; k < 4; k++) {
        char *text = mapped(sizes[k][0], sizes[k][1], NULL);
        assert_int_equal(times(text, "href=\"data:image/png;base64,iVBORw0KGgo"), 1);
        assert_int_equal(times(text, "</path>"), sizes[k][0]);
        assert_non_null(strstr(text, sizes[k][1] > 1 ? "<title>x1: largest 1, at x2</title>"
                                                     : "<title>x1</title>"));
        free(text);
    }
}

static void bytes_that_are_no_text_become_question_marks(void **state)
{
    (void)state;
    cli_page *page = new_page();
    /* a lone start, an overlong slash, a surrogate, beyond the last, a start at the end */
    cli_html(
        page, "%s",
        cli_escaped(page, "[ä€😀|\xc3|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\t|\x7f|\xe2\x82]"));
    char *text = saved(page);
    assert_non_null(strstr(text, "[ä€😀|?|??|???|????|?|?|??]"));
    free(text);
}

static void names_are_cut_at_characters(void **state)
{
    (void)state;
    cli_page *page = new_page();
    char name[2 * 200 + 1] = "";
    const char *const names[] = {name};
    const size_t which[] = {4, 0};
    for (int i = 0; i < 200; i++)
        strcat(name, "ä");
    assert_int_equal(strlen(cli_name_of(page, &(cli_names){.names = names}, 0)), 2 * 60);
    const cli_names numbered = {.letter = "u", .which = which};
    assert_string_equal(cli_name_of(page, &numbered, 0), "u5");
    cli_page_drop(page);
}

static void the_text_of_a_page_counts_as_memory(void **state)
{
    (void)state;
    enum { LINES = 20000, LINE = 100 };
    size_t before = unrelu_memory_used();
    cli_page *page = new_page();
    for (int i = 0; i < LINES; i++)
        cli_html(page, "%*d\n", LINE - 1, i);
    assert_int_equal(page->size, LINES * LINE);
    assert_int_equal(atoi(page->body + LINES * LINE - LINE), LINES - 1);
    assert_true(unrelu_memory_used() - before >= LINES * LINE);
    size_t limit = unrelu_memory_limit(unrelu_memory_used() + LINES * LINE); /* for it once more */
    cli_html(page, "%*d\n", 4 * LINES * LINE, 0);
    unrelu_memory_limit(limit);
    assert_true(page->failed);
    cli_page_drop(page);
    assert_int_equal(unrelu_memory_used(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round_numbers),
        cmocka_unit_test(powers_of_ten_go_to_the_title),
        cmocka_unit_test(given_ticks_are_taken),
        cmocka_unit_test(labels_do_not_touch),
        cmocka_unit_test(values_have_their_pixels),
        cmocka_unit_test(long_titles_are_cut),
        cmocka_unit_test(names_that_are_cut_keep_both_ends),
        cmocka_unit_test(marks_are_escaped_and_have_gaps),
        cmocka_unit_test(a_histogram_has_bars_and_two_parts_of_a_curve),
        cmocka_unit_test(a_distribution_has_steps_with_gaps_and_a_normal_over_it),
        cmocka_unit_test(points_have_a_line_and_a_band),
        cmocka_unit_test(bars_and_estimates_say_their_numbers),
        cmocka_unit_test(small_maps_have_a_mark_for_each_cell),
        cmocka_unit_test(large_maps_are_pictures_with_rows),
        cmocka_unit_test(bytes_that_are_no_text_become_question_marks),
        cmocka_unit_test(names_are_cut_at_characters),
        cmocka_unit_test(the_text_of_a_page_counts_as_memory),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
