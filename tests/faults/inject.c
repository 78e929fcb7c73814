/* SPDX-License-Identifier: Apache-2.0 */
/* A library to be preloaded (LD_PRELOAD) that makes calls of the system fail, to see how the whole
 * process takes it:
 *   UNRELU_FAULT=CALL:K:once   the K-th call from main on fails, K from 1
 *   UNRELU_FAULT=CALL:K:on     that one and all after it
 *   UNRELU_FAULT=serve         runs, each as a line of standard input says (CALL:K:HOW): what one
 *                              prints goes to the files stdout and stderr, its exit status to
 *                              standard output
 *   UNRELU_FAULT_COUNT=FILE    at exit, how many calls of each kind there were: "CALL N" a line
 * CALL is memory (malloc and its kin), map (mmap), open, read, write, rename, sync or close. What
 * the C library calls inside of itself is not seen: of stdio the functions are what fails, with the
 * flag of an error in the FILE. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMORY, MAP, OPEN, READ, WRITE, RENAME, SYNC, CLOSE, CALLS };

static const struct {
    const char *name;
    int error;
} calls[CALLS] = {
    [MEMORY] = {"memory", ENOMEM}, [MAP] = {"map", ENOMEM},     [OPEN] = {"open", EMFILE},
    [READ] = {"read", EIO},        [WRITE] = {"write", ENOSPC}, [RENAME] = {"rename", EIO},
    [SYNC] = {"sync", EIO},        [CLOSE] = {"close", EIO},
};

static atomic_long seen[CALLS];
static atomic_int armed; /* from main on: what the loader does is not ours */
static int chosen = -1, from_then_on;
static long which;

/* whether this call is to fail; sets errno */
static int fails(int call)
{
    if (!atomic_load(&armed))
        return 0;
    long count = atomic_fetch_add(&seen[call], 1) + 1;
    if (call != chosen || (from_then_on ? count < which : count != which))
        return 0;
    errno = calls[call].error;
    return 1;
}

/* the function that would have been called */
#define NEXT(name)                                                                                 \
    static __typeof__(name) *next;                                                                 \
    if (!next)                                                                                     \
    next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* ---- memory: dlsym may ask for some itself, so that the C library's own names are called ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    return fails(MEMORY) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(MEMORY) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(MEMORY) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(MEMORY) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (fails(MEMORY))
        return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    NEXT(mmap);
    return fails(MAP) ? MAP_FAILED : next(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    NEXT(mmap64);
    return fails(MAP) ? MAP_FAILED : next(at, size, protection, flags, fd, offset);
}

/* ---- files ---- */

#define MODE(flags)                                                                                \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                         \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode = va_arg(list, mode_t);                                                               \
        va_end(list);                                                                              \
    }

int open(const char *path, int flags, ...)
{
    NEXT(open);
    MODE(flags);
    return fails(OPEN) ? -1 : next(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    NEXT(open64);
    MODE(flags);
    return fails(OPEN) ? -1 : next(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    NEXT(openat);
    MODE(flags);
    return fails(OPEN) ? -1 : next(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    NEXT(openat64);
    MODE(flags);
    return fails(OPEN) ? -1 : next(folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    NEXT(fopen);
    return fails(OPEN) ? NULL : next(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    NEXT(fopen64);
    return fails(OPEN) ? NULL : next(path, mode);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    NEXT(read);
    return fails(READ) ? -1 : next(fd, bytes, size);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
    NEXT(pread);
    return fails(READ) ? -1 : next(fd, bytes, size, at);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t at)
{
    NEXT(pread64);
    return fails(READ) ? -1 : next(fd, bytes, size, at);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    NEXT(write);
    return fd != STDERR_FILENO && fails(WRITE) ? -1 : next(fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    NEXT(pwrite);
    return fails(WRITE) ? -1 : next(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    NEXT(pwrite64);
    return fails(WRITE) ? -1 : next(fd, bytes, size, at);
}

int rename(const char *from, const char *to)
{
    NEXT(rename);
    return fails(RENAME) ? -1 : next(from, to);
}

int renameat(int folder, const char *from, int other, const char *to)
{
    NEXT(renameat);
    return fails(RENAME) ? -1 : next(folder, from, other, to);
}

int fsync(int fd)
{
    NEXT(fsync);
    return fails(SYNC) ? -1 : next(fd);
}

int fdatasync(int fd)
{
    NEXT(fdatasync);
    return fails(SYNC) ? -1 : next(fd);
}

/* that fails has closed all the same, as the system does */
int close(int fd)
{
    NEXT(close);
    int result = next(fd);
    return fails(CLOSE) ? -1 : result;
}

/* ---- stdio: the same, as far as its functions are called from outside ---- */

enum { ERROR_FLAG = 0x20 }; /* what ferror looks at, in the C library of GNU */

static int fails_with(int call, FILE *file)
{
    if (file == stderr || !fails(call))
        return 0;
    file->_flags |= ERROR_FLAG;
    return 1;
}

size_t fread(void *to, size_t size, size_t count, FILE *file)
{
    NEXT(fread);
    return fails_with(READ, file) ? 0 : next(to, size, count, file);
}

ssize_t getline(char **line, size_t *size, FILE *file)
{
    NEXT(getline);
    return fails_with(READ, file) ? -1 : next(line, size, file);
}

size_t fwrite(const void *from, size_t size, size_t count, FILE *file)
{
    NEXT(fwrite);
    return fails_with(WRITE, file) ? 0 : next(from, size, count, file);
}

int fputs(const char *text, FILE *file)
{
    NEXT(fputs);
    return fails_with(WRITE, file) ? EOF : next(text, file);
}

int fflush(FILE *file)
{
    NEXT(fflush);
    return file && fails_with(WRITE, file) ? EOF : next(file);
}

int fclose(FILE *file)
{
    NEXT(fclose);
    int result = next(file);
    return fails(CLOSE) ? EOF : result;
}

int closedir(DIR *directory)
{
    NEXT(closedir);
    int result = next(directory);
    return fails(CLOSE) ? -1 : result;
}

/* ---- from main to the end ---- */

static void start(const char *fault)
{
    size_t length = fault ? strcspn(fault, ":") : 0;
    for (int i = 0; i < CALLS && fault; i++)
        if (strlen(calls[i].name) == length && strncmp(fault, calls[i].name, length) == 0)
            chosen = i;
    if (chosen >= 0 && fault[length]) {
        char *rest;
        which = strtol(fault + length + 1, &rest, 10);
        from_then_on = strcmp(rest, ":on") == 0;
    }
}

static void finish(void)
{
    atomic_store(&armed, 0);
    const char *path = getenv("UNRELU_FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int i = 0; i < CALLS && file; i++)
        fprintf(file, "%s %ld\n", calls[i].name, atomic_load(&seen[i]));
    if (file)
        fclose(file);
}

/* ---- run after run in copies of one process, which is loaded once ---- */

enum { SECONDS = 60 }; /* a run that waits for ever ends by SIGALRM */

static void redirect(int to, const char *path, int flags)
{
    int fd = open(path, flags, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(126);
    close(fd);
}

static int next_line(char *line, size_t room)
{
    size_t n = 0;
    while (n + 1 < room && read(STDIN_FILENO, line + n, 1) == 1 && line[n] != '\n')
        n++;
    line[n] = 0;
    return n > 0;
}

/* returns in each copy, with its line */
static const char *serve(void)
{
    static char line[64];
    while (next_line(line, sizeof line)) {
        pid_t copy = fork();
        int status;
        if (copy == 0) {
            redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
            redirect(STDOUT_FILENO, "stdout", O_WRONLY | O_CREAT | O_TRUNC);
            redirect(STDERR_FILENO, "stderr", O_WRONLY | O_CREAT | O_TRUNC);
            return line;
        }
        if (copy < 0 || waitpid(copy, &status, 0) != copy)
            break;
        dprintf(STDOUT_FILENO, "%d\n",
                WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
    _exit(0);
}

static int (*real_main)(int, char **, char **);

static int main_with_faults(int argc, char **argv, char **environment)
{
    const char *fault = getenv("UNRELU_FAULT");
    start(fault && strcmp(fault, "serve") == 0 ? serve() : fault);
    alarm(SECONDS);
    atexit(finish);
    atomic_store(&armed, 1);
    return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    NEXT(__libc_start_main);
    real_main = main;
    return next(main_with_faults, argc, argv, init, fini, loader_fini, stack_end);
}
