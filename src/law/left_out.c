/* SPDX-License-Identifier: Apache-2.0 */
/* Without the row the sum of the scores is -g, and the information H - h: a Newton step goes by
 * -(H - h)^-1 g. */
#include "law/left_out.h"

/* Of the determinant of the information, what is left without the row: where it is less the row
 * alone carries the margin (one of three values that were seen), a step away from it means nothing,
 * and the plain H^-1 g is taken. */
static const double LEAST_LEFT = 0.05;

void ur_left_out_information(const double V[3], double s, double H[3])
{
    double det = (V[0] * V[2] - V[1] * V[1]) / (s * s);
    H[0] = V[2] / det; /* de = db / s, dt = -ds / s */
    H[1] = V[1] / det;
    H[2] = V[0] / det;
}

void ur_left_out_move(const double H[3], const ur_margin_row *row, double move[2])
{
    const double *g = row->g, *h = row->h;
    double ee = H[0] - h[0], et = H[1] - h[1], tt = H[2] - h[2], left = ee * tt - et * et;
    double whole = H[0] * H[2] - H[1] * H[1];
    if (!(ee > 0 && left > LEAST_LEFT * whole)) {
        ee = H[0];
        et = H[1];
        tt = H[2];
        left = whole;
    }
    move[0] = (tt * g[0] - et * g[1]) / left;
    move[1] = -(ee * g[1] - et * g[0]) / left;
}
