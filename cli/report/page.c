/* SPDX-License-Identifier: Apache-2.0 */
/* The body grows in memory; the head, the style and the scripts are put around it when it is
 * saved. What comes from files cannot leave its place: in the text & < > " ' are entities, in JSON
 * '<' is \u003c (it stands in strings only), and in scripts "</script" and "<!--" get a backslash,
 * which changes no string or pattern of JavaScript. A policy in the head allows the page no
 * request at all, or those of the chart library alone where that is linked. */
#include "page.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../talk.h"
#include "assets.h"

enum { DIGITS = 6 }; /* of numbers in charts */

struct cli_page {
    FILE *body;
    char *text;
    size_t size, charts;
    char *title;
    int failed;
};

cli_page *cli_page_open(const char *title)
{
    cli_page *page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->title = strdup(title);
    page->body = open_memstream(&page->text, &page->size);
    page->failed = !page->title || !page->body;
    return page;
}

void cli_page_html(cli_page *page, const char *format, ...)
{
    va_list list;
    if (!page || page->failed)
        return;
    va_start(list, format);
    page->failed = vfprintf(page->body, format, list) < 0;
    va_end(list);
}

/* ---- text ---- */

/* a copy in UTF-8: '?' for each byte beyond ASCII where it is not, and for control characters */
static char *clean_text(const char *text)
{
    json_t *valid = json_string(text);
    char *copy = strdup(text);
    for (char *s = copy; s && *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f || (!valid && (unsigned char)*s >= 0x80))
            *s = '?';
    json_decref(valid);
    return copy;
}

json_t *cli_page_string(const char *text)
{
    char *clean = clean_text(text);
    json_t *value = clean ? json_string(clean) : NULL;
    free(clean);
    return value;
}

static const char *entity(char c)
{
    return c == '&'    ? "&amp;"
           : c == '<'  ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '"'  ? "&quot;"
           : c == '\'' ? "&#39;"
                       : NULL;
}

static void write_text(FILE *file, const char *text)
{
    for (const char *s = text; *s; s++)
        if (entity(*s))
            fputs(entity(*s), file);
        else
            fputc(*s, file);
}

void cli_page_text(cli_page *page, const char *text)
{
    if (!page || page->failed)
        return;
    char *clean = clean_text(text);
    page->failed = !clean;
    if (clean)
        write_text(page->body, clean);
    free(clean);
}

/* ---- charts ---- */

static int write_json(const char *bytes, size_t size, void *data)
{
    FILE *file = data;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '<')
            fputs("\\u003c", file);
        else
            fputc(bytes[i], file);
    return ferror(file) ? -1 : 0;
}

void cli_page_chart(cli_page *page, json_t *spec, const char *caption)
{
    if (page && json_object_size(spec) == 0)
        page->failed = 1;
    if (page && !page->failed) {
        cli_page_html(page, "<figure class=\"chart\"><div class=\"plot\" id=\"chart-%zu\"></div>",
                      ++page->charts);
        if (caption) {
            cli_page_html(page, "<figcaption>");
            cli_page_text(page, caption);
            cli_page_html(page, "</figcaption>");
        }
        cli_page_html(page, "<script type=\"application/json\">");
        page->failed |= json_dump_callback(spec, write_json, page->body,
                                           JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) != 0;
        cli_page_html(page, "</script></figure>\n");
    }
    json_decref(spec);
}

/* ---- saving ---- */

static int ends_script(const char *s, size_t left)
{
    static const char close[] = "</script", comment[] = "<!--";
    return (left >= sizeof close - 1 && strncasecmp(s, close, sizeof close - 1) == 0) ||
           (left >= sizeof comment - 1 && strncmp(s, comment, sizeof comment - 1) == 0);
}

static void write_script(FILE *file, cli_asset script)
{
    const char *end = script.text + script.size;
    fputs("<script>", file);
    for (const char *s = script.text; s < end;) {
        const char *next = memchr(s + 1, '<', (size_t)(end - s - 1));
        next = next ? next : end;
        if (ends_script(s, (size_t)(end - s))) {
            fputs("<\\", file);
            s++;
        }
        fwrite(s, 1, (size_t)(next - s), file);
        s = next;
    }
    fputs("</script>\n", file);
}

static void write_library(FILE *file)
{
    cli_asset licences = cli_chart_licences();
    if (licences.size) {
        fputs("<script type=\"text/plain\" data-of=\"the three scripts that follow\">\n", file);
        fwrite(licences.text, 1, licences.size, file);
        fputs("</script>\n", file);
    }
    for (size_t i = 0; i < CLI_CHART_SCRIPTS; i++) {
        cli_asset script = cli_chart_script(i);
        if (script.size)
            write_script(file, script);
        else
            fprintf(file,
                    "<script src=\"%s\" integrity=\"%s\" crossorigin=\"anonymous\"></script>\n",
                    cli_chart_url(i), cli_chart_hash(i));
    }
}

static void write_page(FILE *file, const cli_page *page)
{
    cli_asset css = cli_page_css();
    const char *linked = cli_chart_script(0).size ? "" : " https://cdn.jsdelivr.net";
    fprintf(file,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"generator\" content=\"unrelu %s\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; img-src data: blob:; "
            "script-src 'unsafe-inline' 'unsafe-eval'%s\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n<title>",
            unrelu_version(), linked);
    write_text(file, page->title);
    fputs("</title>\n<style>\n", file);
    fwrite(css.text, 1, css.size, file);
    fprintf(file, "</style>\n</head>\n<body data-charts=\"%zu\">\n<main>\n", page->charts);
    fwrite(page->text, 1, page->size, file);
    fputs("</main>\n", file);
    if (page->charts)
        write_library(file);
    write_script(file, cli_page_js());
    fputs("</body>\n</html>\n", file);
}

static int refuse(const char *path, int why)
{
    cli_error("%s: cannot be written: %s", path, strerror(why));
    return CLI_EXIT_FILE;
}

static int make_readable(int fd)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(fd, 0666 & ~mask);
}

static size_t written;

static int write_beside(const cli_page *page, const char *path)
{
    char beside[PATH_MAX];
    if ((size_t)snprintf(beside, sizeof beside, "%s.XXXXXX", path) >= sizeof beside)
        return refuse(path, ENAMETOOLONG);
    int fd = mkstemp(beside);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!file) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return refuse(path, why);
    }
    errno = 0;
    write_page(file, page);
    written = (size_t)ftell(file);
    int failed = fflush(file) != 0 || ferror(file) || make_readable(fd) != 0, why = errno;
    if (fclose(file) != 0 && !failed) {
        failed = 1;
        why = errno;
    }
    if (!failed && rename(beside, path) == 0)
        return 0;
    why = failed ? why : errno;
    unlink(beside);
    return refuse(path, why ? why : EIO);
}

void cli_page_drop(cli_page *page)
{
    if (page && page->body)
        fclose(page->body);
    if (page) {
        free(page->text);
        free(page->title);
    }
    free(page);
}

int cli_page_save(cli_page *page, const char *path)
{
    int status = CLI_EXIT_INTERNAL;
    if (page && page->body && fflush(page->body) == 0 && !page->failed)
        status = write_beside(page, path);
    else
        cli_error("%s: not enough memory for the page", path);
    cli_page_drop(page);
    return status;
}

size_t cli_page_size(void)
{
    return written;
}
