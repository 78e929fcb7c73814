/* SPDX-License-Identifier: Apache-2.0 */
/* unrelu: learn back what a ReLU hid.
 *
 * Options say what is computed, unrelu_exec says where: a result never depends on the
 * number of threads. Every fallible function returns a status; its last argument (may be
 * NULL) receives one sentence for the user. On failure outputs are zeroed, so that the
 * matching _free is always safe. The library never prints, exits, or reads the environment.
 * Matrices are row-major, rows are samples, NaN is a missing value. */
#ifndef UNRELU_H
#define UNRELU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define UNRELU_API __attribute__((visibility("default")))
#else
#define UNRELU_API
#endif

/* ---- status and errors ------------------------------------------------------------- */

typedef enum {
    UNRELU_OK = 0,
    UNRELU_EINTERNAL,  /* a bug of ours, or LAPACK failed */
    UNRELU_ENOMEM,     /* an allocation failed */
    UNRELU_EUSAGE,     /* options that contradict each other or are out of range */
    UNRELU_EIO,        /* a file could not be opened, read or written */
    UNRELU_EFORMAT,    /* a file's content is not what it should be */
    UNRELU_EDATA,      /* the data cannot support the model */
    UNRELU_ECANCELLED, /* the cancel callback said so */
} unrelu_status;

typedef struct {
    char text[1024];
} unrelu_error;

UNRELU_API const char *unrelu_version(void);

/* ---- where it runs ----------------------------------------------------------------- */

typedef struct {
    int threads; /* 0: all cores */
    /* fraction is in [0, 1], or negative where the end is not known; called from one
     * thread at a time */
    void (*progress)(void *context, const char *stage, double fraction);
    int (*cancelled)(void *context); /* nonzero: stop with UNRELU_ECANCELLED */
    /* adds the len doubles of s over all ranks, in place and with the same bits on each */
    unrelu_status (*rank_sum)(void *context, double *s, size_t len, unrelu_error *err);
    void *context;
} unrelu_exec;

UNRELU_API unrelu_exec unrelu_exec_default(void);

/* ---- samples in -------------------------------------------------------------------- */

typedef struct unrelu_source unrelu_source;

typedef struct {
    const char *columns; /* NULL: all; else names or 1-based numbers and ranges: "lead,3,5-9" */
    int single_pass;     /* nonzero: standard input need not be spooled for a second pass */
} unrelu_source_options;

/* path: .npy, .npz, .npz:NAME, .csv, .tsv, those two with .gz, or "-" (CSV on standard
 * input). options may be NULL. */
UNRELU_API unrelu_status unrelu_source_open(const char *path, const unrelu_source_options *options,
                                            unrelu_source **out, unrelu_error *err);
/* x (n, d) is borrowed until unrelu_source_close */
UNRELU_API unrelu_status unrelu_source_memory(const double *x, size_t n, size_t d,
                                              unrelu_source **out, unrelu_error *err);
UNRELU_API void unrelu_source_close(unrelu_source *source);
UNRELU_API size_t unrelu_source_columns(const unrelu_source *source);
/* the column's name in the file, or "x1", "x2", ... */
UNRELU_API const char *unrelu_source_name(const unrelu_source *source, size_t column);
/* what was decided about the file, for the user ("header row: names kept"), or "" */
UNRELU_API const char *unrelu_source_note(const unrelu_source *source);

/* The `kind` a .npz file states ("rectified-gaussian", "summary", ...), or "" where it is
 * not a .npz file or states none. */
UNRELU_API unrelu_status unrelu_file_kind(const char *path, char *kind, size_t size,
                                          unrelu_error *err);

/* ---- samples out ------------------------------------------------------------------- */

typedef struct unrelu_sink unrelu_sink;

/* Writes n rows of d columns to .npy, .csv, .tsv, or "-" (CSV on standard output). names may
 * be NULL. The file appears under its name only when unrelu_sink_commit succeeds. */
UNRELU_API unrelu_status unrelu_sink_open(const char *path, size_t n, size_t d, char *const *names,
                                          unrelu_sink **out, unrelu_error *err);
UNRELU_API unrelu_status unrelu_sink_write(unrelu_sink *sink, const double *x, size_t rows,
                                           unrelu_error *err);
UNRELU_API unrelu_status unrelu_sink_commit(unrelu_sink *sink, unrelu_error *err); /* closes */
UNRELU_API void unrelu_sink_abort(unrelu_sink *sink); /* closes, leaves nothing behind */

/* ---- the rectified Gaussian x = ReLU(W z + b) -------------------------------------- */

typedef enum {
    UNRELU_NORMS_CENSORED,  /* censored (Tobit) maximum likelihood: uses the count of zeros */
    UNRELU_NORMS_TRUNCATED, /* truncated maximum likelihood: positives only */
    UNRELU_NORMS_MEDIAN,    /* footnote 4 of the paper: b = median, needs b >= 0 */
    UNRELU_NORMS_SGD,       /* Algorithms 2 and 3 of the paper: projected SGD */
} unrelu_norms;

typedef enum {
    UNRELU_ANGLES_H6,    /* quasi-score on six pair statistics, one pass */
    UNRELU_ANGLES_SIGNS, /* Fact 1 of the paper: counts above b, a second pass over bits */
} unrelu_angles;

#define UNRELU_RANK_NONE  0
#define UNRELU_RANK_AUTO  (-1)
#define UNRELU_NOISE_AUTO (-1.0)

typedef enum {
    UNRELU_PRECISION_AUTO,   /* double sums; single inside a block from 96 columns on */
    UNRELU_PRECISION_DOUBLE, /* double throughout */
    UNRELU_PRECISION_SINGLE, /* single inside a block, double over blocks */
} unrelu_precision;

typedef struct {
    unrelu_norms norms;
    unrelu_angles angles;
    int literal;             /* nonzero: the paper to the letter (b = max(0, b), no PSD repair) */
    int batches;             /* sgd: B of Algorithm 2 */
    double radius, lambda;   /* sgd: r of (8), lambda of Algorithm 3 */
    int minibatch;           /* sgd: samples in one gradient */
    int rank;                /* K, UNRELU_RANK_NONE or UNRELU_RANK_AUTO */
    const double *censor_at; /* NULL: 0; else values at or below it are censored */
    size_t censor_count;     /* 1, or one for each column */
    double additive_noise;   /* 0: none; its standard deviation; or UNRELU_NOISE_AUTO */
    int robust;              /* drop rows with gross outliers */
    int drop;                /* leave out columns that cannot be fitted */
    unrelu_precision precision;
    uint64_t seed; /* sgd draws */
} unrelu_gaussian_options;

UNRELU_API unrelu_gaussian_options unrelu_gaussian_options_default(void);

/* Flags of a coordinate, and the two that pairs have too. unrelu_flag_name gives the code
 * that files and JSON use. */
enum {
    UNRELU_FLAG_FEW_POSITIVES = 1 << 0, /* fewer than 10 positives, or se(b / scale) > 0.25 */
    UNRELU_FLAG_CONSTANT = 1 << 1,      /* zero row of W: scale 0, b the constant */
    UNRELU_FLAG_NO_ZEROS = 1 << 2,      /* nothing was censored: plain mean and deviation */
    UNRELU_FLAG_DUPLICATE = 1 << 3,     /* correlation +-1 with another column to within 1e-5 */
    UNRELU_FLAG_FEW_JOINT = 1 << 4,     /* fewer than 10 joint positives, or se(rho) > 0.2 */
    UNRELU_FLAG_NEGATIVE_BIAS = 1 << 5, /* outside the set where the paper's theorem holds */
    UNRELU_FLAG_NO_TRUNCATED = 1 << 6,  /* the truncated likelihood has no maximum */
    UNRELU_FLAG_SIGMA_RANGE = 1 << 7,   /* scale^2 leaves the range of a double */
    UNRELU_FLAG_MISFIT = 1 << 8,        /* far more or fewer zeros than the fitted normal has */
    UNRELU_FLAG_COUNT = 9
};
UNRELU_API const char *unrelu_flag_name(int bit); /* bit in 0 .. UNRELU_FLAG_COUNT - 1 */

typedef struct {
    char code[32];
    char message[480];
} unrelu_warning;

/* A learned (or planted) rectified Gaussian. Arrays that were not estimated are NULL;
 * a standard error that could not be had is NaN, and a flag or warning says why. */
typedef struct {
    size_t d, n;
    char method[16], norms[16], angles[16]; /* "" in a planted model */
    uint64_t seed;
    char **names;                /* d */
    double *observed, *positive; /* d: cells not missing, cells above the limit */
    double *b, *b_se;            /* d */
    double *scale, *scale_se;    /* d: the row norms of W */
    double *sigma, *sigma_se;    /* d x d: W W' */
    double *correlation, *correlation_se;
    double *n_pair;      /* d x d: rows where both are observed */
    uint32_t *flags;     /* d */
    uint8_t *pair_flags; /* d x d */
    double lambda_min;   /* smallest eigenvalue of the correlation before repair */
    int repaired;
    double *limit;       /* d: values at or below were censored; NULL: all at 0 */
    double *noise;       /* d: standard deviation of the additive noise taken out */
    size_t rows_dropped; /* by robust */
    size_t k;            /* columns of W; 0 without rank */
    double *W;           /* d x k, up to a rotation of its columns */
    double *eigenvalues, *eigenvalues_se; /* d, of sigma, decreasing */
    char how_k[256];                      /* how k was chosen, with its numbers */
    unrelu_warning *warnings;
    size_t warning_count;
} unrelu_gaussian;

UNRELU_API unrelu_status unrelu_gaussian_fit(unrelu_source *source,
                                             const unrelu_gaussian_options *options,
                                             const unrelu_exec *exec, unrelu_gaussian *model,
                                             unrelu_error *err);
UNRELU_API void unrelu_gaussian_free(unrelu_gaussian *model);
UNRELU_API unrelu_status unrelu_gaussian_save(const unrelu_gaussian *model, const char *path,
                                              unrelu_error *err);
UNRELU_API unrelu_status unrelu_gaussian_load(const char *path, unrelu_gaussian *model,
                                              unrelu_error *err);

/* Rows first_row .. first_row + rows - 1 of the stream of samples that `seed` names:
 * any slice can be drawn alone. x is rows x d. */
typedef struct unrelu_sampler unrelu_sampler;
UNRELU_API unrelu_status unrelu_sampler_new(const unrelu_gaussian *model, uint64_t seed,
                                            unrelu_sampler **out, unrelu_error *err);
UNRELU_API unrelu_status unrelu_sampler_draw(const unrelu_sampler *sampler, size_t first_row,
                                             size_t rows, const unrelu_exec *exec, double *x,
                                             unrelu_error *err);
UNRELU_API void unrelu_sampler_free(unrelu_sampler *sampler);

/* The metrics of section 6 of the one-layer paper. A KL divergence that does not exist
 * (singular or indefinite Sigma) is infinite, and `note` says why. */
typedef struct {
    double b_error;         /* |b - b*| / |W*|_F */
    double sigma_error;     /* |Sigma - Sigma*|_F / |W*|_F^2 */
    double kl, kl_reverse;  /* KL(model || truth), KL(truth || model) of the Gaussians */
    double tv_bound;        /* min(1, sqrt(min(kl, kl_reverse) / 2)) */
    double correlation_rms; /* over pairs */
    double lambda_min_truth, lambda_min_model;
    char note[256];
} unrelu_gaussian_distance;

UNRELU_API unrelu_status unrelu_gaussian_compare(const unrelu_gaussian *truth,
                                                 const unrelu_gaussian *model,
                                                 unrelu_gaussian_distance *distance,
                                                 unrelu_error *err);

/* A random model. k == d: W = U diag(l^0, l^-1, ...) with U orthonormal and l chosen so that
 * W W' has condition number kappa (the paper's setting); k < d: Gaussian W, unit rows. */
typedef enum {
    UNRELU_BIAS_RECTIFIED, /* max(0, N(0, 1)): the paper's */
    UNRELU_BIAS_NORMAL,    /* N(0, 1) */
    UNRELU_BIAS_FIXED,     /* b_i = bias_value * scale_i */
} unrelu_bias_law;

typedef struct {
    size_t d, k; /* k 0: d */
    double kappa;
    unrelu_bias_law bias;
    double bias_value;
    uint64_t seed;
} unrelu_gaussian_plant_options;

UNRELU_API unrelu_gaussian_plant_options unrelu_gaussian_plant_options_default(void);
UNRELU_API unrelu_status unrelu_gaussian_plant(const unrelu_gaussian_plant_options *options,
                                               unrelu_gaussian *model, unrelu_error *err);

/* ---- summaries of shards ----------------------------------------------------------- */

typedef struct unrelu_summary unrelu_summary;

/* One pass, always in double. options: censor_at only is looked at (NULL: defaults). groups:
 * 10 keeps ten sub-sums for the jackknife errors of eigenvalues, 1 keeps none. */
UNRELU_API unrelu_status unrelu_summary_collect(unrelu_source *source,
                                                const unrelu_gaussian_options *options,
                                                size_t groups, const unrelu_exec *exec,
                                                unrelu_summary **out, unrelu_error *err);
UNRELU_API unrelu_status unrelu_summary_load(const char *path, unrelu_summary **out,
                                             unrelu_error *err);
UNRELU_API unrelu_status unrelu_summary_save(const unrelu_summary *summary, const char *path,
                                             unrelu_error *err);
/* into += from; both must be of the same columns and limits */
UNRELU_API unrelu_status unrelu_summary_merge(unrelu_summary *into, const unrelu_summary *from,
                                              unrelu_error *err);
UNRELU_API void unrelu_summary_free(unrelu_summary *summary);
UNRELU_API size_t unrelu_summary_rows(const unrelu_summary *summary);
UNRELU_API size_t unrelu_summary_columns(const unrelu_summary *summary);
UNRELU_API unrelu_status unrelu_gaussian_fit_summary(const unrelu_summary *summary,
                                                     const unrelu_gaussian_options *options,
                                                     const unrelu_exec *exec,
                                                     unrelu_gaussian *model, unrelu_error *err);

#ifdef __cplusplus
}
#endif
#endif
