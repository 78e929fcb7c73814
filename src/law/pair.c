/* SPDX-License-Identifier: Apache-2.0 */
/* The six pair statistics (`h6`). With T the six sample means, E(rho) their model values at the
 * fitted margins and D = dE/drho, rho solves w'(T - E(rho)) = 0 with w = C^-1 D, where C is the
 * covariance of T - E(rho) with the margins' errors in it. The margins are censored maximum
 * likelihood, so T - E has the influence function T - E - A sigma,   sigma = the scores of (b1, s1,
 * b2, s2),   A = (dE/d margins) V, and everything is in closed form over K_pq = E[v1^p v2^q; both >
 * 0]: D by Price's theorem, dE/d margins and Cov(T, sigma) by Stein's lemma (E[f z1] = E[d1 f] +
 * rho E[d2 f]), boundary terms at v = -anchor included. Var(rho) = 1 / (n D'C^-1 D). On the
 * Cramer-Rao bound for |rho| <= 0.5, above 0.86 of it everywhere save where a pair is hardly ever
 * positive together.
 *
 * Notation: d1 = below of 1 = min(g1, 0), a1 = its anchor; B_p = phi(g2) E[v1^p; v1 > -a1 | z2 =
 * -g2], C_q likewise with 1 and 2 exchanged; o2 = 1 - rho^2; density = bivariate density at
 * (g1, g2); edge = o2 * density. */
#include "law/pair.h"

#include "law/normal.h"

#include <float.h>
#include <math.h>

#define INV_SQRT_2PI 0.39894228040143267794

/* Phi(-8) = 6e-16: no zeros expected; one positive in 1e32 rows */
static const double GAMMA_MOST = 8, GAMMA_LEAST = -12;
enum { STEPS = 12, ORTHANT_STEPS = 100 }; /* of Newton: 3 to 5; with bisection at most */
/* relative to 1 - rho^2. A first step above REWEIGHT calls for new weights, which move the standard
 * error by about as much; convergence is quadratic, so that START_STEP leaves the start right to
 * 1e-6, and LAST_STEP rho to 1e-12 */
static const double REWEIGHT = 1e-3, START_STEP = 1e-3, LAST_STEP = 1e-6;
/* share of the way to +-1 over which the model is moved, rather than started anew, and over which
 * a step of rho may go */
static const double MOVE = 0.25, HALF_WAY = 0.5;
/* of the variance of a statistic: 100 times the rounding of C, and a pivot that is rounding */
static const double RIDGE = 1e-13, PIVOT = 45 * DBL_EPSILON;
/* of the angle asin(rho): of a step relative to its cosine, of the bracket, and how near to the
 * limit it was stopped there */
static const double ANGLE_STEP = 1e-10, ANGLE_BRACKET = 1e-12, ANGLE_AT_LIMIT = 1e-9;

enum { GG, V1, V2, VV, V1V1, V2V2 }; /* order of the six */

void ur_pair_margin_set(double gamma, ur_pair_margin *out)
{
    double g = fmax(GAMMA_LEAST, fmin(GAMMA_MOST, gamma));
    double phi = ur_normal_pdf(g), Phi = ur_normal_cdf(g), h = ur_normal_hazard(g);
    double w = phi * (h - g); /* information as in margin.c */
    double bb = Phi + w, bs = phi - g * w, ss = 2 * Phi - g * phi + g * g * w;
    double det = bb * ss - bs * bs;
    *out = (ur_pair_margin){.gamma = g,
                            .anchor = fmax(g, 0),
                            .below = fmin(g, 0),
                            .phi = phi,
                            .Phi = Phi,
                            .hazard = h,
                            .below_phi = g < 0 ? phi : INV_SQRT_2PI,
                            .below_Phi = g < 0 ? Phi : 0.5,
                            .V = {ss / det, -bs / det, bb / det}};
}

/* the model at one rho, to first order */
typedef struct {
    double rho, o2, L, density, edge, B[4], C[4];
    double E[6], D[6];
} model;

static void set_model(const ur_pair_margin *m1, const ur_pair_margin *m2, double rho, double L,
                      model *at)
{
    double o2 = (1 - rho) * (1 + rho), o = sqrt(o2);
    double to2 = (m2->gamma - rho * m1->gamma) / o, to1 = (m1->gamma - rho * m2->gamma) / o;
    double density = INV_SQRT_2PI * m1->phi * exp(-0.5 * to2 * to2) / o, edge = o2 * density;
    double a1 = m1->anchor, a2 = m2->anchor, d1 = m1->below, d2 = m2->below;
    double mean1 = d1 - rho * m2->gamma, mean2 = d2 - rho * m1->gamma;
    double B0 = m2->phi * ur_normal_cdf(to1), B1 = mean1 * B0 + edge;
    double C0 = m1->phi * ur_normal_cdf(to2), C1 = mean2 * C0 + edge;
    double E1 = d1 * L + C0 + rho * B0, E2 = d2 * L + B0 + rho * C0;
    at->rho = rho;
    at->o2 = o2;
    at->L = L;
    at->density = density;
    at->edge = edge;
    at->B[0] = B0;
    at->B[1] = B1;
    at->C[0] = C0;
    at->C[1] = C1;
    at->E[GG] = L;
    at->E[V1] = E1;
    at->E[V2] = E2;
    at->E[VV] = d1 * E2 + rho * L + C1 - rho * a2 * B0;
    at->E[V1V1] = d1 * E1 + L - a1 * C0 + rho * B1;
    at->E[V2V2] = d2 * E2 + L - a2 * B0 + rho * C1;
    at->D[GG] = density;
    at->D[V1] = B0 - a1 * density;
    at->D[V2] = C0 - a2 * density;
    at->D[VV] = L - a1 * C0 - a2 * B0 + a1 * a2 * density;
    at->D[V1V1] = 2 * B1 + a1 * a1 * density;
    at->D[V2V2] = 2 * C1 + a2 * a2 * density;
}

static void start_model(const ur_pair_margin *m1, const ur_pair_margin *m2, double rho, model *at)
{
    double L = ur_bivariate_at(m1->gamma, m2->gamma, m1->Phi, m2->Phi, rho);
    set_model(m1, m2, rho, fmax(0, L), at);
}

static void move_model(const ur_pair_margin *m1, const ur_pair_margin *m2, double rho, model *at)
{
    double room = MOVE * (1 - fmax(fabs(rho), fabs(at->rho)));
    if (fabs(rho - at->rho) > room) {
        start_model(m1, m2, rho, at);
        return;
    }
    double L = at->L + ur_bivariate_move(m1->gamma, m2->gamma, at->rho, rho);
    set_model(m1, m2, rho, fmax(0, L), at);
}

void ur_pair_expect(const ur_pair_margin *m1, const ur_pair_margin *m2, double rho,
                    double expect[6])
{
    model at;
    start_model(m1, m2, rho, &at);
    for (int k = 0; k < 6; k++)
        expect[k] = at.E[k];
}

/* rows of the influence function: dE/d(b1, s1, b2, s2), their products with V, and covariances
 * with the scores */
typedef struct {
    double A[4][6];     /* (dE / d margins) V, by score */
    double P[4][6];     /* Cov(T, score) */
    double S[4][4];     /* Cov(scores) */
    double C[6][6];     /* covariance of T - E */
    double product[15]; /* K of order 0 to 4 in the order of enum below */
} covariance;

enum { K00, K10, K01, K20, K11, K02, K30, K21, K12, K03, K40, K31, K22, K13, K04 };
static const unsigned char product_of[6][6] = {
    {K00, K10, K01, K11, K20, K02}, {K10, K20, K11, K21, K30, K12}, {K01, K11, K02, K12, K21, K03},
    {K11, K21, K12, K22, K31, K13}, {K20, K30, K21, K31, K40, K22}, {K02, K12, K03, K13, K22, K04},
};

static void set_products(const ur_pair_margin *m1, const ur_pair_margin *m2, model *at, double *K)
{
    double rho = at->rho, o2 = at->o2, edge = at->edge;
    double a1 = m1->anchor, a2 = m2->anchor, d1 = m1->below, d2 = m2->below;
    double mean1 = d1 - rho * m2->gamma, mean2 = d2 - rho * m1->gamma;
    double *B = at->B, *C = at->C;
    B[2] = mean1 * B[1] + o2 * B[0] - a1 * edge;
    B[3] = mean1 * B[2] + 2 * o2 * B[1] + a1 * a1 * edge;
    C[2] = mean2 * C[1] + o2 * C[0] - a2 * edge;
    C[3] = mean2 * C[2] + 2 * o2 * C[1] + a2 * a2 * edge;
    K[K00] = at->E[GG];
    K[K10] = at->E[V1];
    K[K01] = at->E[V2];
    K[K20] = at->E[V1V1];
    K[K11] = at->E[VV];
    K[K02] = at->E[V2V2];
    /* K_{p+1,q} = d1 K_pq + p K_{p-1,q} + rho q K_{p,q-1} + (-a1)^p C_q + rho (-a2)^q B_p */
    K[K30] = d1 * K[K20] + 2 * K[K10] + a1 * a1 * C[0] + rho * B[2];
    K[K21] = d1 * K[K11] + K[K01] + rho * K[K10] - a1 * C[1] - rho * a2 * B[1];
    K[K12] = d2 * K[K11] + K[K10] + rho * K[K01] - a2 * B[1] - rho * a1 * C[1];
    K[K03] = d2 * K[K02] + 2 * K[K01] + a2 * a2 * B[0] + rho * C[2];
    K[K40] = d1 * K[K30] + 3 * K[K20] - a1 * a1 * a1 * C[0] + rho * B[3];
    K[K31] = d1 * K[K21] + 2 * K[K11] + rho * K[K20] + a1 * a1 * C[1] - rho * a2 * B[2];
    K[K22] = d1 * K[K12] + K[K02] + 2 * rho * K[K11] - a1 * C[2] + rho * a2 * a2 * B[1];
    K[K13] = d2 * K[K12] + 2 * K[K11] + rho * K[K02] + a2 * a2 * B[1] - rho * a1 * C[2];
    K[K04] = d2 * K[K03] + 3 * K[K02] - a2 * a2 * a2 * B[0] + rho * C[3];
}

/* E[d1 f], E[z1 d1 f] and E[z2 d1 f] for the six f = v1^p v2^q 1(both > 0): d1 f = p v1^(p-1)
 * v2^q inside, and (-a1)^p v2^q at the edge z1 = -g1. Exchanged arguments give d2. */
static void set_slopes(double a, double d, double g, double d_other, const double C[4], double L,
                       double own1, double other1, double both, double own2, double other2,
                       const int order[6], double slope[6], double slope_own[6],
                       double slope_other[6])
{
    double z0 = C[1] - d_other * C[0]; /* phi(g1) E[z2; .. | z1 = -g1] */
    double z1 = C[2] - d_other * C[1], z2 = C[3] - d_other * C[2];
    const int *k = order;
    slope[k[GG]] = C[0];
    slope[k[V1]] = L - a * C[0];
    slope[k[V2]] = C[1];
    slope[k[VV]] = other1 - a * C[1];
    slope[k[V1V1]] = 2 * own1 + a * a * C[0];
    slope[k[V2V2]] = C[2];
    slope_own[k[GG]] = -g * C[0];
    slope_own[k[V1]] = own1 - d * L + a * g * C[0];
    slope_own[k[V2]] = -g * C[1];
    slope_own[k[VV]] = both - d * other1 + a * g * C[1];
    slope_own[k[V1V1]] = 2 * (own2 - d * own1) - a * a * g * C[0];
    slope_own[k[V2V2]] = -g * C[2];
    slope_other[k[GG]] = z0;
    slope_other[k[V1]] = other1 - d_other * L - a * z0;
    slope_other[k[V2]] = z1;
    slope_other[k[VV]] = other2 - d_other * other1 - a * z1;
    slope_other[k[V1V1]] = 2 * (both - d_other * own1) + a * a * z0;
    slope_other[k[V2V2]] = z2;
}

/* all of c but C */
static void set_scores(const ur_pair_margin *m1, const ur_pair_margin *m2, model *at, covariance *c)
{
    static const int straight[6] = {GG, V1, V2, VV, V1V1, V2V2};
    static const int exchanged[6] = {GG, V2, V1, VV, V2V2, V1V1};
    double rho = at->rho, *K = c->product;
    set_products(m1, m2, at, K);
    double b1[6], s1[6], cross1[6], b2[6], s2[6], cross2[6];
    set_slopes(m1->anchor, m1->below, m1->gamma, m2->below, at->C, K[K00], K[K10], K[K01], K[K11],
               K[K20], K[K02], straight, b1, s1, cross1);
    set_slopes(m2->anchor, m2->below, m2->gamma, m1->below, at->B, K[K00], K[K01], K[K10], K[K11],
               K[K02], K[K20], exchanged, b2, s2, cross2);
    for (int k = 0; k < 6; k++) {
        c->A[0][k] = b1[k] * m1->V[0] + s1[k] * m1->V[1];
        c->A[1][k] = b1[k] * m1->V[1] + s1[k] * m1->V[2];
        c->A[2][k] = b2[k] * m2->V[0] + s2[k] * m2->V[1];
        c->A[3][k] = b2[k] * m2->V[1] + s2[k] * m2->V[2];
        c->P[0][k] = b1[k] + rho * b2[k];
        c->P[1][k] = s1[k] + rho * cross2[k]; /* z1^2 - 1 = the positive part's score of s */
        c->P[2][k] = b2[k] + rho * b1[k];
        c->P[3][k] = s2[k] + rho * cross1[k];
    }
    /* Off the positive side the scores are -h and g h: Cov(score1, score2) from their products
     * q1 q2 on the positive quadrant, q = (z, z^2 - 1) plus the constants (h, -g h) */
    double d1 = m1->below, d2 = m2->below, L = K[K00];
    double c1[2] = {m1->hazard, -m1->gamma * m1->hazard};
    double c2[2] = {m2->hazard, -m2->gamma * m2->hazard};
    double q1[2] = {c->P[0][GG], c->P[1][GG]}, q2[2] = {c->P[2][GG], c->P[3][GG]};
    double qq[2][2];
    qq[0][0] = c->P[0][V2] - d2 * q1[0];
    qq[0][1] = c->P[3][V1] - d1 * q2[1];
    qq[1][0] = c->P[1][V2] - d2 * q1[1];
    qq[1][1] = c->P[1][V2V2] - 2 * d2 * c->P[1][V2] + (d2 * d2 - 1) * q1[1];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double x = qq[i][j] + c2[j] * q1[i] + c1[i] * q2[j] + c1[i] * c2[j] * (L - 1);
            c->S[i][2 + j] = c->S[2 + j][i] = x;
        }
    const ur_pair_margin *m[2] = {m1, m2};
    for (int i = 0; i < 2; i++) { /* the information: the inverse of V */
        const double *V = m[i]->V;
        double det = V[0] * V[2] - V[1] * V[1];
        c->S[2 * i][2 * i] = V[2] / det;
        c->S[2 * i + 1][2 * i + 1] = V[0] / det;
        c->S[2 * i][2 * i + 1] = c->S[2 * i + 1][2 * i] = -V[1] / det;
    }
}

static void set_covariance(const ur_pair_margin *m1, const ur_pair_margin *m2, model *at,
                           covariance *c)
{
    set_scores(m1, m2, at, c);
    /* C = Cov(T) - A W' - W A', W = P - A S / 2 */
    const double *K = c->product;
    double W[4][6];
    for (int s = 0; s < 4; s++)
        for (int k = 0; k < 6; k++)
            W[s][k] = c->P[s][k] - 0.5 * (c->A[0][k] * c->S[0][s] + c->A[1][k] * c->S[1][s] +
                                          c->A[2][k] * c->S[2][s] + c->A[3][k] * c->S[3][s]);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++)
            c->C[i][j] = K[product_of[i][j]] - at->E[i] * at->E[j];
        for (int s = 0; s < 4; s++)
            for (int j = 0; j < 6; j++) /* all six: two at a time are faster than a triangle */
                c->C[i][j] -= c->A[s][i] * W[s][j] + W[s][i] * c->A[s][j];
    }
}

/* w = C^-1 D by elimination, no pivoting (C is a covariance); returns D'w. Where a coordinate has
 * no zeros some combination of the six has no variance (and no D): the ridge leaves it weightless.
 */
static double set_weights(const covariance *c, const double D[6], double w[6])
{
    double M[6][8], inverse[6], sum = 0; /* columns: C, D, padding that makes whole vectors */
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++)
            M[i][j] = c->C[i][j];
        M[i][i] += RIDGE * c->product[product_of[i][i]];
        M[i][6] = D[i];
        M[i][7] = 0;
    }
    for (int k = 0; k < 6; k++) {
        inverse[k] = M[k][k] > PIVOT * c->product[product_of[k][k]] ? 1 / M[k][k] : 0;
        for (int i = k + 1; i < 6; i++) {
            double factor = M[i][k] * inverse[k];
            for (int j = 0; j < 8; j++)
                M[i][j] -= factor * M[k][j];
        }
    }
    for (int i = 5; i >= 0; i--) {
        double x = M[i][6];
        for (int k = i + 1; k < 6; k++)
            x -= M[i][k] * w[k];
        w[i] = x * inverse[i];
        sum += D[i] * w[i];
    }
    return sum;
}

static double dot(const double a[6], const double b[6])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static double clip(double rho)
{
    return fmax(-UR_PAIR_LIMIT, fmin(UR_PAIR_LIMIT, rho));
}

/* at most half of the way to +-1 */
static double next_rho(double rho, double step)
{
    step = step >= 0 ? fmin(step, HALF_WAY * (1 - rho)) : fmax(step, -HALF_WAY * (1 + rho));
    return clip(rho + step);
}

/* The product of the two scores of rho = 0, mean(t1 t2) with t = z on positives, -h on zeros:
 * the margins make mean(t) = 0. Increasing in rho; Newton from its slope at 0. */
static double solve_start(const ur_pair_margin *m1, const ur_pair_margin *m2, const double T[6],
                          model *at, int *evaluations)
{
    double k1 = m1->hazard - m1->below, k2 = m2->hazard - m2->below;
    double weight[6] = {k1 * k2, k2, k1, 1, 0, 0};
    double value = dot(weight, T);
    double tau1 = m1->Phi + m1->phi * (m1->hazard - m1->gamma);
    double tau2 = m2->Phi + m2->phi * (m2->hazard - m2->gamma);
    double rho = clip((value - m1->hazard * m2->hazard) / (tau1 * tau2));
    double low = -1, high = 1;
    start_model(m1, m2, rho, at);
    for (int i = 1;; i++) {
        double f = value - dot(weight, at->E), slope = dot(weight, at->D);
        if (f > 0)
            low = rho;
        else
            high = rho;
        double next = slope > 0 ? next_rho(rho, f / slope) : rho;
        if (!(next >= low && next <= high))
            next = 0.5 * (low + high);
        *evaluations = i;
        if (i >= STEPS || fabs(next - rho) <= START_STEP * (1 - rho * rho))
            return next;
        rho = next;
        move_model(m1, m2, rho, at);
    }
}

/* variance: of rho's influence function; r: its covariances with the four scores. rho's rows are
 * those where both are observed, and lie inside each margin's rows. */
static void set_errors(const ur_pair_margin *m1, const ur_pair_margin *m2, double rho,
                       const double S[4][4], const double r[4], double variance, double n,
                       const double margins_n[2], ur_pair *out)
{
    const double *V1 = m1->V, *V2 = m2->V;
    double n1 = margins_n[0], n2 = margins_n[1];
    double with1 = V1[1] * r[0] + V1[2] * r[1], with2 = V2[1] * r[2] + V2[2] * r[3];
    double both = V1[1] * (V2[1] * S[0][2] + V2[2] * S[0][3]) +
                  V1[2] * (V2[1] * S[1][2] + V2[2] * S[1][3]); /* Cov(IF(s1), IF(s2)) */
    double product = variance / n + 2 * rho * (with1 / n1 + with2 / n2) +
                     rho * rho * (V1[2] / n1 + V2[2] / n2 + 2 * both * n / (n1 * n2));
    int sound = variance > 0 && product > 0 && isfinite(variance) && isfinite(product);
    out->rho_se = sound ? sqrt(variance / n) : NAN;
    out->product_se = sound ? sqrt(product) : NAN;
}

/* rho with Phi2(g1, g2; rho) = P, or the nearer limit; 0 where it had to stop at one. Newton in
 * the angle asin(rho), in which Phi2(0, 0) is linear (the paper's formula). */
static int solve_orthant(double g1, double g2, double P, double *rho, int *evaluations)
{
    double Phi1 = ur_normal_cdf(g1), Phi2 = ur_normal_cdf(g2), phi1 = ur_normal_pdf(g1);
    double limit = asin(UR_PAIR_LIMIT), low = -limit, high = limit;
    if (g1 == 0 && g2 == 0) { /* Fact 1 of the paper */
        double exact = 2 * acos(-1) * (P - 0.25);
        *rho = clip(sin(fmax(low, fmin(high, exact))));
        return fabs(exact) < limit;
    }
    double angle = fmax(low, fmin(high, (P - Phi1 * Phi2) / (phi1 * ur_normal_pdf(g2))));
    for (int i = 0; i < ORTHANT_STEPS; i++) {
        *rho = sin(angle);
        ++*evaluations;
        double f = P - ur_bivariate_at(g1, g2, Phi1, Phi2, *rho), o = cos(angle);
        double to2 = (g2 - *rho * g1) / o;
        double next = angle + f / (INV_SQRT_2PI * phi1 * exp(-0.5 * to2 * to2));
        if (f > 0)
            low = angle;
        else
            high = angle;
        if (!(next >= low && next <= high))
            next = 0.5 * (low + high);
        int done = fabs(next - angle) <= ANGLE_STEP * o || high - low <= ANGLE_BRACKET;
        angle = next;
        if (done)
            break;
    }
    *rho = clip(sin(angle));
    return fabs(angle) < limit - ANGLE_AT_LIMIT;
}

/* as: NULL, or whose choice of weights is taken */
static void solve_six(const ur_pair_margin *m1, const ur_pair_margin *m2, const ur_pair_moments *t,
                      const double margins_n[2], const ur_pair *as, ur_pair *out)
{
    double T[6] = {t->gg, t->v1g2, t->v2g1, t->v1v2, t->v1v1g2, t->v2v2g1};
    model at;
    covariance c;
    double w[6];
    out->evaluations = out->reweighed = 0;
    if (t->gg > 0) {
        out->start = solve_start(m1, m2, T, &at, &out->evaluations);
    } else { /* only an upper bound is identified: where half a joint positive is expected */
        solve_orthant(m1->gamma, m2->gamma, 0.5 / t->n, &out->start, &out->evaluations);
        start_model(m1, m2, out->start, &at);
    }
    set_covariance(m1, m2, &at, &c);
    double information = set_weights(&c, at.D, w), rho = at.rho;
    /* one step, weights anew unless it was small, then to convergence: the weights' error is of
     * second order */
    out->converged = 0;
    for (int i = 0; t->gg > 0 && i < STEPS; i++) {
        double step = (dot(w, T) - dot(w, at.E)) / dot(w, at.D);
        if (!isfinite(step))
            break;
        double next = next_rho(rho, step), moved = fabs(next - rho) / (1 - rho * rho);
        out->converged = moved <= LAST_STEP;
        rho = next;
        if (out->converged)
            break;
        move_model(m1, m2, rho, &at);
        out->evaluations++;
        if (i == 0 && (as ? as->reweighed : moved > REWEIGHT)) {
            out->reweighed = 1;
            set_covariance(m1, m2, &at, &c);
            information = set_weights(&c, at.D, w);
        }
    }
    if (!out->converged)
        rho = out->start;
    out->rho = rho;
    double r[4], wA[4];
    for (int s = 0; s < 4; s++)
        wA[s] = dot(w, c.A[s]);
    for (int s = 0; s < 4; s++)
        r[s] = (dot(w, c.P[s]) - wA[0] * c.S[0][s] - wA[1] * c.S[1][s] - wA[2] * c.S[2][s] -
                wA[3] * c.S[3][s]) /
               information;
    set_errors(m1, m2, rho, c.S, r, t->gg > 0 ? 1 / information : NAN, t->n, margins_n, out);
}

void ur_pair_six_statistics(const ur_pair_margin *m1, const ur_pair_margin *m2,
                            const ur_pair_moments *t, const double margins_n[2], ur_pair *out)
{
    solve_six(m1, m2, t, margins_n, NULL, out);
}

void ur_pair_six_again(const ur_pair_margin *m1, const ur_pair_margin *m2, const ur_pair_moments *t,
                       const double margins_n[2], const ur_pair *as, ur_pair *out)
{
    solve_six(m1, m2, t, margins_n, as, out);
}

/* what start_model looks at, with kappa = min(gamma, 0) in the place of gamma */
static ur_pair_margin at_threshold(const ur_pair_margin *m)
{
    return (ur_pair_margin){
        .gamma = m->below, .below = m->below, .phi = m->below_phi, .Phi = m->below_Phi};
}

/* Residual: share above - P(kappa, rho), kappa = min(gamma, 0). For gamma >= 0 the threshold
 * moves with b and kappa stays 0; for gamma < 0 the threshold stays 0 and kappa is estimated:
 * both ways its influence function is 1(above) - P - dP/dkappa . IF(kappa), IF(kappa) = IF(b) -
 * kappa IF(s). Above both thresholds the scores are z and z^2 - 1, so that Stein's lemma gives
 * Cov(1(above), scores) from the same slopes as for the six. */
static void set_sign_errors(const ur_pair_margin *m1, const ur_pair_margin *m2, double rho,
                            double n, const double margins_n[2], ur_pair *out)
{
    model at;
    covariance c;
    start_model(m1, m2, rho, &at);
    set_scores(m1, m2, &at, &c);
    ur_pair_margin t1 = at_threshold(m1), t2 = at_threshold(m2);
    start_model(&t1, &t2, rho, &at);
    double k1 = m1->below, k2 = m2->below, dP1 = at.C[0], dP2 = at.B[0];
    /* phi(k2) E[z1; above 1 | z2 = -k2] */
    double z1 = at.edge - rho * k2 * dP2, z2 = at.edge - rho * k1 * dP1;
    double P[4] = {dP1 + rho * dP2, -k1 * dP1 + rho * z1, dP2 + rho * dP1, -k2 * dP2 + rho * z2};
    double A[4] = {dP1 * (m1->V[0] - k1 * m1->V[1]), dP1 * (m1->V[1] - k1 * m1->V[2]),
                   dP2 * (m2->V[0] - k2 * m2->V[1]), dP2 * (m2->V[1] - k2 * m2->V[2])};
    double variance = at.L * (1 - at.L), r[4];
    for (int s = 0; s < 4; s++) {
        r[s] = P[s];
        for (int k = 0; k < 4; k++)
            r[s] -= A[k] * c.S[k][s];
        variance -= A[s] * (P[s] + r[s]); /* - 2 A'P + A'S A */
        r[s] /= at.density;
    }
    set_errors(m1, m2, rho, c.S, r, variance / (at.density * at.density), n, margins_n, out);
}

void ur_pair_from_signs(const ur_pair_margin *m1, const ur_pair_margin *m2, double n, double above,
                        const double margins_n[2], ur_pair *out)
{
    *out = (ur_pair){0};
    out->converged = solve_orthant(m1->below, m2->below, above, &out->rho, &out->evaluations);
    out->start = out->rho;
    set_sign_errors(m1, m2, out->rho, n, margins_n, out);
}
