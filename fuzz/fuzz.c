/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 4 };

static char folder[64];
static struct {
    char path[128];
    int descriptor;
} files[FILES];

_Noreturn void fuzz_stop(const char *what, const char *about)
{
    dprintf(STDERR_FILENO, "%s: %s\n", what, about);
    abort();
}

/* ---- the folder ---- */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type;
    if (walk->level > 0)
        remove(path);
    return 0;
}

void fuzz_tidy(void)
{
    if (*folder)
        nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void leave(void)
{
    fuzz_tidy();
    rmdir(folder);
}

/* in memory, where the system has such a place */
static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s/unrelu-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        fuzz_stop("cannot make a folder", folder);
    atexit(leave);
}

void fuzz_enter(void)
{
    if (!*folder)
        make_folder();
    if (chdir(folder) != 0)
        fuzz_stop("cannot enter", folder);
}

static size_t place_of(const char *name)
{
    size_t i = 0;
    if (!*folder)
        make_folder();
    for (; i < FILES && *files[i].path; i++)
        if (strcmp(strrchr(files[i].path, '/') + 1, name) == 0)
            return i;
    if (i == FILES)
        fuzz_stop("too many files", name);
    snprintf(files[i].path, sizeof files[i].path, "%s/%s", folder, name);
    files[i].descriptor = -1;
    return i;
}

const char *fuzz_path(const char *name)
{
    return files[place_of(name)].path;
}

const char *fuzz_file(const char *name, const void *bytes, size_t size)
{
    size_t i = place_of(name);
    if (files[i].descriptor < 0)
        files[i].descriptor = open(files[i].path, O_RDWR | O_CREAT, 0600);
    if (ftruncate(files[i].descriptor, (off_t)size) != 0 ||
        pwrite(files[i].descriptor, bytes, size, 0) != (ssize_t)size)
        fuzz_stop("cannot write", files[i].path);
    return files[i].path;
}

void fuzz_silence(void)
{
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere || !freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout))
        fuzz_stop("cannot open", "/dev/null");
    stderr = nowhere;
}

/* ---- judging ---- */

int fuzz_failed(unrelu_status status, const unrelu_error *err)
{
    if (status == UNRELU_OK)
        return 0;
    if (!*err->text || err->code != status)
        fuzz_stop("a failure without its sentence or code", unrelu_status_name(status));
    if (status == UNRELU_EINTERNAL || status == UNRELU_ENOMEM)
        fuzz_stop(unrelu_status_name(status), err->text);
    return 1;
}

unrelu_exec fuzz_exec(void)
{
    unrelu_exec exec;
    unrelu_exec_init(&exec, sizeof exec);
    exec.threads = 1;
    return exec;
}

void fuzz_samples(const char *path, const char *columns)
{
    unrelu_error err;
    unrelu_exec exec = fuzz_exec();
    unrelu_source_options options;
    unrelu_source *source = NULL;
    double *x = NULL, sum = 0;
    size_t n = 0, d = 0;
    unrelu_source_options_init(&options, sizeof options);
    options.columns = columns;
    if (!FUZZ_FAILED(unrelu_source_open(path, &options, &source, &err))) {
        d = unrelu_source_columns(source);
        for (size_t j = 0; j < d; j++)
            sum += (double)strlen(unrelu_source_name(source, j));
        sum += (double)strlen(unrelu_source_note(source));
        if (!FUZZ_FAILED(unrelu_source_load(source, &exec, &x, &n, &err)))
            for (size_t i = 0; i < n * d; i++)
                sum += x[i];
    }
    if (sum != sum) /* NaN is refused by unrelu_source_load */
        for (size_t i = 0; i < n * d; i++)
            if (x[i] != x[i])
                fuzz_stop("a cell is not finite", path);
    unrelu_free(x);
    unrelu_source_close(source);
}

void fuzz_members(const unrelu_model *model)
{
    static const size_t widths[] = {
        sizeof(double),   sizeof(char *),  sizeof(size_t), sizeof(int), 1,
        sizeof(uint32_t), sizeof(uint64_t)};
    unrelu_array array;
    unsigned char sum = 0;
    for (size_t i = 0; unrelu_model_at(model, i, &array); i++) {
        size_t count = 1;
        for (size_t k = 0; k < array.dimensions; k++)
            count *= array.shape[k];
        const unsigned char *bytes = array.data;
        for (size_t k = 0; k < count * widths[array.type]; k++)
            sum = (unsigned char)(sum + bytes[k]);
        const char *const *texts = array.data;
        for (size_t k = 0; array.type == UNRELU_TEXTS && k < count; k++)
            sum = (unsigned char)(sum + strlen(texts[k]));
    }
    volatile unsigned char seen = sum; /* so that nothing is left out */
    (void)seen;
}
