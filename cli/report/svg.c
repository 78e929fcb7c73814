/* SPDX-License-Identifier: Apache-2.0 */
#include "svg.h"

#include <math.h>
#include <string.h>

#include "width.h"

enum {
    MOST_TICKS = 24,
    TICKS = 5,        /* of an axis that does not say how many, about */
    DECADES = 7,      /* powers of ten with a label, about, at most */
    TICK = 4,         /* pixels of a tick, and of the gap to its label */
    LABEL = 18,       /* from an axis to the foot of its labels, and on to its title */
    SIDE = 10,        /* above and right of the plot */
    NARROW = 336,     /* pixels that a card has in a narrow window */
    NARROW_FONT = 11, /* what text should have there */
    WIDEST_FONT = 17,
};

static const double SLACK = 1e-9;      /* of a step or end: rounding loses no tick at the ends */
static const double FEW_DECADES = 2.5; /* below which twice and five times them are ticks too */
static const double SMALL = 1e-2, LARGE = 1e5; /* between them labels need no power of ten */
static const double CHARACTER = 0.6;           /* of the font's size */
static const double STRETCH = 1.12;            /* a chart grows by this much with its place */

double cli_px(double pixels)
{
    return rint(10 * pixels) / 10;
}

double cli_svg_text_width(const char *text, double font)
{
    return CHARACTER * font * cli_text_width(text, strlen(text));
}

double cli_svg_narrow(double width)
{
    return fmax(CLI_FONT, fmin(WIDEST_FONT, NARROW_FONT * width / NARROW));
}

/* ---- ticks ---- */

typedef struct {
    size_t count;
    double at[MOST_TICKS], step;
    const char *label[MOST_TICKS];
    int exponent; /* labels are multiples of 10 to this */
} ticks;

double cli_svg_step(double x)
{
    double power = pow(10, floor(log10(x))), digit = x / power;
    return power * (digit < sqrt(2) ? 1 : digit < sqrt(10) ? 2 : digit < sqrt(50) ? 5 : 10);
}

static void add_tick(ticks *t, double at)
{
    if (t->count < MOST_TICKS)
        t->at[t->count++] = at;
}

static const char *label_of(cli_page *page, const cli_axis *a, const ticks *t, double value)
{
    double unit = a->is_share ? 0.01 : pow(10, t->exponent);
    if (a->at) {
        double large = value >= 1e6 ? 1e6 : value >= 1e4 ? 1e3 : 1;
        return cli_text(page, "%g%s", value / large, large > 1e3 ? "M" : large > 1 ? "k" : "");
    }
    if (t->step == 0)
        return cli_text(page, "%g", value);
    int decimals = (int)fmax(0, -floor(log10(t->step / unit) + SLACK));
    double shown = fabs(value) < t->step / 2 ? 0 : value / unit;
    return cli_text(page, "%s%.*f%s", shown < 0 ? "−" : "", decimals, fabs(shown),
                    a->is_share ? "\u202f%" : "");
}

static void settle(cli_axis *a)
{
    if (!isfinite(a->low) || !isfinite(a->high)) {
        a->low = a->is_log;
        a->high = 1 + a->is_log;
    }
    double middle = (a->low + a->high) / 2, around = middle != 0 ? fabs(middle) / 2 : 0.5;
    if (!(a->high - a->low > SLACK * fmax(fabs(a->low), fabs(a->high)))) {
        a->low = middle - around;
        a->high = middle + around;
    }
}

static ticks ticks_of(cli_page *page, cli_axis *a)
{
    ticks t = {0};
    settle(a);
    for (size_t i = 0; a->at && i < a->count; i++)
        add_tick(&t, a->at[i]);
    /* powers of ten; where they are few, twice and five times these too */
    if (!a->at && a->is_log) {
        double low = log10(a->low), high = log10(a->high);
        int many = high - low >= FEW_DECADES, every = 1 + (int)((high - low) / DECADES);
        for (int power = (int)floor(low); power <= high; power += every)
            for (int digit = 1; digit <= (many ? 1 : 5); digit += digit == 1 ? 1 : 3) {
                double at = digit * pow(10, power);
                if (at >= a->low * (1 - SLACK) && at <= a->high * (1 + SLACK))
                    add_tick(&t, at);
            }
    }
    if (t.count < 2 && !a->at) {
        t.count = 0;
        t.step = cli_svg_step((a->high - a->low) / (double)(a->count ? a->count : TICKS));
        if (a->is_whole)
            t.step = fmax(1, t.step);
        if (a->is_nice) {
            a->low = t.step * floor(a->low / t.step + SLACK);
            a->high = t.step * ceil(a->high / t.step - SLACK);
        }
        for (double k = ceil(a->low / t.step - SLACK); k <= floor(a->high / t.step + SLACK); k++)
            add_tick(&t, k * t.step);
        double largest = fmax(fabs(a->low), fabs(a->high));
        if (!a->is_share && (largest >= LARGE || largest < SMALL))
            t.exponent = (int)floor(log10(largest) + SLACK);
    }
    for (size_t i = 0; i < t.count; i++)
        t.label[i] = a->has_labels ? label_of(page, a, &t, t.at[i]) : "";
    return t;
}

/* ---- titles ---- */

static int has_title(const cli_axis *a, const ticks *t)
{
    return a->title || t->exponent;
}

/* "×10⁻⁵", or "" */
static const char *power_of(cli_page *page, int exponent)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const char *text = exponent ? "×10" : "";
    for (const char *s = exponent ? cli_text(page, "%d", exponent) : ""; *s; s++)
        text = cli_text(page, "%s%s", text, *s == '-' ? "⁻" : digits[*s - '0']);
    return text;
}

/* as much of it as the axis is long, with the power of ten that the labels leave out */
static void put_title(const cli_plot *p, const cli_axis *a, const ticks *t, const char *where)
{
    if (!has_title(a, t))
        return;
    double room = fabs(a->to - a->from) + TICK * 6, font = cli_svg_narrow(p->frame.width);
    size_t most = (size_t)(room / cli_svg_text_width("x", font));
    const char *title = cli_shortened(p->page, a->title ? a->title : "", most);
    int has_both = title[0] && t->exponent;
    cli_html(p->page, "<text class=\"middle\" %s>%s%s%s%s</text>", where,
             cli_escaped(p->page, title), has_both ? " (" : "", power_of(p->page, t->exponent),
             has_both ? ")" : "");
}

/* ---- axes ---- */

double cli_pixel(const cli_axis *a, double value)
{
    double share = a->is_log ? log(value / a->low) / log(a->high / a->low)
                             : (value - a->low) / (a->high - a->low);
    return cli_px(a->from + fmin(1, fmax(0, share)) * (a->to - a->from));
}

void cli_axis_pad(cli_axis *a)
{
    static const double by = 0.03;
    settle(a);
    double length = a->is_log ? log(a->high / a->low) : a->high - a->low;
    a->low = a->is_log ? a->low * exp(-by * length) : a->low - by * length;
    a->high = a->is_log ? a->high * exp(by * length) : a->high + by * length;
}

static void draw_y(const cli_plot *p, const ticks *t)
{
    const cli_axis *a = &p->y;
    for (size_t i = 0; i < t->count && a->has_grid; i++)
        cli_html(p->page, "%s%g %gH%g", i == 0 ? "<path class=\"guides\" d=\"M" : "M", p->x.from,
                 cli_pixel(a, t->at[i]), p->x.to);
    cli_html(p->page, "%s<g class=\"end\">", a->has_grid && t->count ? "\"/>" : "");
    for (size_t i = 0; i < t->count && a->has_labels; i++)
        cli_html(p->page, "<text x=\"%g\" y=\"%g\">%s</text>", cli_px(p->x.from - 2 * TICK),
                 cli_px(cli_pixel(a, t->at[i]) + CLI_MIDDLE * CLI_FONT), t->label[i]);
    cli_html(p->page, "</g>");
    put_title(p, a, t,
              cli_text(p->page, "transform=\"translate(%d %g)rotate(-90)\"", CLI_FONT,
                       cli_px((a->from + a->to) / 2)));
}

/* From the last on: a label that would touch the one after it is left out. */
static void draw_x(const cli_plot *p, const ticks *t)
{
    const cli_axis *a = &p->x;
    double y = p->y.from, next = INFINITY;
    for (size_t i = 0; i < t->count && a->has_grid; i++)
        cli_html(p->page, "%s%g %gV%g", i == 0 ? "<path class=\"guides\" d=\"M" : "M",
                 cli_pixel(a, t->at[i]), p->y.to, y);
    cli_html(p->page, "%s<path class=\"axis\" d=\"M%g %gH%g", a->has_grid && t->count ? "\"/>" : "",
             a->from, y, a->to);
    for (size_t i = 0; i < t->count; i++)
        cli_html(p->page, "M%g %gv%d", cli_pixel(a, t->at[i]), y, TICK);
    cli_html(p->page, "\"/><g class=\"middle\">");
    for (size_t i = t->count; a->has_labels && i-- > 0;) {
        double at = cli_pixel(a, t->at[i]);
        double half = cli_svg_text_width(t->label[i], cli_svg_narrow(p->frame.width)) / 2;
        if (at + half + CLI_FONT / 2 > next)
            continue;
        next = at - half;
        cli_html(p->page, "<text x=\"%g\" y=\"%g\">%s</text>", at, cli_px(y + LABEL), t->label[i]);
    }
    cli_html(p->page, "</g>");
    put_title(p, a, t,
              cli_text(p->page, "x=\"%g\" y=\"%g\"", cli_px((a->from + a->to) / 2),
                       cli_px(y + (a->has_labels ? 2 : 1) * LABEL)));
}

void cli_plot_open(cli_plot *p)
{
    ticks x = ticks_of(p->page, &p->x), y = ticks_of(p->page, &p->y);
    double narrow = cli_svg_narrow(p->frame.width);
    double below = LABEL * (p->x.has_labels + has_title(&p->x, &x)) + TICK;
    double labels = 0;
    for (size_t i = 0; i < y.count && p->y.has_labels; i++)
        labels = fmax(labels, cli_svg_text_width(y.label[i], narrow) + 2 * TICK);
    p->x.from = cli_px(p->left + labels + (has_title(&p->y, &y) ? LABEL + TICK : TICK));
    p->x.to = p->frame.width - SIDE - (p->x.has_labels ? TICK : 0);
    p->y.from = p->frame.height - below;
    p->y.to = SIDE;
    cli_svg_open(p);
    draw_y(p, &y);
    draw_x(p, &x);
}

/* ---- the figure ---- */

void cli_svg_open(const cli_plot *p)
{
    size_t id = ++p->page->charts;
    cli_html(p->page,
             "<figure class=\"chart\" style=\"max-width:%gpx\"><svg class=\"plot\" "
             "viewBox=\"0 0 %g %g\" role=\"img\" aria-labelledby=\"t%zu d%zu\" "
             "style=\"--font:%gpx;--narrow:%gpx\"><title id=\"t%zu\">%s</title>"
             "<desc id=\"d%zu\">%s</desc>\n",
             rint(STRETCH * p->frame.width), p->frame.width, p->frame.height, id, id,
             cli_px(p->font > 0 ? p->font : CLI_FONT),
             cli_px(p->narrow > 0 ? p->narrow : cli_svg_narrow(p->frame.width)), id,
             cli_escaped(p->page, p->frame.title), id, cli_escaped(p->page, p->frame.text));
}

void cli_plot_close(const cli_plot *p)
{
    cli_html(p->page, "</svg>");
    if (p->frame.caption)
        cli_html(p->page, "<figcaption>%s</figcaption>", cli_escaped(p->page, p->frame.caption));
    cli_html(p->page, "</figure>\n");
}

/* ---- marks ---- */

void cli_mark_bar(const cli_plot *p, double x0, double y0, double x1, double y1, const char *title)
{
    double left = cli_pixel(&p->x, x0), top = cli_pixel(&p->y, y1), foot = cli_pixel(&p->y, y0);
    static const double GAP = 0.5, WIDE = 3, THINNEST = 0.3; /* pixels; a gap after wide bars */
    double width = cli_pixel(&p->x, x1) - left, gap = width > WIDE ? GAP : 0;
    cli_html(p->page, "<path d=\"M%g %gV%gh%gV%gz\"><title>%s</title></path>\n", left, foot, top,
             cli_px(fmax(THINNEST, width - gap)), foot, cli_escaped(p->page, title));
}

void cli_mark_dot(const cli_plot *p, double x, double y, const char *title)
{
    cli_html(p->page, "<path d=\"M%g %gh0\"><title>%s</title></path>\n", cli_pixel(&p->x, x),
             cli_pixel(&p->y, y), cli_escaped(p->page, title));
}

void cli_mark_rule(const cli_plot *p, double x0, double y0, double x1, double y1, const char *title)
{
    cli_html(p->page, "<path d=\"M%g %gL%g %g\"><title>%s</title></path>\n", cli_pixel(&p->x, x0),
             cli_pixel(&p->y, y0), cli_pixel(&p->x, x1), cli_pixel(&p->y, y1),
             cli_escaped(p->page, title));
}

void cli_mark_line(const cli_plot *p, const char *class, size_t count, const double *x,
                   const double *y, const double *under, const char *title)
{
    size_t drawn = 0;
    const char *command = "M";
    cli_html(p->page, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < count; i++) {
        int seen = isfinite(x[i]) && isfinite(y[i]);
        if (seen)
            cli_html(p->page, "%s%g %g", command, cli_pixel(&p->x, x[i]), cli_pixel(&p->y, y[i]));
        command = seen ? "L" : under ? command : "M";
        drawn += (size_t)seen;
    }
    for (size_t i = count; under && drawn && i-- > 0;)
        if (isfinite(x[i]) && isfinite(under[i]))
            cli_html(p->page, "L%g %g", cli_pixel(&p->x, x[i]), cli_pixel(&p->y, under[i]));
    cli_html(p->page, "%s\"><title>%s</title></path>\n", under && drawn ? "z" : "",
             cli_escaped(p->page, title));
}
