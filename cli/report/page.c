/* SPDX-License-Identifier: Apache-2.0 */
/* The body grows in memory; the head, the style and the scripts are put around it when it is
 * saved. What comes from files cannot leave its place: in the text & < > " ' are entities, in JSON
 * '<' is \u003c (it stands in strings only), and in scripts "</script" and "<!--" get a backslash,
 * which changes no string or pattern of JavaScript. A policy in the head allows the page no
 * request at all, or those of the chart library alone where that is linked. */
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../files.h"
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

void cli_page_fail(cli_page *page)
{
    if (page)
        page->failed = 1;
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

/* bytes of the character that starts at s; 0: it is not UTF-8 */
static size_t character(const unsigned char *s)
{
    size_t more = *s < 0x80 ? 0 : *s < 0xc2 ? 4 : *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : *s < 0xf5 ? 3 : 4;
    for (size_t i = 1; i <= more; i++)
        if (more == 4 || (s[i] & 0xc0) != 0x80)
            return 0;
    int overlong = (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xf0 && s[1] < 0x90);
    int beyond = (*s == 0xed && s[1] > 0x9f) || (*s == 0xf4 && s[1] > 0x8f);
    return overlong || beyond ? 0 : 1 + more;
}

/* '?' for control characters and for bytes that are not UTF-8 */
static void write_text(FILE *file, const char *text)
{
    for (const char *s = text; *s;) {
        size_t length = character((const unsigned char *)s);
        if (entity(*s))
            fputs(entity(*s), file);
        else if (length == 0 || (unsigned char)*s < ' ' || *s == 0x7f)
            fputc('?', file);
        else
            fwrite(s, 1, length, file);
        s += length ? length : 1;
    }
}

void cli_page_text(cli_page *page, const char *text)
{
    if (page && !page->failed)
        write_text(page->body, text);
}

void cli_page_vsay(cli_page *page, const char *format, va_list list)
{
    char *text = NULL;
    if (!page || page->failed)
        return;
    if (vasprintf(&text, format, list) < 0)
        cli_page_fail(page);
    else
        cli_page_text(page, text);
    free(text);
}

void cli_page_say(cli_page *page, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    cli_page_vsay(page, format, list);
    va_end(list);
}

size_t cli_page_next_chart(cli_page *page)
{
    return page ? ++page->charts : 0;
}

size_t cli_page_charts(const cli_page *page)
{
    return page ? page->charts : 0;
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

int cli_page_save(cli_page *page, const char *path, size_t *size)
{
    char *text = NULL;
    size_t length = 0;
    int done = page && page->body && fflush(page->body) == 0 && !page->failed;
    FILE *file = done ? open_memstream(&text, &length) : NULL;
    if (file) {
        write_page(file, page);
        done = !ferror(file);
        done = fclose(file) == 0 && done;
    }
    int status = CLI_EXIT_INTERNAL;
    if (file && done)
        status = cli_write_file(path, text, length);
    else
        cli_error("%s: not enough memory for the page", path);
    if (size)
        *size = length;
    free(text);
    cli_page_drop(page);
    return status;
}
