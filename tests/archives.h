/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of readers: archives member by member, by libzip. */
#ifndef TEST_ARCHIVES_H
#define TEST_ARCHIVES_H

#include "files.h"

#include <zip.h>

#define NPY(descr, order, shape)                                                                   \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

/* an archive written by libzip, to be independent of our writer */
typedef struct {
    zip_t *zip;
    const char *path;
} archive;

static inline archive archive_new(const char *name)
{
    archive a = {.path = files_path(name)};
    a.zip = zip_open(a.path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(a.zip);
    return a;
}

static inline void archive_add(archive *a, const char *member, const char *dictionary,
                               const void *data, size_t size, int deflate)
{
    unsigned char *bytes = malloc(size + 1024);
    size_t total = files_npy(bytes, 1, dictionary, data, size);
    zip_source_t *source = zip_source_buffer(a->zip, bytes, total, 1);
    zip_int64_t index = zip_file_add(a->zip, member, source, ZIP_FL_OVERWRITE);
    assert_true(index >= 0);
    zip_set_file_compression(a->zip, (zip_uint64_t)index, deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                             0);
}

static inline const char *archive_close(archive *a)
{
    assert_int_equal(zip_close(a->zip), 0);
    return a->path;
}

#endif
