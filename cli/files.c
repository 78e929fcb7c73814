/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flags.h"
#include "scope.h"
#include "team.h"

static int is_same_file(const char *output, const char *input)
{
    struct stat a, b;
    char file[PATH_MAX];
    const char *member = strstr(input, ".npz:"); /* data.npz:NAME is in the file data.npz */
    if (strcmp(output, input) == 0)
        return 1;
    int found = stat(input, &b) == 0;
    if (!found && member && (size_t)(member - input) + 5 <= sizeof file) {
        snprintf(file, sizeof file, "%.*s", (int)(member - input) + 4, input);
        found = stat(file, &b) == 0;
    }
    return found && stat(output, &a) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* the folder that a new file of that name appears in: where it is a link, that of its file */
static int check_folder(const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX];
    struct stat s;
    const char *target = realpath(path, real) ? real : path, *slash = strrchr(target, '/'),
               *where = folder;
    int length = slash ? (int)(slash - target) : 0, why = 0;
    if (strlen(path) >= sizeof folder)
        return cli_refuse_file("%s: cannot be written: its name: %s", path, strerror(ENAMETOOLONG));
    snprintf(folder, sizeof folder, "%.*s", length, target);
    if (length == 0)
        strcpy(folder, slash ? "/" : ".");
    if (stat(folder, &s) != 0)
        why = errno;
    else if (!S_ISDIR(s.st_mode))
        why = ENOTDIR;
    else if (access(folder, W_OK | X_OK) != 0)
        why = errno;
    else if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
        where = path;
        why = EISDIR;
    }
    return why ? cli_refuse_file("%s: cannot be written: %s: %s", path, where, strerror(why)) : 0;
}

/* a device or a pipe, which is written to as it is: its name says nothing, and nothing is lost */
static int is_direct(const char *path)
{
    struct stat s;
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0 ||
           (stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode));
}

int cli_spare_input(const cli_shared *shared, const char *input)
{
    const char *path = shared->output;
    return path && input && !is_direct(path) && is_same_file(path, input)
               ? cli_usage("-o %s is the input itself, which would be lost: give another name",
                           path)
               : 0;
}

int cli_check_output(const cli_shared *shared, const char *extension)
{
    const char *path = shared->output;
    if (!cli_team_leads() || !path || (strcmp(path, "-") == 0 && !extension) || is_direct(path))
        return 0;
    size_t length = strlen(path), tail = extension ? strlen(extension) : 0;
    if (tail && !(length > tail && strcmp(path + length - tail, extension) == 0))
        return cli_usage("-o %s: the output is a %s file: give a name that ends so", path,
                         extension);
    for (size_t i = 0; i < shared->file_count; i++)
        CLI_TRY(cli_spare_input(shared, shared->files[i]));
    return check_folder(path);
}

int cli_require_output(const char *command, const cli_shared *shared, const char *what)
{
    return shared->output ? 0 : cli_usage("%s: say where %s: -o", command, what);
}

int cli_make_folder(const char *path)
{
    char part[PATH_MAX];
    struct stat is;
    for (const char *s = cli_team_leads() ? path : ""; *s;) {
        s += strspn(s, "/");
        s += strcspn(s, "/");
        snprintf(part, sizeof part, "%.*s", (int)(s - path), path);
        if (mkdir(part, 0777) == 0)
            continue;
        if (errno != EEXIST)
            return cli_refuse_file("%s: cannot be made: %s", part, strerror(errno));
        if (stat(part, &is) == 0 && !S_ISDIR(is.st_mode))
            return cli_refuse_file(
                "%s is a file, not a directory: -o names the directory to write to", part);
    }
    return 0;
}

int cli_write_file(const char *path, const char *text, size_t size)
{
    if (!cli_team_leads())
        return 0;
    CLI_CALL(unrelu_file_write(path, text, size, &err));
    cli_wrote_file();
    return 0;
}

unrelu_status cli_open_samples(const char *path, const unrelu_source_options *options,
                               const unrelu_gaussian *model, unrelu_source **source,
                               unrelu_error *err)
{
    struct stat s;
    if (strcmp(path, "-") == 0 || (stat(path, &s) == 0 && !S_ISREG(s.st_mode))) /* a pipe */
        cli_interrupt_at_once(1);
    unrelu_status status = model ? unrelu_gaussian_source(model, path, options, source, err)
                           : cli_team_joined ? cli_team_joined->open(path, options, source, err)
                                             : unrelu_source_open(path, options, source, err);
    const char *note = status == UNRELU_OK ? unrelu_source_note(*source) : "";
    if (*note)
        cli_note("%s: %s", strcmp(path, "-") == 0 ? "standard input" : path,
                 cli_flagged(note).text);
    return status;
}

unrelu_status cli_open_source(const char *path, const char *columns, int single_pass,
                              unrelu_source **source, unrelu_error *err)
{
    unrelu_source_options options = {
        .size = sizeof options, .columns = columns, .single_pass = single_pass};
    return cli_open_samples(path, &options, NULL, source, err);
}

int cli_open(const char *path, const char *columns, int single_pass, unrelu_source **source)
{
    CLI_CALL(cli_open_source(path, columns, single_pass, source, &err));
    return 0;
}

void cli_close(unrelu_source **source)
{
    unrelu_source_close(*source);
    cli_interrupt_at_once(0);
}

/* ---- rows ---- */

enum {
    MOST = 2,              /* files */
    BLOCK_CELLS = 1 << 18, /* 2 MB of doubles: stays in the cache, and SIGINT is seen soon */
};

typedef struct {
    unrelu_sink *of[MOST]; /* NULL: not open, or written */
    size_t d[MOST];
} sinks;

static void abort_sinks(sinks *sinks)
{
    for (size_t i = 0; i < MOST; i++)
        if (sinks->of[i])
            unrelu_sink_abort(sinks->of[i]);
}

static int open_sinks(const cli_rows_file *files, size_t count, size_t n, sinks *sinks)
{
    for (size_t i = 0; i < count; i++) {
        sinks->d[i] = files[i].d;
        if (cli_team_leads())
            CLI_CALL(unrelu_sink_open(files[i].path, n, files[i].d, files[i].names, &sinks->of[i],
                                      &err));
    }
    return 0;
}

static int commit_sinks(sinks *sinks, size_t count)
{
    for (size_t i = 0; i < count && cli_team_leads(); i++) {
        unrelu_sink *sink = sinks->of[i];
        sinks->of[i] = NULL;
        CLI_CALL(unrelu_sink_commit(sink, &err));
        cli_wrote_file();
    }
    return 0;
}

typedef struct {
    const sinks *sinks;
    size_t i;
} one_sink;

static unrelu_status write_gathered(void *context, size_t rank, const double *x, size_t len,
                                    unrelu_error *err)
{
    const one_sink *to = context;
    (void)rank;
    return unrelu_sink_write(to->sinks->of[to->i], x, len / to->sinks->d[to->i], err);
}

/* rows that this process drew, and those of others, in the order of the ranks */
static unrelu_status write_block(const sinks *sinks, size_t count, double *const *x, size_t rows,
                                 unrelu_error *err)
{
    unrelu_status status = UNRELU_OK;
    for (size_t i = 0; i < count && status == UNRELU_OK; i++) {
        one_sink to = {sinks, i};
        size_t len = rows * sinks->d[i];
        status = cli_team_joined ? cli_team_joined->gather(x[i], len, write_gathered, &to, err)
                                 : write_gathered(&to, 0, x[i], len, err);
    }
    return status;
}

/* Ranks take blocks in turn, which the lead writes in their order: what the rows are does not
 * depend on how many there are. */
int cli_write_rows(const cli_shared *shared, cli_draw *draw, const void *from, size_t n,
                   const cli_rows_file *files, size_t count)
{
    CLI_SCOPE(abort_sinks) sinks sinks = {0};
    unrelu_exec exec = cli_exec(shared), silent = exec; /* the progress of one block is none */
    size_t width = 0, before = 0, own = cli_team_joined ? cli_team_joined->rank : 0,
           ranks = cli_team_joined ? cli_team_joined->ranks : 1;
    double *x[MOST] = {NULL};
    silent.progress = NULL;
    CLI_TRY(open_sinks(files, count, n, &sinks));
    for (size_t i = 0; i < count; i++)
        width += files[i].d;
    size_t block = width < BLOCK_CELLS ? BLOCK_CELLS / width : 1;
    CLI_ARRAY double *room = unrelu_alloc(block * width, sizeof *room);
    if (!room)
        return cli_no_memory();
    for (size_t i = 0; i < count; before += files[i++].d)
        x[i] = room + block * before;
    for (size_t row = 0; row < n; row += block * ranks) {
        size_t first = row + own * block, left = first < n ? n - first : 0,
               rows = left < block ? left : block;
        exec.progress(exec.context, "drawing", (double)row / (double)n);
        CLI_CALL(exec.cancelled(exec.context) ? UNRELU_ECANCELLED
                 : rows                       ? draw(from, first, rows, &silent, x, &err)
                                              : UNRELU_OK);
        CLI_CALL(write_block(&sinks, count, x, rows, &err));
    }
    return commit_sinks(&sinks, count);
}
