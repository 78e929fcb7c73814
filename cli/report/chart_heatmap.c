/* SPDX-License-Identifier: Apache-2.0 */
/* Zero is the colour below the map, and a value covers it with one of two colours, as opaque as it
 * is large: so one picture serves light and dark pages. Small maps are a mark for each cell; large
 * ones a PNG with a pixel for each, under rows that tell of their largest value. */
#include <math.h>
#include <stdlib.h>

#include "chart.h"
#include "png.h"

enum {
    HEIGHT = 520,  /* of its cells, at most */
    CELL = 48,     /* of a cell, at most */
    APART = 40,    /* between labels where cells are smaller than that */
    LABELLED = 11, /* of the smallest cell that has room for a label */
    CUT = 14,      /* characters of a label */
    KEY = 34,      /* the height of the scale of colours, and its length */
    KEY_LENGTH = 150,
    SEPARATE = 32 * 32, /* cells up to which each is a mark */
    WRITTEN = 12 * 12,  /* cells up to which their numbers are written into them */
    LEVELS = 32,        /* of each colour in a picture: entropy of the file, not of the eye */
    TITLE = 20,
};

/* of the largest: from DARK on light numbers are read better than dark ones; on a dark page, where
 * cells grow lighter, dark ones from LIGHT on */
static const double DARK = 0.85, LIGHT = 0.65;

/* as in page.css, whose dark half lightens pictures by a filter */
static const cli_colour LOW = {0x2f, 0x6d, 0xb0, 0}, HIGH = {0xc0, 0x51, 0x2a, 0},
                        NONE = {0x88, 0x88, 0x88, 60};

static int has_cells(const cli_heatmap *m)
{
    return m->rows <= SEPARATE / m->columns;
}

/* ---- where things are ---- */

typedef struct {
    double left, top;  /* of the cells, pixels */
    double cell, tall; /* width and height of one */
    double below;      /* room for labels under the cells */
    double font;       /* of labels, in wide and in narrow windows */
    double narrow;
    int upright;                    /* labels of columns */
    size_t row_every, column_every; /* how many have one label */
} layout;

static double longest(cli_page *page, const cli_names *names, size_t count, double font)
{
    double widest = 0;
    for (size_t i = 0; i < count; i++)
        widest = fmax(widest, cli_svg_text_width(cli_name_of(page, names, i), font));
    return fmin(widest, CUT * cli_svg_text_width("x", font));
}

static size_t labels_every(double cell)
{
    return cell >= LABELLED ? 1 : (size_t)cli_svg_step(APART / cell);
}

static layout layout_of(cli_page *page, const cli_heatmap *m)
{
    layout l = {.top = KEY};
    double rows = (double)m->rows, columns = (double)m->columns;
    double names = longest(page, &m->row_names, m->rows, CLI_FONT) + 8;
    l.left = names + (m->row_title ? TITLE : 0);
    l.tall = fmin(CELL, HEIGHT / rows);
    l.cell = fmin(CELL, (m->frame.width - l.left) / columns);
    if (m->rows == m->columns)
        l.cell = l.tall = fmin(l.cell, l.tall);
    l.row_every = labels_every(l.tall);
    l.column_every = labels_every(l.cell);
    double pitch = fmin((double)l.row_every * l.tall, (double)l.column_every * l.cell);
    l.font = fmin(CLI_FONT, pitch - 1);
    l.narrow = fmax(l.font, fmin(pitch - 2, cli_svg_narrow(l.left + columns * l.cell)));
    l.left += names * (fmax(1, l.narrow / CLI_FONT) - 1);
    double widest = longest(page, &m->column_names, m->columns, l.narrow);
    l.upright = widest > (double)l.column_every * l.cell - 4;
    l.below = l.upright ? widest + 8 : TITLE;
    return l;
}

/* ---- colours ---- */

/* from -1 to 1 */
static double share_of(const cli_heatmap *m, size_t i)
{
    double share = m->values[i] / m->largest;
    return isfinite(share) ? fmin(1, fmax(-1, share)) : NAN;
}

static void draw_key(cli_page *page, const cli_heatmap *m, const layout *l)
{
    static const char *const sides[] = {"start", "middle", "end"};
    size_t id = page->charts;
    double left = cli_px(l->left);
    cli_html(page,
             "<linearGradient id=\"g%zu\"><stop class=\"low\"/><stop class=\"zero\" "
             "offset=\".5\"/><stop class=\"high\" offset=\"1\"/></linearGradient><path "
             "fill=\"url(#g%zu)\" d=\"M%g 2h%dv8h-%dz\"/>",
             id, id, left, KEY_LENGTH, KEY_LENGTH);
    for (int side = -1; side <= 1; side++)
        cli_html(page, "<text class=\"%s\" x=\"%g\" y=\"23\">%s%.3g</text>", sides[side + 1],
                 left + (side + 1) * KEY_LENGTH / 2.0, side < 0 ? "−" : "",
                 fabs(side * m->largest));
    cli_html(page, "<text x=\"%g\" y=\"11\">%s</text>\n", left + KEY_LENGTH + 10, m->label);
}

/* a part of a path */
static const char *box(cli_page *page, double x, double y, double width, double height)
{
    return cli_text(page, "M%g %gh%gv%gh-%gz", cli_px(x), cli_px(y), cli_px(width), cli_px(height),
                    cli_px(width));
}

/* ---- small maps ---- */

static void draw_cell(cli_page *page, const cli_heatmap *m, const layout *l, size_t row,
                      size_t column)
{
    size_t i = row * m->columns + column;
    double share = share_of(m, i), x = (double)column * l->cell, y = (double)row * l->tall;
    cli_html(page, "<path d=\"%s", box(page, l->left + x, l->top + y, l->cell, l->tall));
    if (m->is_symmetric && row != column) /* then cells are square */
        cli_html(page, "%s", box(page, l->left + y, l->top + x, l->cell, l->tall));
    if (!isnan(share))
        cli_html(page, "\" opacity=\"%.2g", rint(100 * fabs(share)) / 100);
    cli_html(page, "\"><title>%s, %s", cli_escaped(page, cli_name_of(page, &m->row_names, row)),
             cli_escaped(page, cli_name_of(page, &m->column_names, column)));
    if (!isnan(share))
        cli_html(page, ": %.3g", m->values[i]);
    if (!isnan(share) && m->se && isfinite(m->se[i]) && m->se[i] > 0)
        cli_html(page, " (se %.2g)", m->se[i]);
    cli_html(page, "</title></path>\n");
}

static void draw_cells(cli_page *page, const cli_heatmap *m, const layout *l)
{
    static const char *const classes[] = {"low", "high", "none"};
    for (int group = 0; group < 3; group++) {
        cli_html(page, "<g class=\"cells %s\">\n", classes[group]);
        for (size_t i = 0; i < m->rows * m->columns; i++) {
            double share = share_of(m, i);
            size_t row = i / m->columns, column = i % m->columns;
            if ((isnan(share) ? 2 : share > 0) == group && !(m->is_symmetric && column < row))
                draw_cell(page, m, l, row, column);
        }
        cli_html(page, "</g>");
    }
}

/* where all have room */
static void write_numbers(cli_page *page, const cli_heatmap *m, const layout *l)
{
    static const double SMALL = 0.1,
                        LARGE = 100; /* between them two decimals are enough, and fit */
    int is_plain = m->largest >= SMALL && m->largest < LARGE;
    if (m->rows * m->columns > WRITTEN || l->tall < CLI_FONT + 6)
        return;
    double widest = cli_svg_text_width(is_plain ? "−0.00" : "−0e+00", CLI_FONT) + 2;
    cli_html(page, "<g class=\"middle numbers\" style=\"--narrow:%gpx\">",
             cli_px(fmin(l->narrow, CLI_FONT * l->cell / widest)));
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        double share = share_of(m, i);
        const char *text = cli_text(page, is_plain ? "%.2f" : "%.1g", fabs(m->values[i]));
        if (isnan(share) || cli_svg_text_width(text, CLI_FONT) + CLI_FONT > l->cell)
            continue;
        cli_html(page, "<text%s x=\"%g\" y=\"%g\">%s%s</text>",
                 fabs(share) > DARK    ? " class=\"on\""
                 : fabs(share) > LIGHT ? " class=\"mid\""
                                       : "",
                 cli_px(l->left + ((double)(i % m->columns) + 0.5) * l->cell),
                 cli_px(l->top + ((double)(i / m->columns) + 0.5) * l->tall + 4),
                 m->values[i] < 0 ? "−" : "", text);
    }
    cli_html(page, "</g>\n");
}

/* ---- large maps ---- */

static void draw_picture(cli_page *page, const cli_heatmap *m, const layout *l)
{
    cli_colour colours[2 * LEVELS + 2] = {NONE};
    size_t cells = m->rows * m->columns;
    unsigned char *pixels = cli_page_take(page, cells, 1);
    if (!pixels)
        return;
    for (int level = -LEVELS; level <= LEVELS; level++) {
        cli_colour *c = &colours[1 + LEVELS + level];
        *c = level < 0 ? LOW : HIGH;
        c->alpha = (unsigned char)(255 * abs(level) / LEVELS);
    }
    for (size_t i = 0; i < cells; i++) {
        double share = share_of(m, i);
        pixels[i] = (unsigned char)(isnan(share) ? 0 : 1 + LEVELS + lrint(share * LEVELS));
    }
    cli_html(page,
             "<image class=\"%s\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" "
             "preserveAspectRatio=\"none\" "
             "href=\"data:image/png;base64,%s\"><title>%s</title></image><g class=\"strips\">\n",
             fmin(l->cell, l->tall) >= 1 ? "pixels" : "", cli_px(l->left), l->top,
             cli_px(l->cell * (double)m->columns), cli_px(l->tall * (double)m->rows),
             cli_png_base64(page, m->columns, m->rows, pixels, colours, 2 * LEVELS + 2),
             cli_escaped(page, m->frame.title));
    for (size_t row = 0; row < m->rows; row++) {
        size_t best = row * m->columns, end = best + m->columns;
        for (size_t i = best; i < end; i++)
            if (!(fabs(m->values[best]) >= fabs(m->values[i])) && isfinite(m->values[i]))
                best = i;
        cli_html(page, "<path d=\"%s\"><title>%s",
                 box(page, l->left, l->top + (double)row * l->tall, l->cell * (double)m->columns,
                     ceil(10 * l->tall) / 10),
                 cli_escaped(page, cli_name_of(page, &m->row_names, row)));
        if (isfinite(m->values[best]))
            cli_html(page, ": largest %.3g, at %s", m->values[best],
                     cli_escaped(page, cli_name_of(page, &m->column_names, best % m->columns)));
        cli_html(page, "</title></path>\n");
    }
    cli_html(page, "</g>");
}

/* ---- labels ---- */

static void write_label(cli_page *page, const cli_names *names, size_t i)
{
    const char *name = cli_name_of(page, names, i), *cut = cli_shortened(page, name, CUT);
    if (cut != name)
        cli_html(page, "<title>%s</title>", cli_escaped(page, name));
    cli_html(page, "%s</text>", cli_escaped(page, cut));
}

static void write_labels(cli_page *page, const cli_heatmap *m, const layout *l)
{
    double bottom = l->top + l->tall * (double)m->rows, right = l->cell * (double)m->columns;
    cli_html(page, "<g class=\"end\">");
    for (size_t i = l->row_every - 1; i < m->rows; i += l->row_every) {
        cli_html(page, "<text x=\"%g\" y=\"%g\">", cli_px(l->left - 6),
                 cli_px(l->top + ((double)i + 0.5) * l->tall + CLI_MIDDLE * l->font));
        write_label(page, &m->row_names, i);
    }
    cli_html(page, "</g><g class=\"%s\">", l->upright ? "end" : "middle");
    for (size_t i = l->column_every - 1; i < m->columns; i += l->column_every) {
        double x = l->left + ((double)i + 0.5) * l->cell;
        if (l->upright)
            cli_html(page, "<text transform=\"translate(%g %g)rotate(-90)\">",
                     cli_px(x + CLI_MIDDLE * l->font), cli_px(bottom + 6));
        else
            cli_html(page, "<text x=\"%g\" y=\"%g\">", cli_px(x), cli_px(bottom + 15));
        write_label(page, &m->column_names, i);
    }
    cli_html(page, "</g>");
    if (m->column_title)
        cli_html(page, "<text class=\"middle\" x=\"%g\" y=\"%g\">%s</text>",
                 cli_px(l->left + right / 2), cli_px(bottom + l->below + 13), m->column_title);
    if (m->row_title)
        cli_html(page, "<text class=\"middle\" transform=\"translate(12 %g)rotate(-90)\">%s</text>",
                 cli_px((l->top + bottom) / 2), m->row_title);
}

void cli_chart_heatmap(cli_page *page, const cli_heatmap *map)
{
    cli_heatmap m = *map;
    m.largest = m.largest > 0 ? m.largest : 1;
    layout l = layout_of(page, &m);
    double wide = l.cell * (double)m.columns, tall = l.tall * (double)m.rows;
    double key = KEY_LENGTH + 10 + cli_svg_text_width(m.label, l.narrow);
    cli_plot plot = {.page = page, .frame = m.frame, .font = l.font, .narrow = l.narrow};
    plot.frame.caption =
        cli_text(page, "%s%sPoint at a %s.", m.frame.caption ? m.frame.caption : "",
                 m.frame.caption ? " " : "",
                 !has_cells(&m) ? "row for its largest value"
                 : m.se         ? "cell for its number and standard error"
                                : "cell for its number");
    plot.frame.width = ceil(l.left + fmax(wide, key) + 2);
    plot.frame.height = ceil(l.top + tall + l.below + (m.column_title ? TITLE : 0));
    cli_svg_open(&plot);
    draw_key(page, &m, &l);
    cli_html(page, "<path class=\"zero\" d=\"%s\"/>", box(page, l.left, l.top, wide, tall));
    if (has_cells(&m)) {
        draw_cells(page, &m, &l);
        write_numbers(page, &m, &l);
    } else
        draw_picture(page, &m, &l);
    write_labels(page, &m, &l);
    cli_plot_close(&plot);
}
