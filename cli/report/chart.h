/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of charts. Each is described by a struct and drawn into a page; text that
 * comes from files is escaped on the way. */
#ifndef CLI_REPORT_CHART_H
#define CLI_REPORT_CHART_H

#include <stddef.h>

#include "svg.h"

/* ---- names ---- */
/* of columns, units, ...: names[which[i]], or letter and number where there are no names */
typedef struct {
    const char *const *names;
    const char *letter;  /* "x" */
    const size_t *which; /* NULL: all */
} cli_names;
/* cut at 60 characters; lives as long as the page */
const char *cli_name_of(cli_page *page, const cli_names *names, size_t i);
/* the largest |value| of those that are finite, or 0 */
double cli_largest(const double *values, size_t count);

/* ---- two columns against each other, and a normal of both ---- */
enum { CLI_SEEN, CLI_BELOW, CLI_UNKNOWN, CLI_ABOVE, CLI_BETWEEN }; /* as pair_states */
typedef struct {
    cli_frame frame;
    const char *title[2]; /* of the axes */
    double mean[2], sd[2], rho, cut[2];
    size_t rows;
    const double *cells;         /* rows x 2; NaN: left out */
    const unsigned char *states; /* rows x 2 */
} cli_pair_chart;
void cli_chart_pair(cli_page *page, const cli_pair_chart *pair);

/* ---- bars of bins, and a normal curve ---- */
typedef struct {
    cli_frame frame;
    const char *x_title, *y_title;
    double low, high; /* the shown part of the axis */
    size_t bins;
    const double *edges, *heights; /* bins + 1; bins */
    const double *counts;          /* for the titles of bars */
    const double *expected;        /* by the curve, for these titles too; NULL: not told */
    struct {
        double mean, sd, area, limit;
    } curve; /* area times the density of N(mean, sd^2), dashed below the limit; sd 0: none */
} cli_histogram;
void cli_chart_histogram(cli_page *page, const cli_histogram *histogram);

/* ---- a distribution function in steps, and a normal one ---- */
typedef struct {
    cli_frame frame;
    const char *x_title;
    double low, high;     /* the shown part of the axis */
    size_t count;         /* at least 10 */
    const double *values; /* count: quantiles at the shares (i + 1/2) / count; NaN: not known */
    struct {
        double mean, sd, limit;
    } curve; /* dashed below the limit; sd 0: none */
} cli_steps;
void cli_chart_steps(cli_page *page, const cli_steps *steps);

/* ---- one number against another, both of the same kind ---- */
typedef struct {
    cli_frame frame;
    const char *x_title, *y_title;
    const char *x_word, *y_word; /* "model", "samples" in titles of points */
    size_t count;
    const double *x, *y;      /* finite */
    const double *low, *high; /* a band around the line y = x, increasing in x; NULL: none */
    double size;              /* of a point, pixels */
    const char **labels;      /* of the points: "5 %", "lead" */
} cli_points;
void cli_chart_points(cli_page *page, const cli_points *points);

/* ---- a number for each of neurons 1, 2, ... ---- */
typedef struct {
    cli_frame frame;
    const char *y_title, *one, *colour; /* one: "neuron" */
    size_t count;
    const double *values;
    int is_share;
} cli_bars;
void cli_chart_bars(cli_page *page, const cli_bars *bars);

/* ---- numbers with intervals ---- */
typedef struct {
    cli_frame frame; /* of rows its height is not looked at */
    const char *axis_title;
    const char *one; /* "eigenvalue": 1, 2, ... along x; NULL: one below the other */
    size_t count;
    const double *values;
    const double *from, *to;       /* ends of intervals, where from < to; NULL: none */
    double low, high;              /* of the axis */
    const char **labels, **beside; /* of rows: in titles, and shorter beside them */
    const char *level_title;       /* of a dashed line along x at this level; NULL: none */
    double level;
} cli_estimates;
void cli_chart_estimates(cli_page *page, const cli_estimates *estimates);

/* ---- a matrix as colours between -largest and largest ---- */
typedef struct {
    cli_frame frame; /* its width: at most; to the caption is added what one may point at */
    size_t rows, columns;
    const double *values, *se; /* rows x columns; what is NaN is left grey. se: NULL: none */
    cli_names row_names, column_names;
    double largest;
    int is_symmetric;                     /* a pair of cells is one mark */
    const char *label;                    /* what a value is */
    const char *row_title, *column_title; /* NULL: none */
} cli_heatmap;
void cli_chart_heatmap(cli_page *page, const cli_heatmap *map);

#endif
