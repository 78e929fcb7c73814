/* SPDX-License-Identifier: Apache-2.0 */
/* Charts as SVG inside of a page. A plot is a rectangle with two axes; marks are placed in the
 * units of the data, and each says what it is in a <title>, which browsers show where one points
 * at it. What lies beyond an axis is drawn at its end. How things look is up to page.css:
 *   <g class="bars | dots | squares | rules">  marks of one kind
 *   <path class="line | dash | area">
 *   first, second, third, soft                 colours, beside one of these
 * A chart (chart.h) fills in a plot, opens it, adds marks, closes it. */
#ifndef CLI_REPORT_SVG_H
#define CLI_REPORT_SVG_H

#include "page.h"

enum { CLI_FONT = 12 }; /* pixels of text, where the chart is as wide as it was drawn for */
#define CLI_MIDDLE 0.35 /* of the font: from the middle of a line of text down to its foot */

typedef struct {
    const char *title, *text; /* what a screen reader says of all of it; escaped */
    const char *caption;      /* what is seen below it; escaped; NULL: nothing */
    double width, height;
} cli_frame;

typedef struct {
    double low, high;  /* of the data; moved apart where they are equal */
    const char *title; /* escaped; NULL: none */
    int is_log;        /* both ends are above 0 */
    int is_nice;       /* goes on to the next tick on both sides */
    int is_share;      /* 0.5 is "50 %" */
    int is_whole;      /* no ticks between whole numbers */
    int has_grid, has_labels;
    const double *at; /* where the ticks are, or NULL: it is found out */
    size_t count;     /* of ticks: exactly of at, else about (0: 5) */
    double from, to;  /* pixels at low and high, by cli_plot_open */
} cli_axis;

typedef struct {
    cli_page *page;
    cli_frame frame;
    double left;         /* room for what the chart itself writes left of the plot */
    double font, narrow; /* pixels of text, and in narrow windows; 0: as usual */
    cli_axis x, y;
} cli_plot;

/* a little further at both ends, so that no mark lies on the frame */
void cli_axis_pad(cli_axis *axis);
/* The figure and its axes; <title> and <desc> are inside. */
void cli_plot_open(cli_plot *plot);
void cli_plot_close(const cli_plot *plot);

/* of a value, never beyond the axis, to a tenth */
double cli_pixel(const cli_axis *axis, double value);

/* ---- marks, each with a title, which is escaped ---- */
void cli_mark_bar(const cli_plot *plot, double x0, double y0, double x1, double y1,
                  const char *title);
void cli_mark_dot(const cli_plot *plot, double x, double y, const char *title);
void cli_mark_rule(const cli_plot *plot, double x0, double y0, double x1, double y1,
                   const char *title);
/* Through count points; those that are not finite leave gaps. With under (NULL: none) it is the
 * area between y and that. */
void cli_mark_line(const cli_plot *plot, const char *class, size_t count, const double *x,
                   const double *y, const double *under, const char *title);

/* ---- what a chart without axes needs ---- */
void cli_svg_open(const cli_plot *plot); /* axes are not looked at */
/* a pixel to a tenth, which %g prints as short as can be */
double cli_px(double pixels);
/* 1, 2 or 5 times a power of ten: the nearest of these, by ratio */
double cli_svg_step(double x);
/* about as wide as text is in pixels of the font */
double cli_svg_text_width(const char *text, double font);
/* what text gets in a narrow window, where a chart of this width is drawn smaller */
double cli_svg_narrow(double width);

#endif
