/* SPDX-License-Identifier: Apache-2.0 */
/* The information of (b1, s1, b2, s2, rho) in one censored pair is a sum over four cells of
 * E[score score'; cell]. With o^2 = 1 - rho^2, u = (z1 - rho z2) / o, v = (z2 - rho z1) / o:
 *
 * both positive   scores u / o, z1 u / o - 1, v / o, z2 v / o - 1, (u v + rho) / o^2: polynomials,
 *                 their products are moments M_pq = E[z1^p z2^q; z1 > -g1, z2 > -g2],
 *                 M_{p+1,q} = p M_{p-1,q} + rho q M_{p,q-1} + (-g1)^p C_q + rho (-g2)^q B_p
 *                 (Stein's lemma with its boundary terms), C_q = phi(g1) E[z2^q; z2 > -g2 | z1 =
 *                 -g1], B_p likewise with 1 and 2 exchanged.
 * one positive    density phi(z1) Phi(-t), t = (g2 + rho z1) / o; with H = h(t) the scores are
 *                 z1 + rho H / o, z1^2 - 1 + rho z1 H / o, -H / o, g2 H / o, -H (z1 + rho g2) /
 *                 o^3: Gauss-Legendre over z1 in panels no wider than o / |rho| where t passes 0.
 * both zero       probability P = Phi2(-g1, -g2; rho): grad P grad P' / P, closed form.
 *
 * Error below 1e-9 for |rho| <= 0.99, relative to the diagonal; 20 to 50 us. */
#include "law/information.h"

#include "dense/linear.h"
#include "law/bivariate.h"
#include "law/gauss8.h"
#include "law/margin.h"
#include "law/normal.h"

#include <float.h>
#include <math.h>

enum { N = UR_PAIR_PARAMETERS, TERMS = 6, ORDER = 5 };

#define INV_2PI 0.15915494309189533577

static const double FAR = 9; /* phi(9) = 1e-18 */
/* of a panel: 8 nodes leave 1e-13 of phi's fourth moment; and in widths o / |rho| of the step */
static const double WIDEST = 0.75;
/* share of a panel's distance from the step that it may be wide */
static const double GROWTH = 0.5;
/* a corner as rare as ten times the error of Phi2 tells nothing */
static const double NEVER = 450 * DBL_EPSILON;
/* Phi(-8) = 6e-16: as if nothing were censored; phi(38) = 1e-314 */
static const double GAMMA_MOST = 8, GAMMA_LEAST = -38;

static double clamp(double gamma)
{
    return isnan(gamma) ? NAN : fmax(GAMMA_LEAST, fmin(GAMMA_MOST, gamma));
}

void ur_information_margin(double gamma, double V[3])
{
    double g = clamp(gamma), phi = ur_normal_pdf(g), Phi = ur_normal_cdf(g);
    double w = phi * (ur_normal_hazard(g) - g);
    double bb = Phi + w, bs = phi - g * w, ss = 2 * Phi - g * phi + g * g * w;
    double det = bb * ss - bs * bs;
    if (!(det > UR_MARGIN_SINGULAR * bb * ss))
        det = NAN;
    V[0] = ss / det;
    V[1] = -bs / det;
    V[2] = bb / det;
}

typedef struct {
    double g1, g2, rho, o2, o;
    double C0, B0;  /* dP(both positive) / dg1, dg2 */
    double density; /* of (z1, z2) at (-g1, -g2) */
} pair;

static pair pair_at(double g1, double g2, double rho)
{
    pair p = {.g1 = g1, .g2 = g2, .rho = rho, .o2 = (1 - rho) * (1 + rho)};
    p.o = sqrt(p.o2);
    double to2 = (g2 - rho * g1) / p.o, to1 = (g1 - rho * g2) / p.o;
    p.C0 = ur_normal_pdf(g1) * ur_normal_cdf(to2);
    p.B0 = ur_normal_pdf(g2) * ur_normal_cdf(to1);
    p.density = INV_2PI * exp(-0.5 * (g1 * g1 + to2 * to2)) / p.o;
    return p;
}

static void add_outer(double information[N][N], const double score[N], double weight)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            information[i][j] += weight * score[i] * score[j];
}

/* ---- both positive ------------------------------------------------------------------- */

/* C[q] = density of z1 at -g1 times E[z2^q; z2 > -g2 | z1 = -g1] */
static void edge_moments(double g1, double g2, double rho, double o2, double C0, double density,
                         double C[ORDER])
{
    double mean = -rho * g1, end = o2 * density, power = 1;
    C[0] = C0;
    for (int q = 1; q < ORDER; q++) {
        C[q] = mean * C[q - 1] + end * power + (q > 1 ? (q - 1) * o2 * C[q - 2] : 0);
        power *= -g2;
    }
}

/* scores as polynomials in 1, z1, z2, z1^2, z1 z2, z2^2 */
static const int power_of[TERMS][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};

static void add_quadrant(const pair *p, double information[N][N])
{
    double C[ORDER], B[ORDER], M[ORDER][ORDER], power2 = 1;
    edge_moments(p->g1, p->g2, p->rho, p->o2, p->C0, p->density, C);
    edge_moments(p->g2, p->g1, p->rho, p->o2, p->B0, p->density, B);
    M[0][0] = ur_bivariate_normal(p->g1, p->g2, p->rho);
    for (int q = 0; q + 1 < ORDER; q++) { /* the first row: p and q exchanged */
        M[0][q + 1] = (q > 0 ? q * M[0][q - 1] : 0) + power2 * B[0] + p->rho * C[q];
        power2 *= -p->g2;
    }
    power2 = 1;
    for (int q = 0; q < ORDER; q++) {
        double power1 = 1;
        for (int k = 0; k + q + 1 < ORDER; k++) {
            double x = power1 * C[q] + p->rho * power2 * B[k];
            x += k > 0 ? k * M[k - 1][q] : 0;
            x += q > 0 ? p->rho * q * M[k][q - 1] : 0;
            M[k + 1][q] = x;
            power1 *= -p->g1;
        }
        power2 *= -p->g2;
    }
    double i2 = 1 / p->o2, i4 = i2 * i2, r = p->rho;
    const double a[N][TERMS] = {
        [UR_B1] = {0, i2, -r * i2, 0, 0, 0},
        [UR_S1] = {-1, 0, 0, i2, -r * i2, 0},
        [UR_B2] = {0, -r * i2, i2, 0, 0, 0},
        [UR_S2] = {-1, 0, 0, 0, -r * i2, i2},
        [UR_RHO] = {r * i2, 0, 0, -r * i4, (1 + r * r) * i4, -r * i4},
    };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int s = 0; s < TERMS; s++)
                for (int t = 0; t < TERMS; t++)
                    information[i][j] +=
                        a[i][s] * a[j][t] *
                        M[power_of[s][0] + power_of[t][0]][power_of[s][1] + power_of[t][1]];
}

/* ---- one positive -------------------------------------------------------------------- */

/* order: where the scores of the positive coordinate and of the other go */
static void add_at(const pair *p, double z, double weight, const int order[N],
                   double information[N][N])
{
    double t = (p->g2 + p->rho * z) / p->o, H = ur_normal_hazard(t), r = p->rho;
    double score[N];
    score[order[UR_B1]] = z + r * H / p->o;
    score[order[UR_S1]] = z * z - 1 + r * z * H / p->o;
    score[order[UR_B2]] = -H / p->o;
    score[order[UR_S2]] = p->g2 * H / p->o;
    score[order[UR_RHO]] = -H * (z + r * p->g2) / (p->o2 * p->o);
    add_outer(information, score, weight * ur_normal_pdf(z) * ur_normal_cdf(-t));
}

static void add_edge(const pair *p, const int order[N], double information[N][N])
{
    double width = WIDEST * p->o / fabs(p->rho), centre = -p->g2 / p->rho; /* infinite: no step */
    double z = fmax(-FAR, -p->g1), end = fmax(FAR, z + FAR);
    while (z < end) {
        double h = fmin(WIDEST, fmax(width, GROWTH * fabs(z - centre)));
        for (int i = 0; i < 4; i++) {
            add_at(p, z + 0.5 * h * (1 - ur_node8[i]), 0.5 * h * ur_weight8[i], order, information);
            add_at(p, z + 0.5 * h * (1 + ur_node8[i]), 0.5 * h * ur_weight8[i], order, information);
        }
        z += h;
    }
}

void ur_information_pair(double gamma1, double gamma2, double rho, double information[N][N])
{
    static const int straight[N] = {UR_B1, UR_S1, UR_B2, UR_S2, UR_RHO};
    static const int exchanged[N] = {UR_B2, UR_S2, UR_B1, UR_S1, UR_RHO};
    double g1 = clamp(gamma1), g2 = clamp(gamma2);
    int known = fabs(rho) <= UR_INFORMATION_RHO && !isnan(g1) && !isnan(g2);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            information[i][j] = known ? 0 : NAN;
    if (!known)
        return;
    pair p = pair_at(g1, g2, rho), q = pair_at(g2, g1, rho);
    add_quadrant(&p, information);
    add_edge(&p, straight, information);
    add_edge(&q, exchanged, information);
    double P = ur_bivariate_normal(-g1, -g2, rho); /* both zero */
    double slope1 = ur_normal_pdf(g1) * ur_normal_cdf(-(g2 - rho * g1) / p.o);
    double slope2 = ur_normal_pdf(g2) * ur_normal_cdf(-(g1 - rho * g2) / p.o);
    const double gradient[N] = {-slope1, g1 * slope1, -slope2, g2 * slope2, p.density};
    if (P > NEVER)
        add_outer(information, gradient, 1 / P);
}

/* ---- bounds -------------------------------------------------------------------------- */

static double quadratic(const double L[N * N], const double unit[N], const double gradient[N])
{
    double x[N], sum = 0;
    for (int i = 0; i < N; i++)
        x[i] = gradient[i] / unit[i];
    ur_solve_lower(N, L, x);
    for (int i = 0; i < N; i++)
        sum += x[i] * x[i];
    return sum;
}

void ur_information_bounds(double gamma1, double gamma2, double rho, double *rho_variance,
                           double *product_variance)
{
    const double of_rho[N] = {[UR_RHO] = 1};
    const double of_product[N] = {[UR_S1] = rho, [UR_S2] = rho, [UR_RHO] = 1};
    double information[N][N], L[N * N], unit[N];
    *rho_variance = *product_variance = NAN;
    ur_information_pair(gamma1, gamma2, rho, information);
    for (int i = 0; i < N; i++) {
        unit[i] = sqrt(information[i][i]);
        if (!(unit[i] > 0))
            return;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            L[i * N + j] = information[i][j] / (unit[i] * unit[j]);
    if (!ur_cholesky_in_place(N, L))
        return;
    for (int i = 0; i < N; i++)
        if (L[i * N + i] * L[i * N + i] < UR_MARGIN_SINGULAR)
            return;
    *rho_variance = quadratic(L, unit, of_rho);
    *product_variance = quadratic(L, unit, of_product);
}
