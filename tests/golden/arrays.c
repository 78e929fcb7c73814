/* SPDX-License-Identifier: Apache-2.0 */
/* arrays PREFIX FILE: a line for each array of a .npz or .npy file,
 *   PREFIX NAME dtype,shape HASH NORM
 * HASH is FNV-1a (64 bit) of its bytes, NORM the root mean square of the finite numbers of a double
 * array ("-" of any other). arrays --values FILE: a line for each number of the double arrays,
 *   NAME INDEX VALUE
 * and the bytes of the others as "NAME bytes HASH". arrays --machine names what bits depend on. It
 * reads the files by itself: the oracle of a reader of ours must not be that reader. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

char *openblas_get_corename(void);
char *openblas_get_config(void);

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "arrays: %s: %s\n", what, path);
    exit(1);
}

static uint64_t hash_of(const unsigned char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void print_norm(const unsigned char *bytes, size_t size)
{
    double sum = 0, value;
    size_t count = 0;
    for (size_t i = 0; i + sizeof value <= size; i += sizeof value) {
        memcpy(&value, bytes + i, sizeof value);
        if (!isfinite(value))
            continue;
        sum = hypot(sum, value);
        count++;
    }
    printf(" %.10g\n", count ? sum / sqrt((double)count) : 0);
}

/* the text between the quotes after 'descr', and what is in the brackets after 'shape' */
static void print_type(const char *header)
{
    const char *type = strstr(header, "'descr': '"), *shape = strstr(header, "'shape': (");
    if (!type || !shape)
        fail("not the header of an array", header);
    type += strlen("'descr': '");
    printf("%.*s,", (int)strcspn(type, "'"), type);
    for (shape += strlen("'shape': ("); *shape != ')'; shape++)
        if (*shape != ' ')
            putchar(*shape == ',' ? 'x' : *shape);
}

static void print_values(const char *name, const unsigned char *bytes, size_t size, int doubles)
{
    int length = (int)strcspn(name, ".");
    double value;
    if (!doubles)
        printf("%.*s bytes %016llx\n", length, name, (unsigned long long)hash_of(bytes, size));
    for (size_t i = 0; doubles && i + sizeof value <= size; i += sizeof value) {
        memcpy(&value, bytes + i, sizeof value);
        printf("%.*s %zu %.17g\n", length, name, i / sizeof value, value);
    }
}

/* prefix NULL: the values */
static void print_array(const char *prefix, const char *name, const unsigned char *npy, size_t size)
{
    enum { MAGIC = 10 }; /* bytes before the header of version 1 */
    if (size < MAGIC || memcmp(npy, "\x93NUMPY\x01", 7) != 0)
        fail("not an array", name);
    size_t length = npy[8] + 256u * npy[9];
    if (size < MAGIC + length)
        fail("cut short", name);
    char *header = calloc(length + 1, 1);
    memcpy(header, npy + MAGIC, length);
    const unsigned char *data = npy + MAGIC + length;
    size -= MAGIC + length;
    if (!prefix) {
        print_values(name, data, size, strstr(header, "'<f8'") != NULL);
        free(header);
        return;
    }
    printf("%s %.*s ", prefix, (int)strcspn(name, "."), name);
    print_type(header);
    printf(" %016llx", (unsigned long long)hash_of(data, size));
    if (strstr(header, "'<f8'"))
        print_norm(data, size);
    else
        puts(" -");
    free(header);
}

static void print_npy(const char *prefix, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("cannot open", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    unsigned char *bytes = malloc(size + 1);
    rewind(file);
    if (fread(bytes, 1, size, file) != size)
        fail("cannot read", path);
    print_array(prefix, "array", bytes, size);
    free(bytes);
    fclose(file);
}

static void print_npz(const char *prefix, const char *path)
{
    zip_t *zip = zip_open(path, ZIP_RDONLY, NULL);
    if (!zip)
        fail("cannot open", path);
    for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); i++) {
        zip_stat_t stat;
        zip_stat_index(zip, (zip_uint64_t)i, 0, &stat);
        unsigned char *bytes = malloc(stat.size + 1);
        zip_file_t *file = zip_fopen_index(zip, (zip_uint64_t)i, 0);
        if (!file || zip_fread(file, bytes, stat.size) != (zip_int64_t)stat.size)
            fail("cannot read", path);
        if (strcmp(stat.name, "written_by.npy") != 0) /* it has the version */
            print_array(prefix, stat.name, bytes, stat.size);
        zip_fclose(file);
        free(bytes);
    }
    zip_discard(zip);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--machine") == 0) {
        printf("%s, %s, compiler %s\n", openblas_get_corename(), openblas_get_config(),
               __VERSION__);
        return 0;
    }
    if (argc != 3)
        fail("usage", "arrays PREFIX FILE | arrays --values FILE | arrays --machine");
    const char *prefix = strcmp(argv[1], "--values") == 0 ? NULL : argv[1];
    size_t length = strlen(argv[2]);
    if (length > 4 && strcmp(argv[2] + length - 4, ".npz") == 0)
        print_npz(prefix, argv[2]);
    else
        print_npy(prefix, argv[2]);
    return 0;
}
