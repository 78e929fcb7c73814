/* SPDX-License-Identifier: Apache-2.0 */
/* unrelu: learn back what a ReLU hid.
 *
 * Options say what is computed, unrelu_exec says where: a result never depends on the
 * number of threads. Every fallible function returns a status; its last argument (may be
 * NULL) receives one sentence for the user. On failure outputs are zeroed, so that the
 * matching _free is always safe. The library never prints, exits, or reads the environment.
 * Matrices are row-major, rows are samples, NaN is a missing value.
 *
 * Threads: any functions may be called at the same time from several threads, on objects of their
 * own: results are, bit by bit, those of the same calls one after another. A model, a sampler or a
 * summary may be read by several calls at once; a source, a sink and whatever a call writes belong
 * to one call at a time. BLAS is set to one thread for the whole process while any call runs. */
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

/* ---- version ------------------------------------------------------------------------ */

#define UNRELU_VERSION_MAJOR 0
#define UNRELU_VERSION_MINOR 2
#define UNRELU_VERSION_PATCH 0
/* 200 is 0.2.0, 10203 is 1.2.3: what a program was compiled against */
#define UNRELU_VERSION_NUMBER                                                                      \
    (UNRELU_VERSION_MAJOR * 10000 + UNRELU_VERSION_MINOR * 100 + UNRELU_VERSION_PATCH)

UNRELU_API const char *unrelu_version(void); /* "0.2.0": of the library that it runs with */

/* ---- status and errors ------------------------------------------------------------- */

typedef enum {
    UNRELU_OK = 0,
    UNRELU_EINTERNAL = 1,  /* a bug of ours, or LAPACK failed */
    UNRELU_ENOMEM = 2,     /* an allocation failed */
    UNRELU_EUSAGE = 3,     /* options that contradict each other or are out of range */
    UNRELU_EIO = 4,        /* a file could not be opened, read or written */
    UNRELU_EFORMAT = 5,    /* a file's content is not what it should be */
    UNRELU_EDATA = 6,      /* the data cannot support the model */
    UNRELU_ECANCELLED = 7, /* the cancel callback said so */
} unrelu_status;
UNRELU_API const char *unrelu_status_name(unrelu_status status); /* "ok", "usage", "data", ... */

/* What went wrong: one sentence for the user, and what a program can act on. In the sentence an
 * option stands in backquotes, by the name that unrelu_..._options_set knows it by, so that each
 * language can put its own way of saying it there: `rank` is --rank at the command line. */
typedef struct {
    char text[1024];
    unrelu_status code;
    char option[32];    /* the first option that the sentence names, or "" */
    size_t row, column; /* the cell of the data that it is about, from 1 on; 0: no one cell */
} unrelu_error;

/* ---- memory ------------------------------------------------------------------------- */

/* Most bytes that what the library allocated in this process may hold together; returns the former
 * limit. 0, as at the start: none but the system's. What would need more fails with UNRELU_ENOMEM
 * and the number that was wanted. Counted are samples in memory, models, summaries, workspaces of
 * LAPACK and integers of GMP; not counted are the buffers of BLAS (20 MB or less are used for each
 * thread), the workspace of Clp, and what libraries for files hold. Only where the system tells the
 * size of an allocation (Linux) is it the sum that counts; elsewhere each one by itself. */
UNRELU_API size_t unrelu_memory_limit(size_t bytes);
UNRELU_API size_t unrelu_memory_used(void); /* bytes that count now */
/* count elements of size bytes, zeroed, which count too; NULL where there are none to be had */
UNRELU_API void *unrelu_alloc(size_t count, size_t size);

/* ---- where it runs ----------------------------------------------------------------- */

/* How far a search for neurons has come. */
typedef struct {
    const char *stage;
    double fraction;      /* as of `progress` */
    size_t found, wanted; /* neurons, and of how many; wanted 0: not known */
    size_t starts;        /* how many the search has made */
    double residual;      /* of the labels, relative, of the closest network; NaN: not known */
} unrelu_counts;

/* What `cancelled` answers: go on; stop with UNRELU_ECANCELLED (any other value does too); stop and
 * return what is found so far, where the call can (unrelu_recover: verdict "incomplete"), else as
 * the one before. */
typedef enum {
    UNRELU_GO_ON = 0,
    UNRELU_STOP = 1,
    UNRELU_STOP_AND_KEEP = 2,
} unrelu_wish;

typedef struct {
    size_t size; /* by unrelu_exec_init */
    int threads; /* 0: all cores */
    /* fraction is in [0, 1], or negative where the end is not known; called from one
     * thread at a time */
    void (*progress)(void *context, const char *stage, double fraction);
    int (*cancelled)(void *context); /* an unrelu_wish */
    size_t rank, ranks; /* which of how many processes this is; 0 of 0 and 0 of 1: the only one */
    /* Adds the len doubles of s over all ranks, in place and with the same bits on each. Every rank
     * makes the same calls, also one that has no samples (its source is NULL then). Ranks agree
     * before each sum: where one fails all return, that one with its own error, the others with
     * the same status and "another rank failed: ". What cannot be summed over ranks refuses. */
    unrelu_status (*rank_sum)(void *context, double *s, size_t len, unrelu_error *err);
    void *context;
    /* instead of `progress`, where a stage counts neurons; NULL: `progress` is called then too */
    void (*counts)(void *context, const unrelu_counts *counts);
} unrelu_exec;

UNRELU_API void unrelu_exec_init(unrelu_exec *exec, size_t size); /* sizeof(unrelu_exec) */

/* ---- options by name ---------------------------------------------------------------- */

/* Every struct of options has these three, besides its fields:
 *   unrelu_x_options_init(&o, sizeof o)          the defaults; sizeof tells the library how much of
 *                                                the struct the program knows: what later versions
 *                                                append has its default then
 *   unrelu_x_options_set(&o, name, value, &err)  a field by its name, from text, as the command
 *                                                line and other languages have it: "rank", "auto".
 *                                                '-' and '_' are the same; value NULL: yes
 *   unrelu_x_option(i, &option)                  the names there are: 1, or 0 after the last
 * NULL for options, and for unrelu_exec, means the defaults. A size that _init did not set, or that
 * is of a newer version than the library, is refused (EUSAGE). */
typedef struct {
    const char *name;
    const char *values; /* "auto|none|both"; words in capitals stand for a value: "K|auto" */
} unrelu_option;

/* ---- types of numbers ---------------------------------------------------------------- */

typedef enum {
    UNRELU_DOUBLES = 0, /* double */
    UNRELU_TEXTS = 1,   /* const char * */
    UNRELU_SIZES = 2,   /* size_t */
    UNRELU_INTS = 3,    /* int */
    UNRELU_BYTES = 4,   /* uint8_t */
    UNRELU_UINT32S = 5, /* uint32_t */
    UNRELU_UINT64S = 6, /* uint64_t */
    UNRELU_FLOATS = 7,  /* float */
} unrelu_type;

/* ---- samples in -------------------------------------------------------------------- */

typedef struct unrelu_source unrelu_source;

typedef struct {
    size_t size; /* by unrelu_source_options_init */
    /* NULL: all; else names, 1-based numbers, ranges, patterns, and exclusions behind ^:
     * "lead,3,5-9,tin:zinc,rain*,^rain_total"; a name with a comma stands in double quotes */
    const char *columns;
    int single_pass; /* nonzero: standard input need not be spooled for a second pass */
    /* What is said of the cells besides what they say themselves. Texts, also those that _set
     * takes, are borrowed until the source is open. */
    const char *indicator; /* NULL, or a suffix: column lead + suffix tells where lead is a limit
                              (TRUE, 1, <, U, ND), where it is above (>), and where it was seen
                              (FALSE, 0, =, E, J, nothing). It is not handed out. A pattern: D_* for
                              D_lead, p*=r* for r1 of p1. seen: before it: TRUE and 1 say that a
                              value was seen, FALSE and 0 that it is a limit */
    const char
        *uncensored; /* NULL, or columns, as in `columns`: of any sign, no value is censored */
    const char *top; /* NULL, or "900", "lead=900,zinc=50": values at or above are top codes */
    const char *na;  /* NULL, or what also stands for a missing cell: "-999,unknown" */
    int complete;    /* rows with a missing cell are left out */
    /* Of 0 or 1 parts: the whole file. Else the range `part` (from 0) of `parts` ranges of rows, in
     * the order of the file: whole blocks of an array, bytes of a text file up to a line end. Only
     * they are read. Standard input and what is compressed cannot be cut. */
    size_t part, parts;
} unrelu_source_options;
UNRELU_API void unrelu_source_options_init(unrelu_source_options *options, size_t size);
UNRELU_API unrelu_status unrelu_source_options_set(unrelu_source_options *options, const char *name,
                                                   const char *value, unrelu_error *err);
UNRELU_API int unrelu_source_option(size_t i, unrelu_option *out);

/* path: .npy, .npz, .npz:NAME, .csv, .tsv, those two with .gz, or "-" (CSV on standard
 * input). options may be NULL. */
UNRELU_API unrelu_status unrelu_source_open(const char *path, const unrelu_source_options *options,
                                            unrelu_source **out, unrelu_error *err);
/* Several sources of the same columns as one, in their order; messages name the one that a row is
 * of. They are closed with it; where it fails they are the caller's still. */
UNRELU_API unrelu_status unrelu_source_join(unrelu_source *const *sources, size_t count,
                                            unrelu_source **out, unrelu_error *err);
/* x (n, d) is borrowed until unrelu_source_close. options may be NULL. */
UNRELU_API unrelu_status unrelu_source_memory(const double *x, size_t n, size_t d,
                                              const unrelu_source_options *options,
                                              unrelu_source **out, unrelu_error *err);
/* Numbers in any memory: that of row i and column j lies at data + i * row_step + j * column_step.
 */
typedef struct {
    const void *data;
    unrelu_type type;                /* UNRELU_DOUBLES or UNRELU_FLOATS */
    ptrdiff_t row_step, column_step; /* bytes, of either sign */
} unrelu_matrix;
/* The same of a matrix in whatever order it lies; only doubles whose rows are consecutive are read
 * where they are, others are converted block by block. names (d) may be NULL. upper, where it is
 * not NULL, makes an interval of each cell, from x to upper: a value where both are the same; a
 * limit that it lies below where x is -inf, above where upper is inf; missing where one is NaN. */
UNRELU_API unrelu_status unrelu_source_matrix(const unrelu_matrix *x, const unrelu_matrix *upper,
                                              size_t n, size_t d, const char *const *names,
                                              const unrelu_source_options *options,
                                              unrelu_source **out, unrelu_error *err);
UNRELU_API void unrelu_source_close(unrelu_source *source);
UNRELU_API size_t unrelu_source_columns(const unrelu_source *source);
/* the column's name in the file, or "x1", "x2", ... */
UNRELU_API const char *unrelu_source_name(const unrelu_source *source, size_t column);
/* other names, one for each column; they are copied */
UNRELU_API unrelu_status unrelu_source_rename(unrelu_source *source, const char *const *names,
                                              unrelu_error *err);
/* what was decided about the file, for the user ("header row: names kept"), or "" */
UNRELU_API const char *unrelu_source_note(const unrelu_source *source);

/* How many rows and lines a source has, as they stand in the file (a pass over the bytes of a text
 * file, none over an array), and how many of them come before it: where it is a part of a text
 * file, its messages count from there. */
typedef struct {
    size_t rows, lines; /* lines: of text files */
} unrelu_extent;
UNRELU_API unrelu_status unrelu_source_extent(unrelu_source *source, unrelu_extent *out,
                                              unrelu_error *err);
UNRELU_API void unrelu_source_begin_at(unrelu_source *source, const unrelu_extent *before);

/* The whole of it: x (n, columns), to be freed by unrelu_free. Every cell must be finite. */
UNRELU_API unrelu_status unrelu_source_load(unrelu_source *source, const unrelu_exec *exec,
                                            double **x, size_t *n, unrelu_error *err);

/* of arrays that the library hands out, and of unrelu_alloc; takes NULL */
UNRELU_API void unrelu_free(void *memory);

/* The `kind` a .npz file states ("rectified-gaussian", "summary", ...), or "" where it is
 * not a .npz file or states none. */
UNRELU_API unrelu_status unrelu_file_kind(const char *path, char *kind, size_t size,
                                          unrelu_error *err);

/* ---- samples out ------------------------------------------------------------------- */

typedef struct unrelu_sink unrelu_sink;

/* Writes n rows of d columns to .npy, .csv, .tsv, or as CSV to "-" (standard output), a device or a
 * pipe. names may be NULL. The file appears under its name only when unrelu_sink_commit succeeds.
 */
UNRELU_API unrelu_status unrelu_sink_open(const char *path, size_t n, size_t d,
                                          const char *const *names, unrelu_sink **out,
                                          unrelu_error *err);
UNRELU_API unrelu_status unrelu_sink_write(unrelu_sink *sink, const double *x, size_t rows,
                                           unrelu_error *err);
UNRELU_API unrelu_status unrelu_sink_commit(unrelu_sink *sink, unrelu_error *err); /* closes */
UNRELU_API void unrelu_sink_abort(unrelu_sink *sink); /* closes, leaves nothing behind */

/* A whole file of any bytes, written as samples and models are: beside its name, synced, and then
 * under it, with the owner and the permissions of the file that it replaces. docs/formats.md,
 * "How files are written", has the details. */
UNRELU_API unrelu_status unrelu_file_write(const char *path, const void *bytes, size_t size,
                                           unrelu_error *err);

/* ---- models -------------------------------------------------------------------------- */

/* Models (unrelu_gaussian, unrelu_network, unrelu_mixture) and results like them (unrelu_goodness,
 * unrelu_hardness) are made by the library and freed by their _free. Their members can be read;
 * later versions append to them. Texts are never NULL. */
typedef struct {
    const char *code;    /* "few-positives": stable, for programs */
    const char *message; /* one sentence; options stand in backquotes, as in unrelu_error */
} unrelu_warning;

/* What every model begins with, so that &network->model stands for a model of any kind. */
typedef struct {
    const char *kind; /* "rectified-gaussian", "network", "mixture", ...: as in files */
} unrelu_model;

UNRELU_API const unrelu_warning *unrelu_model_warnings(const unrelu_model *model, size_t *count);
UNRELU_API void unrelu_model_free(unrelu_model *model); /* of any kind; takes NULL */

/* Members by name, for languages that do not see the structs. Names are those of the arrays in
 * files (docs/formats.md). */
typedef struct {
    const char *name;
    unrelu_type type;
    size_t dimensions; /* 0: one value; a vector; a matrix, row-major */
    size_t shape[4];   /* 1 beyond the dimensions */
    const void *data;  /* of the type, and of the model: it lives as long */
} unrelu_array;

/* the i-th member that the model has: 1, or 0 after the last */
UNRELU_API int unrelu_model_at(const unrelu_model *model, size_t i, unrelu_array *out);
/* the member of this name: 1, or 0 where the model has none */
UNRELU_API int unrelu_model_member(const unrelu_model *model, const char *name, unrelu_array *out);
/* a member of doubles, and its shape; NULL where the model has none of this name */
UNRELU_API const double *unrelu_model_array(const unrelu_model *model, const char *name,
                                            size_t *rows, size_t *columns);

/* ---- the rectified Gaussian x = ReLU(W z + b) -------------------------------------- */

typedef enum {
    UNRELU_NORMS_CENSORED = 0,  /* censored (Tobit) maximum likelihood: uses the count of zeros */
    UNRELU_NORMS_TRUNCATED = 1, /* truncated maximum likelihood: positives only */
    UNRELU_NORMS_MEDIAN = 2,    /* footnote 4 of the paper: b = median, needs b >= 0 */
    UNRELU_NORMS_SGD = 3,       /* Algorithms 2 and 3 of the paper: projected SGD */
} unrelu_norms;

typedef enum {
    UNRELU_ANGLES_H6 = 0,         /* quasi-score on six pair statistics, one pass */
    UNRELU_ANGLES_SIGNS = 1,      /* Fact 1 of the paper: counts above b, a second pass over bits */
    UNRELU_ANGLES_LIKELIHOOD = 2, /* exact censored likelihood of each pair, the file in memory */
} unrelu_angles;

/* of the positive part, column by column */
typedef enum {
    UNRELU_TRANSFORM_NONE = 0,
    UNRELU_TRANSFORM_SQRT = 1,
    UNRELU_TRANSFORM_LOG = 2,
    UNRELU_TRANSFORM_BOXCOX = 3, /* (x^lambda - 1) / lambda */
    /* Samples x = f(W z + b) of an invertible f (footnote 2 of the paper): undone, they are normal,
     * and nothing is censored. Fitted in one pass. */
    UNRELU_TRANSFORM_LEAKY = 4,   /* f(y) = y for y > 0, else lambda y; lambda > 0 */
    UNRELU_TRANSFORM_SIGMOID = 5, /* f(y) = 1 / (1 + exp(-y)) */
} unrelu_transform;

#define UNRELU_RANK_NONE  0
#define UNRELU_RANK_AUTO  (-1)
#define UNRELU_NOISE_AUTO (-1.0)

typedef enum {
    UNRELU_PRECISION_AUTO = 0,   /* double sums; single inside a block from 96 columns on */
    UNRELU_PRECISION_DOUBLE = 1, /* double throughout */
    UNRELU_PRECISION_SINGLE = 2, /* single inside a block, double over blocks */
} unrelu_precision;

/* Which standard errors: those of the model (inverse information); those that hold whatever the law
 * (the sandwich; a second pass); the deviations of fits to rows drawn again, for every method; the
 * sandwich added up over groups of rows that belong together. The last two hold the samples in
 * memory. AUTO: robust in a fit cell by cell, model in one of a single pass. */
typedef enum {
    UNRELU_ERRORS_AUTO = 0,
    UNRELU_ERRORS_MODEL = 1,
    UNRELU_ERRORS_ROBUST = 2,
    UNRELU_ERRORS_BOOTSTRAP = 3,
    UNRELU_ERRORS_CLUSTER = 4,
} unrelu_errors;

typedef struct {
    size_t size; /* by unrelu_gaussian_options_init */
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
    unrelu_transform transform;
    double boxcox;         /* its lambda (NaN: estimated for each column), or that of leaky */
    const double *limit;   /* NULL, or one for each column: of cells 'ND' and 0; NaN: none */
    unrelu_source *limits; /* NULL, or n x d: of each such cell; NaN: none */
    uint64_t seed;         /* sgd draws, and rows of a bootstrap */
    unrelu_errors errors;
    size_t bootstrap;    /* how many fits; 0: 200 */
    const char *cluster; /* the column of the file, text or numbers, in which rows that belong
                            together say the same; _set borrows it */
} unrelu_gaussian_options;

UNRELU_API void unrelu_gaussian_options_init(unrelu_gaussian_options *options, size_t size);
UNRELU_API unrelu_status unrelu_gaussian_options_set(unrelu_gaussian_options *options,
                                                     const char *name, const char *value,
                                                     unrelu_error *err);
UNRELU_API int unrelu_gaussian_option(size_t i, unrelu_option *out);

/* Flags of a coordinate, and the two that pairs have too. unrelu_flag_name gives the code
 * that files and JSON use. */
enum {
    UNRELU_FLAG_FEW_POSITIVES = 1 << 0, /* fewer than 10 positives, or se(b / scale) > 0.25 */
    UNRELU_FLAG_CONSTANT = 1 << 1,      /* zero row of W: scale 0, b the constant */
    UNRELU_FLAG_NO_ZEROS = 1 << 2,      /* nothing was censored: plain mean and deviation */
    UNRELU_FLAG_DUPLICATE = 1 << 3,     /* correlation +-1 with another column to within 1e-5 */
    UNRELU_FLAG_FEW_JOINT = 1 << 4,     /* fewer than 10 joint positives, or se(rho) > 0.2; cell by
                                         * cell such pairs have an error where the likelihood peaks */
    UNRELU_FLAG_NEGATIVE_BIAS = 1 << 5, /* outside the set where the paper's theorem holds */
    UNRELU_FLAG_NO_TRUNCATED = 1 << 6,  /* the truncated likelihood has no maximum */
    UNRELU_FLAG_SIGMA_RANGE = 1 << 7,   /* scale^2 leaves the range of a double */
    UNRELU_FLAG_MISFIT = 1 << 8,      /* far from the fitted normal: docs/formats.md has the rule */
    UNRELU_FLAG_HEAVY_TAILS = 1 << 9, /* robust errors hang on a few rows, or values lie far out */
    UNRELU_FLAG_TOP_CODED = 1 << 10,  /* many values equal the largest one */
    UNRELU_FLAG_REPEATED_VALUE = 1 << 11, /* many equal one that is not the largest */
    UNRELU_FLAG_FEW_VALUES = 1 << 12,     /* at most ten different ones: counts, grades, codes */
    UNRELU_FLAG_ROUNDED = 1 << 13,        /* so coarsely that two values are equal once in 25 */
};
UNRELU_API const char *unrelu_flag_name(int bit); /* of bits from 0 on; "" beyond the last */

/* A learned (or planted) rectified Gaussian, made by the library and freed by unrelu_gaussian_free.
 * Arrays that were not estimated are NULL; a standard error that could not be had is NaN, and a
 * flag or warning says why. */
typedef struct {
    unrelu_model model;
    size_t d, n;
    const char *method, *norms, *angles; /* "" in a planted model */
    uint64_t seed;
    const char *const *names;    /* d */
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
    double
        *limit; /* d: values at or below were censored; NULL: all at 0. Where cells have limits
                   of their own, the largest below all values seen; may be -inf under a transform */
    unrelu_transform transform; /* b, scale, limit and all below are of transformed values */
    double *lambda;             /* d: of Box-Cox or leaky; NULL: another transform, or none */
    double *noise;              /* d: standard deviation of the additive noise taken out */
    size_t rows_dropped;        /* by robust */
    size_t k;                   /* columns of W; 0 without rank */
    double *W;                  /* d x k, up to a rotation of its columns */
    double *eigenvalues, *eigenvalues_se; /* d, of sigma, decreasing */
    const char *how_k;                    /* how k was chosen, with its numbers */
    const unrelu_warning *warnings;
    size_t warning_count;
    const char *activation; /* that samples went through: "leaky:0.1", "sigmoid"; "": the ReLU */
    double *b_scale_cov;    /* d: covariance of the errors of b and scale; NaN: not known */
    const char *errors;     /* which standard errors: "model", "robust",
                               "bootstrap:200", "cluster:site"; "": not said */
    /* Answers in the data's own unit, of x before censoring: set by fits, and by
     * unrelu_gaussian_answer; NULL in planted models. NaN where a number does not exist (the mean
     * under a Box-Cox power below 0) or its error is not known. Intervals (..._ci) have a lower and
     * an upper end. */
    double level;                     /* of the intervals: 0.95; 0: there are none */
    double *mean, *mean_ci;           /* d, d x 2 */
    double *sd, *sd_ci;               /* d, d x 2 */
    double *median, *median_ci;       /* d, d x 2 */
    double *quantiles, *quantiles_ci; /* d x 2, d x 2 x 2: of 5 % and of 95 % of all values */
    double *ucl95;                    /* d: the mean lies below it with 95 % */
    double *rectified_mean, *rectified_mean_ci; /* d, d x 2: of max(limit, x), as recorded */
    /* How well each column fits samples, by unrelu_gaussian_judge; NULL: nobody asked */
    const char *const *fit; /* d: "good", "slight", "poor"; "": it could not be judged */
    double *ks, *ks_p;      /* d: as of unrelu_goodness */
    /* Of the values as recorded, whatever the transform, so that transforms of the same samples can
     * be compared; NULL where the fit did not maximise it. aic and bic count b, the scale, and a
     * Box-Cox power that was estimated. NaN: a column is constant. */
    double *loglik, *aic, *bic; /* d: of each column by itself */
    double joint_loglik; /* of all columns together: of one, and of more fitted cell by cell; NaN
                          * where it would take too long, and where there is no density */
    /* How the samples were read (unrelu_source_options), for whoever reads others of the kind: */
    const char *indicator, *na; /* "": nothing was said */
    double *top; /* d: top codes, infinite where there is none; NULL: no column has */
    int complete;
    double *joint_loglik_ci; /* 2: of its numerical error, at most +-0.2; NULL: it has none */
} unrelu_gaussian;

UNRELU_API unrelu_status unrelu_gaussian_fit(unrelu_source *source,
                                             const unrelu_gaussian_options *options,
                                             const unrelu_exec *exec, unrelu_gaussian **model,
                                             unrelu_error *err);
UNRELU_API void unrelu_gaussian_free(unrelu_gaussian *model); /* takes NULL */
UNRELU_API unrelu_status unrelu_gaussian_save(const unrelu_gaussian *model, const char *path,
                                              unrelu_error *err);
UNRELU_API unrelu_status unrelu_gaussian_load(const char *path, unrelu_gaussian **model,
                                              unrelu_error *err);
/* The same as a file in memory, to be freed by unrelu_free, and back. So it is with every _pack and
 * _unpack below. */
UNRELU_API unrelu_status unrelu_gaussian_pack(const unrelu_gaussian *model, void **bytes,
                                              size_t *size, unrelu_error *err);
UNRELU_API unrelu_status unrelu_gaussian_unpack(const void *bytes, size_t size,
                                                unrelu_gaussian **model, unrelu_error *err);

/* Sets mean, sd, median, quantiles, ucl95, rectified_mean and their intervals anew, for another
 * level; fits have set those of 0.95. The power of Box-Cox is taken as known. */
UNRELU_API unrelu_status unrelu_gaussian_answer(unrelu_gaussian *model, double level,
                                                unrelu_error *err);
/* The share of x before censoring above a value (of the data's unit) in a column, and the ends
 * ci[2] of its interval, NaN where errors are not known. */
UNRELU_API unrelu_status unrelu_gaussian_exceed(const unrelu_gaussian *model, size_t column,
                                                double value, double level, double *share,
                                                double *ci, unrelu_error *err);

/* y (of the model's scale) to x (of the data's) and back, in column j; increasing */
UNRELU_API double unrelu_gaussian_untransform(const unrelu_gaussian *model, size_t column,
                                              double y);
UNRELU_API double unrelu_gaussian_transform(const unrelu_gaussian *model, size_t column, double x);
/* place (one for each column of samples): which column of the model it is, by name; d: none, it is
 * left out. By place where one of the two has no names of its own, but x1, x2, ... */
UNRELU_API unrelu_status unrelu_gaussian_match(const unrelu_gaussian *model,
                                               const unrelu_source *samples, size_t *place,
                                               unrelu_error *err);
/* Opens a file for the columns of the model, by name, whatever others it has and in its own order;
 * by place where one of the two has no names. Read as the samples of the fit were: by their
 * `indicator`, `na` and `top` where the options (NULL: defaults) say nothing of these ("" says that
 * there is none). Columns that the options name are taken as they say. */
UNRELU_API unrelu_status unrelu_gaussian_source(const unrelu_gaussian *model, const char *path,
                                                const unrelu_source_options *options,
                                                unrelu_source **out, unrelu_error *err);
/* The normal N(b, s^2) that values of a column above `limit` are of, on the model's scale: with
 * additive noise, which is in s then, the limit lies 3.5 deviations of it above 0. */
UNRELU_API void unrelu_gaussian_margin(const unrelu_gaussian *model, size_t column, double *b,
                                       double *s, double *limit);
UNRELU_API const char *unrelu_transform_name(unrelu_transform transform); /* "none", "sqrt", ... */

/* Rows first_row .. first_row + rows - 1 of the stream of samples that `seed` names:
 * any slice can be drawn alone. x is rows x d. */
typedef struct unrelu_sampler unrelu_sampler;
UNRELU_API unrelu_status unrelu_gaussian_sampler(const unrelu_gaussian *model, uint64_t seed,
                                                 unrelu_sampler **out, unrelu_error *err);
UNRELU_API unrelu_status unrelu_sampler_draw(const unrelu_sampler *sampler, size_t first_row,
                                             size_t rows, const unrelu_exec *exec, double *x,
                                             unrelu_error *err);
/* The smallest eigenvalue of the model's correlations where these are indefinite, as those of the
 * paper's algorithm may be: samples are then of the nearest correlations that are not (eigenvalues
 * clipped at 0, scales kept). Else 0. */
UNRELU_API double unrelu_sampler_clipped(const unrelu_sampler *sampler);
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
 * W W' has condition number kappa (the paper's setting); else Gaussian W, unit rows. */
typedef enum {
    UNRELU_BIAS_RECTIFIED = 0, /* max(0, N(0, 1)): the paper's */
    UNRELU_BIAS_NORMAL = 1,    /* N(0, 1) */
    UNRELU_BIAS_FIXED = 2,     /* b_i = bias_value * scale_i */
} unrelu_bias_law;

typedef struct {
    size_t size; /* by unrelu_gaussian_plant_options_init */
    size_t d, k; /* k 0: d */
    double kappa;
    unrelu_bias_law bias;
    double bias_value;
    uint64_t seed;
} unrelu_gaussian_plant_options;

UNRELU_API void unrelu_gaussian_plant_options_init(unrelu_gaussian_plant_options *options,
                                                   size_t size);
UNRELU_API unrelu_status unrelu_gaussian_plant_options_set(unrelu_gaussian_plant_options *options,
                                                           const char *name, const char *value,
                                                           unrelu_error *err);
UNRELU_API int unrelu_gaussian_plant_option(size_t i, unrelu_option *out);
UNRELU_API unrelu_status unrelu_gaussian_plant(const unrelu_gaussian_plant_options *options,
                                               unrelu_gaussian **model, unrelu_error *err);

/* ---- how accurate a fit can be ------------------------------------------------------ */

/* The Cramer-Rao bound: standard errors that no unbiased estimate from n samples of the model
 * beats, one coordinate at a time for b and scale (d), one pair at a time for sigma and
 * correlation (d x d, each may be NULL). The rest of the coordinates tells a little more than the
 * pair alone does: with unequal eigenvalues the bound of a pair is above that of all data. */
UNRELU_API unrelu_status unrelu_gaussian_bound(const unrelu_gaussian *model, double n, double *b_se,
                                               double *scale_se, double *sigma_se,
                                               double *correlation_se, unrelu_error *err);

/* ---- how many samples ----------------------------------------------------------------- */

typedef enum {
    UNRELU_PLAN_GAUSSIAN = 0, /* x = ReLU(W z + b) for an error of b and W W' */
    UNRELU_PLAN_NETWORK = 1,  /* a = U f(V x + c) without noise, recovered exactly */
    UNRELU_PLAN_MIXTURE = 2,  /* x = A ReLU(W z + b) without noise, A recovered exactly */
} unrelu_plan_model;

enum { UNRELU_PLAN_BIASES = 100 };

typedef struct {
    size_t size; /* by unrelu_plan_options_init */
    unrelu_plan_model model;
    size_t d;       /* columns of a sample or input; a mixture may leave it 0: not said */
    size_t k, m;    /* of a network: neurons, columns of a label (0: as many as neurons) */
    size_t p;       /* of a mixture: units */
    double error;   /* Gaussian: that is wanted */
    double failure; /* delta: how often it may fail; 0.05 */
    double kappa;   /* condition number of W W', of a network of V; 1 */
    size_t b_count; /* 0: all are 0 */
    double b[UNRELU_PLAN_BIASES]; /* over the scale of their column, unit or neuron; a shorter list
                                     is gone through again */
} unrelu_plan_options;
UNRELU_API void unrelu_plan_options_init(unrelu_plan_options *options, size_t size);
UNRELU_API unrelu_status unrelu_plan_options_set(unrelu_plan_options *options, const char *name,
                                                 const char *value, unrelu_error *err);
UNRELU_API int unrelu_plan_option(size_t i, unrelu_option *out);

typedef enum {
    UNRELU_BOUND_ENOUGH = 0, /* n is enough */
    UNRELU_BOUND_NEEDED = 1, /* with fewer than n nobody can, or nobody can always */
} unrelu_bound_role;
typedef enum {
    UNRELU_CONSTANT_EXPLICIT = 0, /* n is what the bound says */
    UNRELU_CONSTANT_OPEN = 1,     /* a rate, O(.) or Omega(.), whose constant is taken as 1 */
    UNRELU_CONSTANT_MEASURED = 2, /* n is what was enough in runs, and `source` says which */
} unrelu_bound_constant;

typedef struct {
    const char *name;  /* "theorem-1", for programs */
    const char *title; /* "Theorem 1", for people */
    const char *says;  /* what n is for, and the formula */
    const char *assumes;
    const char *source;
    unrelu_bound_role role;
    unrelu_bound_constant constant;
    int holds;           /* whether what it assumes holds for the options */
    const char *because; /* where it does not: the reason */
    double n;            /* NaN where it does not hold; infinite beyond the range of a double */
    double error_at_one; /* of the Cramer-Rao bound: the error is this over sqrt(n); else NaN */
} unrelu_plan_bound;

typedef struct unrelu_plan unrelu_plan;
/* Every bound that speaks of such a model, those that do not apply with their reason. */
UNRELU_API unrelu_status unrelu_plan_make(const unrelu_plan_options *options, unrelu_plan **plan,
                                          unrelu_error *err);
UNRELU_API const unrelu_plan_bound *unrelu_plan_bound_at(const unrelu_plan *plan,
                                                         size_t i); /* NULL after the last */
UNRELU_API void unrelu_plan_free(unrelu_plan *plan);                /* takes NULL */

/* The eigenvalues (d, decreasing) of the model's sigma: those it has, or computed now.
 * UNRELU_EDATA where an entry of sigma is not finite. */
UNRELU_API unrelu_status unrelu_gaussian_eigenvalues(const unrelu_gaussian *model, double *values,
                                                     unrelu_error *err);

/* z with P(N(0, 1) < z) = p; -inf at 0, inf at 1, NaN outside. An interval of level 0.95 is
 * estimate +- unrelu_normal_quantile(0.975) standard errors. */
UNRELU_API double unrelu_normal_quantile(double p);

/* ---- how well a model fits samples --------------------------------------------------- */

typedef struct {
    size_t size;   /* by unrelu_goodness_options_init */
    size_t bins;   /* of the histograms of values that are not censored; 0: 40 */
    size_t points; /* of the quantile plots; 0: 100 */
    size_t runs;   /* simulated samples behind a p-value; 0: 999 */
    uint64_t seed;
    const double *limit;   /* one for each column of the samples, or NULL: of cells 'ND' and 0; NaN:
                              the column has none */
    unrelu_source *limits; /* as large as the samples, or NULL: of each such cell; NaN: none */
    const size_t *pairs;   /* pair_count x 2 columns of the model, whose joint fit is looked at */
    size_t pair_count, pair_rows; /* pair_rows: of each that are given to be drawn; 0: 400 */
} unrelu_goodness_options;

UNRELU_API void unrelu_goodness_options_init(unrelu_goodness_options *options, size_t size);
UNRELU_API unrelu_status unrelu_goodness_options_set(unrelu_goodness_options *options,
                                                     const char *name, const char *value,
                                                     unrelu_error *err);
UNRELU_API int unrelu_goodness_option(size_t i, unrelu_option *out);

/* Column by column; a value is in the model's own scale (transformed where the model is). Made by
 * the library. */
typedef struct {
    unrelu_model model;
    size_t d, n, bins, points;
    double *observed, *censored; /* d: cells that are not missing; of these, censored */
    double *edges;               /* d x (bins + 1) */
    double *counts;              /* d x bins: cells; where limits differ, shares of the
                                    estimated distribution (unrelu_columns_distance), in cells */
    double *sample_quantile;     /* d x points: at the shares (i + 1/2) / points; NaN where
                                    censored */
    double *model_quantile;      /* d x points */
    double *ks, *ks_p;           /* d: largest distance of the distribution functions over
                                    all values that were seen (of rounded ones at the edges of
                                    their rounding alone); the share of simulated samples, rounded
                                    and fitted again likewise, with a larger one, distances
                                    counting less where cells hide by several limits */
    double *ties;                /* d: share of uncensored cells whose value occurs again */
    /* Of each pair that the options name: a cut of each column parts the rows into four, both above
     * it, the first alone, the second alone, neither; of three such cuts, at quarters, the one
     * where the pair fits worst. A row whose cells leave it open counts with how likely each is by
     * the model. */
    size_t pairs, pair_rows;  /* how many; rows of each in pair_cells */
    double *pair_observed;    /* pairs: rows in which neither is missing */
    double *pair_cut;         /* pairs x 2; NaN: nothing is known of a column */
    double *pair_correlation; /* pairs: of the columns as they are, noise included */
    double *pair_share;       /* pairs x 4: of the rows */
    double *pair_fitted;      /* pairs x 4: by the model */
    double *pair_misfit;      /* pairs: the largest difference of these in standard errors */
    double *pair_cells;       /* pairs x (pair_rows x 2): values, limits, middles of intervals;
                                 NaN: there are fewer rows */
    uint8_t *pair_states;     /* pairs x (pair_rows x 2): 0 seen, 1 at or below, 2 missing, 3 at or
                                 above, 4 between two ends */
} unrelu_goodness;

UNRELU_API unrelu_status unrelu_gaussian_goodness(const unrelu_gaussian *model,
                                                  unrelu_source *samples,
                                                  const unrelu_goodness_options *options,
                                                  const unrelu_exec *exec, unrelu_goodness **out,
                                                  unrelu_error *err);
UNRELU_API void unrelu_goodness_free(unrelu_goodness *goodness); /* takes NULL */

/* How far each column is from the censored normal fitted to it, where cells may have limits of
 * their own; NaN where a column cannot be fitted. ks, ks_p and ties (d) as of unrelu_goodness, over
 * all values seen, by the reversed Kaplan-Meier estimate of their distribution (Turnbull's where
 * cells lie above limits or between two); p by simulation with the column's limits. There are no
 * bins and no points. */
UNRELU_API unrelu_status unrelu_columns_distance(unrelu_source *samples,
                                                 const unrelu_goodness_options *options,
                                                 const unrelu_exec *exec, double *ks, double *ks_p,
                                                 double *ties, unrelu_error *err);

/* How well a column fits, by the one rule of all commands: slight is a distance that is there (p
 * below 0.05 / columns, at least 0.002) and below 0.05, poor one that is there and larger; else
 * good, where 10 of its values or more were seen: fewer cannot tell. Unknown too where one of the
 * two is NaN. columns: how many are judged together. */
typedef enum {
    UNRELU_FIT_UNKNOWN,
    UNRELU_FIT_GOOD,
    UNRELU_FIT_SLIGHT,
    UNRELU_FIT_POOR
} unrelu_fit_word;
UNRELU_API unrelu_fit_word unrelu_fit_judge(double ks, double ks_p, double seen, size_t columns);
UNRELU_API const char *
unrelu_fit_word_name(unrelu_fit_word word); /* "", "good", "slight", "poor" */
/* Sets fit, ks and ks_p of the model by unrelu_gaussian_goodness of these samples. */
UNRELU_API unrelu_status unrelu_gaussian_judge(unrelu_gaussian *model, unrelu_source *samples,
                                               const unrelu_goodness_options *options,
                                               const unrelu_exec *exec, unrelu_error *err);

/* Which transform makes a column, or all of them, most like a censored normal */
typedef struct {
    unrelu_transform transform; /* the plainest that the data do not speak against */
    double lambda;  /* the one that a fit with boxcox estimates; NaN: too little is seen, values are
                       below 0, or there are more than 20000 rows and Box-Cox is not advised */
    double lost[3]; /* by none, sqrt and log against the best lambda: twice the logarithm of the
                       likelihoods' ratio */
    size_t values;  /* that were seen, of those looked at */
    /* What was advised, tried: the distance and its p, as of unrelu_columns_distance, of the column
     * under its own transform, and under the one for all columns; NaN where that is none. */
    double ks, ks_p, shared_ks, shared_ks_p;
} unrelu_transform_advice;

/* limit (d, or NULL) and limits (n x d, or NULL) as of unrelu_impute_options. advice has room for
 * d + 1: each column, then one transform for all of them together (lambda NaN). A zero without a
 * limit counts as below the smallest value of its column, whatever the transform, so that all are
 * compared on the same data. At most 20000 rows are looked at, evenly spread. */
UNRELU_API unrelu_status unrelu_transform_suggest(unrelu_source *samples, const double *limit,
                                                  unrelu_source *limits, const unrelu_exec *exec,
                                                  unrelu_transform_advice *advice,
                                                  unrelu_error *err);

/* ---- filling what was hidden ----------------------------------------------------------- */

typedef struct {
    size_t size;   /* by unrelu_impute_options_init */
    size_t draws;  /* 0: conditional means; else that many imputations of every hidden cell */
    size_t sweeps; /* of the Gibbs sampler behind a mean, or between two draws; 0: a default */
    const double *limit;   /* d, or NULL: of cells 'ND' and 0; NaN: the column has none */
    unrelu_source *limits; /* n x d, or NULL: of each such cell; NaN: none */
    uint64_t seed;
    const char *const *names; /* of the samples' columns in the output; NULL: their own */
    int median;               /* conditional medians in place of means */
    /* draws: 1: all of the model as it stands; 0: before each of them b, scale and correlation are
     * drawn from their errors, so that intervals of what is computed of the imputations (Rubin's
     * rules) know of these */
    int fixed_parameters;
    /* CSV: an apostrophe before names and texts that a spreadsheet would run as formulas */
    int spreadsheet_safe;
} unrelu_impute_options;

UNRELU_API void unrelu_impute_options_init(unrelu_impute_options *options, size_t size);
UNRELU_API unrelu_status unrelu_impute_options_set(unrelu_impute_options *options, const char *name,
                                                   const char *value, unrelu_error *err);
UNRELU_API int unrelu_impute_option(size_t i, unrelu_option *out);

typedef struct {
    size_t rows, censored, missing; /* cells of the samples */
    size_t written;                 /* rows of the output: rows, or draws x rows */
} unrelu_impute_report;

/* Samples of the model's columns, by name or place, to a file (as unrelu_sink_open); from a file of
 * more columns those of the model are taken by name. The output is .npy of these alone, or CSV with
 * all other columns of a CSV file as they are written there; of draws it begins with the columns
 * .imp, the number of the draw, and .id, the row, both from 1. Censored and
 * missing cells become their conditional means given the cells of the row that were seen (and that
 * the others lie below their limits), in the unit of the data: of a transformed model E[x], not the
 * mean of the transform mapped back. Or their medians, or draws from their conditional law, draw
 * after draw; all other cells stay as they are. */
UNRELU_API unrelu_status unrelu_gaussian_impute(const unrelu_gaussian *model,
                                                unrelu_source *samples,
                                                const unrelu_impute_options *options,
                                                const char *path, const unrelu_exec *exec,
                                                unrelu_impute_report *report, unrelu_error *err);

/* The same into x, which has room for all rows of the columns of the model in the order of the
 * samples, draw after draw: draws x n x d, or n x d. What it holds where the call fails is not
 * said. */
UNRELU_API unrelu_status unrelu_gaussian_impute_memory(
    const unrelu_gaussian *model, unrelu_source *samples, const unrelu_impute_options *options,
    double *x, const unrelu_exec *exec, unrelu_impute_report *report, unrelu_error *err);

/* loglik (a number for each row of the samples): the logarithm of the density of the cells that
 * were seen and of the probability that the others lie where they are known to, in the unit of the
 * data. Missing cells are left out; NaN where columns follow from others, so that there is no
 * density. error (as many, or NULL): standard errors of the integrals over more than two hidden
 * cells, 0 where there are none. Of the options limit and limits are looked at. */
UNRELU_API unrelu_status unrelu_gaussian_score(const unrelu_gaussian *model, unrelu_source *samples,
                                               const unrelu_impute_options *options,
                                               const unrelu_exec *exec, double *loglik,
                                               double *error, unrelu_error *err);

/* ---- summaries of shards ----------------------------------------------------------- */

typedef struct unrelu_summary unrelu_summary;

/* One pass, always in double. options (NULL: defaults): censor_at is looked at, and a transform
 * that undoes an activation, which the summary keeps. groups:
 * 10 keeps ten sub-sums for the jackknife errors of eigenvalues, 1 keeps none. */
UNRELU_API unrelu_status unrelu_summary_collect(unrelu_source *source,
                                                const unrelu_gaussian_options *options,
                                                size_t groups, const unrelu_exec *exec,
                                                unrelu_summary **out, unrelu_error *err);
UNRELU_API unrelu_status unrelu_summary_load(const char *path, unrelu_summary **out,
                                             unrelu_error *err);
UNRELU_API unrelu_status unrelu_summary_save(const unrelu_summary *summary, const char *path,
                                             unrelu_error *err);
UNRELU_API unrelu_status unrelu_summary_pack(const unrelu_summary *summary, void **bytes,
                                             size_t *size, unrelu_error *err);
UNRELU_API unrelu_status unrelu_summary_unpack(const void *bytes, size_t size, unrelu_summary **out,
                                               unrelu_error *err);
/* into += from; both must be of the same columns, limits and activation. Where they have different
 * numbers of groups, into has one then. */
UNRELU_API unrelu_status unrelu_summary_merge(unrelu_summary *into, const unrelu_summary *from,
                                              unrelu_error *err);
UNRELU_API void unrelu_summary_free(unrelu_summary *summary);
UNRELU_API size_t unrelu_summary_rows(const unrelu_summary *summary);
UNRELU_API size_t unrelu_summary_columns(const unrelu_summary *summary);
/* that samples went through, undone where they were read: "leaky:0.1", "sigmoid"; else "relu" */
UNRELU_API const char *unrelu_summary_activation(const unrelu_summary *summary);
UNRELU_API unrelu_status unrelu_gaussian_fit_summary(const unrelu_summary *summary,
                                                     const unrelu_gaussian_options *options,
                                                     const unrelu_exec *exec,
                                                     unrelu_gaussian **model, unrelu_error *err);

/* ---- the two-layer network a = U f(V x + c) + e ------------------------------------ */

typedef enum {
    UNRELU_RELU = 0,     /* max(0, t) */
    UNRELU_POWER = 1,    /* max(0, t)^parameter */
    UNRELU_EXPM1 = 2,    /* exp(t) - 1 for t > 0, else 0 */
    UNRELU_EXPM1SQ = 3,  /* exp(t^2) - 1 for t > 0, else 0 */
    UNRELU_LEAKY = 4,    /* t for t > 0, else parameter t */
    UNRELU_TANH_POS = 5, /* tanh(t) for t > 0, else 0 */
} unrelu_activation_kind;

typedef struct {
    unrelu_activation_kind kind;
    double parameter; /* power: exponent > 0; leaky: slope in (0, 1) or below 0 */
} unrelu_activation;

/* "relu", "power:2", "expm1", "expm1sq", "leaky:0.1", "tanh"; and back */
UNRELU_API unrelu_status unrelu_activation_parse(const char *text, unrelu_activation *out,
                                                 unrelu_error *err);
UNRELU_API void unrelu_activation_name(unrelu_activation f, char *out, size_t size);

typedef enum {
    UNRELU_RECOVER_AUTO = 0,      /* exact; where that does not reach the floor, the noisy fit */
    UNRELU_RECOVER_EXACT = 1,     /* pattern-CCA fixed points */
    UNRELU_RECOVER_MOMENTS = 2,   /* second-order score tensor, then maximum likelihood */
    UNRELU_RECOVER_ICA = 3,       /* Algorithm 3 of the two-layer paper */
    UNRELU_RECOVER_TENSOR = 4,    /* Algorithm 4 */
    UNRELU_RECOVER_SYMMETRIC = 5, /* section 4.3: Ge, Kuditipudi, Li, Wang */
    UNRELU_RECOVER_LIFTED = 6,    /* null space of the lifted complementarity */
    UNRELU_RECOVER_FACETS = 7,    /* facets of the cone of the labels */
    UNRELU_RECOVER_ENUMERATE =
        8, /* Theorem 1: any inputs, labels of rank k; also proves that none fits
            */
    UNRELU_RECOVER_ONE_SPARSE = 9,    /* Algorithm 7: any U, fewer labels than neurons too */
    UNRELU_RECOVER_ANY_NOISE = 10,    /* Algorithm 8: noise of any shape that is independent of x */
    UNRELU_RECOVER_SPARSE_NOISE = 11, /* Corollary 8: some labels wrong by any amount */
    UNRELU_RECOVER_SIGNLESS = 12,     /* rows without signs first: fewer labels than neurons */
    UNRELU_RECOVER_START = 13,        /* from the network that `start` names */
} unrelu_recover_method;

/* what there is to know of a method, for tables and help texts */
typedef struct {
    const char *name;    /* "one-sparse" */
    const char *needs;   /* of the data */
    const char *theorem; /* what is promised */
    const char *checks;  /* what a run can check beside its conditions */
} unrelu_method;
/* the methods in the order of unrelu_recover_method: 1, or 0 after the last */
UNRELU_API int unrelu_recover_method_at(size_t i, unrelu_method *out);
/* the conditions of its theorem, and how a run tests them: 1, or 0 after the last */
typedef struct {
    const char *theorem; /* "Theorem 10" */
    const char *what;    /* is asked */
    const char *how;     /* it is tested */
} unrelu_condition;
UNRELU_API int unrelu_recover_condition_at(size_t method, size_t i, unrelu_condition *out);

typedef enum {
    UNRELU_SIGNS_REGRESSION = 0,
    UNRELU_SIGNS_PROJECTION = 1, /* Algorithm 6 */
    UNRELU_SIGNS_MOMENT = 2,
} unrelu_signs;

typedef enum {
    UNRELU_EXACTIFY_CCA = 0,
    UNRELU_EXACTIFY_SYSTEMS = 1, /* Algorithm 5; steps 4 to 8 of Algorithm 3 */
    UNRELU_EXACTIFY_NONE = 2,
} unrelu_exactify;

typedef enum {
    UNRELU_LABELS_AUTO = 0,
    UNRELU_LABELS_NOISELESS = 1,
    UNRELU_LABELS_NOISY = 2
} unrelu_labels;

typedef enum {
    UNRELU_BIASES_AUTO = 0,
    UNRELU_BIASES_NONE = 1,
    UNRELU_BIASES_HIDDEN = 2, /* c */
    UNRELU_BIASES_BOTH = 3,   /* c and e */
    UNRELU_BIASES_OUTPUT = 4, /* e */
} unrelu_biases;

typedef struct {
    size_t size; /* by unrelu_recover_options_init */
    unrelu_recover_method method;
    size_t k;  /* 0: found out */
    int order; /* tensor: 2, 3 or 4 */
    unrelu_signs signs;
    unrelu_exactify exactify;
    unrelu_labels labels;
    unrelu_biases biases;
    unrelu_activation activation;
    int literal; /* one-sparse: Algorithm 7 as it is printed, and nothing else; tensor: Algorithm
                    4, whose order is 3 unless it is 4; any-noise: Algorithm 8 */
    int pcp;     /* sparse-noise: by principal component pursuit, as the paper does it */
    int certify; /* integer or rational data: the exact fit again, in exact arithmetic */
    uint64_t budget; /* candidates after which the last four methods give up; 0: a default */
    uint64_t seed;
    int robust; /* labels with noise by Huber's objective instead of least squares */
    /* start: Gauss-Newton from the weights of this network, which is borrowed; k is its k, and with
     * biases auto those are fitted that it has */
    const struct unrelu_network *start;
    /* labels are natural logarithms of the probabilities of m classes; learned are the m - 1
     * differences to the last class, as which the network's logits are known */
    int log_probabilities;
    /* seconds of the clock after which the best network so far is returned, with the verdict
     * "incomplete"; the last step over all rows comes after them. 0: none. What is found by then
     * depends on the machine: with a limit the same seed need not give the same network. */
    double time_limit;
} unrelu_recover_options;

UNRELU_API void unrelu_recover_options_init(unrelu_recover_options *options, size_t size);
UNRELU_API unrelu_status unrelu_recover_options_set(unrelu_recover_options *options,
                                                    const char *name, const char *value,
                                                    unrelu_error *err);
UNRELU_API int unrelu_recover_option(size_t i, unrelu_option *out);

typedef enum {
    UNRELU_VERDICT_PLANTED = 0, /* not learned */
    UNRELU_VERDICT_EXACT = 1,
    UNRELU_VERDICT_UNCERTIFIED =
        2, /* "exact-uncertified": fits to rounding, not shown to be unique */
    UNRELU_VERDICT_NOISY = 3,
    UNRELU_VERDICT_FAILED = 4,    /* no network: U, V, c, e are NULL, `failure` says why */
    UNRELU_VERDICT_AMBIGUOUS = 5, /* mixtures: another A may do as well, the likeliest is taken */
    /* networks: none that was found meets the labels, and what the best one leaves is a function of
     * the inputs, not noise; there are no standard errors */
    UNRELU_VERDICT_APPROXIMATE = 6,
    /* networks: the time limit was reached, or the caller wanted no more; this is the closest that
     * was found until then, and the warning "stopped" says what is missing */
    UNRELU_VERDICT_INCOMPLETE = 7,
} unrelu_verdict;
UNRELU_API const char *unrelu_verdict_name(unrelu_verdict verdict);

/* A rule that a model must keep for its verdict. Every one that is broken is told by a warning of
 * its code; the first of them gives the verdict. */
typedef struct {
    const char *code;     /* "not-identifiable" */
    const char *sentence; /* what is asked */
    unrelu_verdict worst; /* of a model that breaks it; UNRELU_VERDICT_EXACT: it is only told */
} unrelu_rule;
/* the rules of an exact fit by unrelu_recover, and of unrelu_unmix, the most important first: 1, or
 * 0 after the last */
UNRELU_API int unrelu_recover_rule_at(size_t i, unrelu_rule *out);
UNRELU_API int unrelu_unmix_rule_at(size_t i, unrelu_rule *out);

/* A learned (or planted) network, made by the library and freed by unrelu_network_free. Rows of V
 * have unit length where f is homogeneous; neurons are ordered by decreasing column norm of U.
 * Standard errors are NULL where the fit is exact. */
typedef struct unrelu_network {
    unrelu_model model;
    size_t d, k, m, n;
    const char *const *input_names, *const *label_names; /* d, m */
    unrelu_activation activation;
    const char *activation_name; /* "relu", "leaky:0.1" */
    double *U, *V, *c, *e;       /* m x k, k x d, k, m */
    double *U_se, *V_se, *c_se, *e_se;
    double noise;   /* standard deviation of the labels' noise; 0: none */
    double *active; /* k: share of the samples where the neuron is on */
    unrelu_verdict verdict;
    double residual;         /* |A - U f(V X + c) - e|_F / |A|_F over all samples */
    double holdout_residual; /* over rows the solver did not see; NaN: none were kept back */
    size_t samples_checked;  /* rows of the certificate: all of them */
    size_t min_active, min_inactive; /* samples on the two sides of the rarest kinks */
    double gap; /* smallest 1 - rho_2 of the neurons' patterns; NaN: not measured */
    size_t starts, starts_agree; /* noisy: how many starts, how many reached the best fit */
    size_t linear_rank;          /* rank of the part that is linear in x: pairs v, -v */
    int proof; /* verdict "failed": every candidate was looked at, and no network of k neurons fits
                */
    double objective, objective_bound; /* any-noise: |A - U f(V X) - e|_F, and a lower estimate of
                                          what any network of k neurons leaves; else NaN */
    size_t corrupted; /* sparse-noise: cells of the labels that are not the network's, */
    double *E_row, *E_column, *E_value; /* where they are (from 0 on), and by how much */
    double incoherence;                 /* sparse-noise: mu of the labels without them; else NaN */
    /* k x d, m x k: integers or fractions with which the labels are met exactly; NULL: not asked
     * for, or not found */
    const char *const *V_rational, *const *U_rational;
    const char *method, *biases, *precision;
    const char *how_k;      /* how k was chosen, with its numbers */
    const char *guarantee;  /* what theorem stands behind the method */
    const char *assumption; /* which of its assumptions was checked, and how it came out */
    const char *failure;    /* why there is no network; else "" */
    uint64_t seed;
    const unrelu_warning *warnings;
    size_t warning_count;
    const char *guarantee_holds; /* "yes", "no", "untested": whether its theorem's conditions do */
    const char *guarantee_because; /* the figures that decide */
    /* of all rows: of [x 1] less 1 where c is fitted or `biases` is auto, else of x; below d
     * nothing is known off the span of the inputs. 0: not known */
    size_t inputs_rank;
    /* what unrelu_recover tried, in order, each with how it ended: "signless: no exact network was
     * found with ..." */
    const char *const *tried;
    size_t tried_count;
} unrelu_network;

/* inputs (n, d) and labels (n, m), row by row. Both are held in memory. The status is OK also
 * where the verdict is "failed". */
UNRELU_API unrelu_status unrelu_recover(unrelu_source *inputs, unrelu_source *labels,
                                        const unrelu_recover_options *options,
                                        const unrelu_exec *exec, unrelu_network **model,
                                        unrelu_error *err);
/* A network from anywhere (`network`: weights of any program) held against inputs and labels: the
 * certificate and the rules of unrelu_recover, its verdicts, the same members. Weights stay as they
 * are, but for the order and the scale of neurons. Where the labels are not met and what is left
 * can be noise about these weights, the verdict is "noisy", without standard errors; else
 * "approximate". Of the options biases, activation, certify and seed are looked at. */
UNRELU_API unrelu_status unrelu_certify(const unrelu_network *network, unrelu_source *inputs,
                                        unrelu_source *labels,
                                        const unrelu_recover_options *options,
                                        const unrelu_exec *exec, unrelu_network **model,
                                        unrelu_error *err);
UNRELU_API void unrelu_network_free(unrelu_network *model); /* takes NULL */
UNRELU_API unrelu_status unrelu_network_save(const unrelu_network *model, const char *path,
                                             unrelu_error *err);
UNRELU_API unrelu_status unrelu_network_pack(const unrelu_network *model, void **bytes,
                                             size_t *size, unrelu_error *err);
UNRELU_API unrelu_status unrelu_network_unpack(const void *bytes, size_t size,
                                               unrelu_network **model, unrelu_error *err);
/* a file of ours, or weights of PyTorch, .safetensors or .npz: docs/formats.md */
UNRELU_API unrelu_status unrelu_network_load(const char *path, unrelu_network **model,
                                             unrelu_error *err);
/* The weights alone, for other programs, by the ending of path: .safetensors (what
 * unrelu_network_load reads, and PyTorch: 0.weight, 0.bias, 2.weight, 2.bias) or .onnx (a graph
 * from x to y that runtimes run). In double precision, or rounded where float32 is nonzero. */
UNRELU_API unrelu_status unrelu_network_export(const unrelu_network *model, const char *path,
                                               int float32, unrelu_error *err);
/* y (n, m) = U f(V x + c) + e for x (n, d) */
UNRELU_API unrelu_status unrelu_network_predict(const unrelu_network *model, const double *x,
                                                size_t n, const unrelu_exec *exec, double *y,
                                                unrelu_error *err);
/* the same from a file to a sink, block by block; its columns are found by the names of the inputs,
 * in any order and among others, or by place where it has none of these names */
UNRELU_API unrelu_status unrelu_network_predict_source(const unrelu_network *model,
                                                       unrelu_source *inputs, const char *path,
                                                       const unrelu_exec *exec, size_t *rows,
                                                       unrelu_error *err);

/* Neurons are matched one to one (least total error), after scaling to unit rows of V where f
 * is homogeneous. Where the two have different k, the unmatched ones are counted. */
typedef struct {
    double V_max, V_frobenius; /* of V - V*, matched neurons */
    double U_max, U_frobenius; /* relative to |U*|: max |U - U*| / max |U*|, Frobenius */
    double c_max, c_frobenius, e_max, e_frobenius;
    double function_error; /* rms of the difference of outputs at 1000 normal inputs, relative */
    size_t matched, missing, extra;
} unrelu_network_distance;
UNRELU_API unrelu_status unrelu_network_compare(const unrelu_network *truth,
                                                const unrelu_network *model,
                                                unrelu_network_distance *distance,
                                                unrelu_error *err);

typedef enum {
    UNRELU_INPUTS_NORMAL = 0,
    UNRELU_INPUTS_UNIFORM = 1, /* on [-sqrt 3, sqrt 3] */
    UNRELU_INPUTS_BINARY = 2,  /* -1 or 1 */
    UNRELU_INPUTS_T3 = 3,      /* Student, 3 degrees of freedom, as it comes */
    UNRELU_INPUTS_LAPLACE = 4, /* unit variance */
    UNRELU_INPUTS_MIXTURE = 5, /* three normal clusters, not symmetric */
} unrelu_inputs;

typedef struct {
    size_t size; /* by unrelu_network_plant_options_init */
    size_t d, k, m;
    double kappa_v, kappa_u; /* condition numbers of V and U; 0: as random matrices have them */
    double bias;             /* c and e are N(0, bias^2) */
    unrelu_activation activation;
    unrelu_inputs inputs;
    double kappa_x; /* condition number of the inputs' covariance; 1: as the law has it */
    double noise;   /* of the labels, relative to their root mean square about the mean */
    uint64_t seed;
    /* above 0 (at most 1): not a random network but that of Lemma 16 of the two-layer paper, whose
     * V has the condition number 1 / lemma16. Needs d = k = 2 and m = 1, ReLU, no biases and no
     * noise; set by name it sets d, k and m too. */
    double lemma16;
} unrelu_network_plant_options;
UNRELU_API void unrelu_network_plant_options_init(unrelu_network_plant_options *options,
                                                  size_t size);
UNRELU_API unrelu_status unrelu_network_plant_options_set(unrelu_network_plant_options *options,
                                                          const char *name, const char *value,
                                                          unrelu_error *err);
UNRELU_API int unrelu_network_plant_option(size_t i, unrelu_option *out);
/* U is scaled such that the labels have unit root mean square about their mean (estimated from
 * 2000 inputs of the law); with lemma16 the labels are (f(x1 + A x2) + f(x1 - A x2)) / 2 */
UNRELU_API unrelu_status unrelu_network_plant(const unrelu_network_plant_options *options,
                                              unrelu_network **model, unrelu_error *err);
/* Rows first_row .. of the stream of inputs (rows x d) that options name, and of labels with
 * noise (rows x m) for them; a may be NULL, and then truth may be NULL. */
UNRELU_API unrelu_status unrelu_network_draw(const unrelu_network_plant_options *options,
                                             const unrelu_network *truth, size_t first_row,
                                             size_t rows, const unrelu_exec *exec, double *x,
                                             double *a, unrelu_error *err);

/* ---- the mixture x = A ReLU(W z + b) + noise --------------------------------------- */

typedef enum {
    UNRELU_UNMIX_FACETS = 0,    /* facets of the samples' cone: n grows as p */
    UNRELU_UNMIX_SEPARABLE = 1, /* the paper's way: every unit is alone in some sample */
} unrelu_unmix_method;

typedef struct {
    size_t size; /* by unrelu_unmix_options_init */
    unrelu_unmix_method method;
    size_t p; /* 0: found out */
    uint64_t seed;
} unrelu_unmix_options;

UNRELU_API void unrelu_unmix_options_init(unrelu_unmix_options *options, size_t size);
UNRELU_API unrelu_status unrelu_unmix_options_set(unrelu_unmix_options *options, const char *name,
                                                  const char *value, unrelu_error *err);
UNRELU_API int unrelu_unmix_option(size_t i, unrelu_option *out);

/* A learned (or planted) mixture of d columns and p hidden units. Columns of A have unit length;
 * units are ordered by decreasing root mean square. A is known to rounding where the verdict is
 * exact (A_se NULL); W W' and b are estimates at any verdict, their errors are given A. */
typedef struct {
    unrelu_model model;
    size_t d, p, n;
    const char *const *names; /* d */
    double *A, *A_se;         /* d x p */
    unrelu_gaussian *hidden;  /* of the units u1, u2, ...; its warnings are below */
    double noise;             /* standard deviation of the noise of every column; 0: none */
    double relative_noise;    /* noise over the root mean square of the samples */
    unrelu_verdict verdict;
    double residual; /* |X - M A'|_F / |X|_F over all samples, M >= 0 the hidden units; where
                        there is no noise each column of X is first divided by its own size */
    double negative; /* how far a unit is below 0, at most, relative to its sample; with noise, in
                        deviations of that */
    size_t samples_checked; /* rows of the certificate: all of them */
    size_t facets;          /* found; other than p only where the verdict is ambiguous */
    size_t min_off;         /* samples on the facet that has fewest: its unit is off, others on */
    size_t tries;
    const char *method, *precision;
    const char *how_p; /* how p was chosen, with its numbers */
    uint64_t seed;
    const unrelu_warning *warnings;
    size_t warning_count;
} unrelu_mixture;

/* The samples are held in memory. */
UNRELU_API unrelu_status unrelu_unmix(unrelu_source *source, const unrelu_unmix_options *options,
                                      const unrelu_exec *exec, unrelu_mixture **model,
                                      unrelu_error *err);
UNRELU_API void unrelu_mixture_free(unrelu_mixture *model); /* takes NULL */
UNRELU_API unrelu_status unrelu_mixture_save(const unrelu_mixture *model, const char *path,
                                             unrelu_error *err);
UNRELU_API unrelu_status unrelu_mixture_load(const char *path, unrelu_mixture **model,
                                             unrelu_error *err);
UNRELU_API unrelu_status unrelu_mixture_pack(const unrelu_mixture *model, void **bytes,
                                             size_t *size, unrelu_error *err);
UNRELU_API unrelu_status unrelu_mixture_unpack(const void *bytes, size_t size,
                                               unrelu_mixture **model, unrelu_error *err);
/* samples with noise, by unrelu_sampler_draw: x is rows x d */
UNRELU_API unrelu_status unrelu_mixture_sampler(const unrelu_mixture *model, uint64_t seed,
                                                unrelu_sampler **out, unrelu_error *err);

/* Units are matched one to one by their columns of A (least total distance), after scaling these
 * to unit length. Where the two have different p, the unmatched ones are counted and `hidden` is
 * of the matched ones. */
typedef struct {
    double A_max, A_column; /* largest |A - A*|: of an entry, of a column */
    double A_frobenius;     /* |A - A*|_F */
    double b_max, sigma_max;
    unrelu_gaussian_distance hidden;
    size_t matched, missing, extra;
} unrelu_mixture_distance;
UNRELU_API unrelu_status unrelu_mixture_compare(const unrelu_mixture *truth,
                                                const unrelu_mixture *model,
                                                unrelu_mixture_distance *distance,
                                                unrelu_error *err);

/* A has normal entries and columns of unit length; W as in unrelu_gaussian_plant (k > p too),
 * times one factor such that the samples have unit root mean square. */
typedef struct {
    size_t size;    /* by unrelu_mixture_plant_options_init */
    size_t d, p, k; /* k 0: p */
    double kappa;   /* condition number of W W' where k = p */
    unrelu_bias_law bias;
    double bias_value;
    double noise; /* standard deviation; relative to the root mean square as well */
    uint64_t seed;
} unrelu_mixture_plant_options;
UNRELU_API void unrelu_mixture_plant_options_init(unrelu_mixture_plant_options *options,
                                                  size_t size);
UNRELU_API unrelu_status unrelu_mixture_plant_options_set(unrelu_mixture_plant_options *options,
                                                          const char *name, const char *value,
                                                          unrelu_error *err);
UNRELU_API int unrelu_mixture_plant_option(size_t i, unrelu_option *out);
UNRELU_API unrelu_status unrelu_mixture_plant(const unrelu_mixture_plant_options *options,
                                              unrelu_mixture **model, unrelu_error *err);

/* ---- the hardness reduction ----------------------------------------------------------- */

/* A formula as a question to two neurons: is there V (k x d, k = 2) with alpha f(V X') = A', f the
 * ReLU and alpha = (1, 1), or any where variable_alpha says so? There is exactly where the formula
 * can be satisfied. All numbers are small integers and halves. Padded (Theorem 2), alpha has m rows
 * and k columns: zeros but for the first two of the first row, and A columns of zeros. */
typedef struct {
    unrelu_model model;
    size_t variables; /* of the formula; d is 3 more, or 4 where alpha is variable */
    size_t d, n;
    int variable_alpha;
    double *X;     /* n x d */
    double *A;     /* n x m */
    size_t k, m;   /* 2 and 1, or more where it is padded */
    double *alpha; /* m x k; NULL where it is variable */
} unrelu_hardness; /* made by the library */

/* The formula of a DIMACS file, "-": standard input. What does not parse is EFORMAT with line and
 * column. */
UNRELU_API unrelu_status unrelu_hardness_encode(const char *path, int variable_alpha,
                                                unrelu_hardness **instance, unrelu_error *err);
/* The same question of k >= 2 neurons and m >= 1 labels: alpha and A get columns and rows of zeros.
 * A variable alpha is EUSAGE: the theorem says it of k = 2 alone. */
UNRELU_API unrelu_status unrelu_hardness_pad(unrelu_hardness *instance, size_t k, size_t m,
                                             unrelu_error *err);
UNRELU_API void unrelu_hardness_free(unrelu_hardness *instance); /* takes NULL */
UNRELU_API unrelu_status unrelu_hardness_save(const unrelu_hardness *instance, const char *path,
                                              unrelu_error *err);
UNRELU_API unrelu_status unrelu_hardness_load(const char *path, unrelu_hardness **instance,
                                              unrelu_error *err);
/* V (k x d) of an assignment: 3 is x3 true, -3 is x3 false, and so is what is not mentioned. Rows
 * beyond the second, which alpha does not look at, are 0. */
UNRELU_API unrelu_status unrelu_hardness_assign(const unrelu_hardness *instance,
                                                const int *literals, size_t count, double *V,
                                                unrelu_error *err);
/* V (k x d) from a file of k rows; any other shape is EFORMAT */
UNRELU_API unrelu_status unrelu_hardness_read(const unrelu_hardness *instance,
                                              unrelu_source *source, double *V, unrelu_error *err);
/* The largest |alpha f(V x) - a| over all rows: exactly 0 for V of an assignment that satisfies
 * the formula, exactly 1 for any other assignment. A variable alpha is 1 over the sizes of the
 * last column of V, which the last two rows of X demand. */
UNRELU_API unrelu_status unrelu_hardness_residual(const unrelu_hardness *instance, const double *V,
                                                  double *residual, unrelu_error *err);
/* One literal for each variable. They satisfy the formula where the residual of V is 0, or below
 * 1 / (4 L + 2), L being the length of the longest clause (at least 1). */
UNRELU_API unrelu_status unrelu_hardness_decode(const unrelu_hardness *instance, const double *V,
                                                int *literals, unrelu_error *err);

#ifdef __cplusplus
}
#endif
#endif
