/* SPDX-License-Identifier: Apache-2.0 */
/* The body grows in memory that --max-memory counts; head, style and script are put around it when
 * it is saved. What comes from files cannot leave its place: & < > " ' are entities, control
 * characters are gone. A policy in the head allows the page no request at all. */
#include "page.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "unrelu/unrelu.h"

#include "files.h"
#include "talk.h"
#include "width.h"

/* The assembler takes the files as they stand, each with a zero byte after it; CMakeLists.txt says
 * where they are. */
#define EMBED(name, path)                                                                          \
    extern const char name[];                                                                      \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " #name "\n.hidden " #name "\n" #name ":\n"                                   \
            ".incbin \"" path "\"\n.byte 0\n.popsection\n")

EMBED(cli_page_css, PAGE_CSS);
EMBED(cli_page_js, PAGE_JS);

struct cli_piece {
    struct cli_piece *next;
    max_align_t memory[];
};

cli_page *cli_page_open(cli_page *page, const char *title)
{
    *page = (cli_page){0};
    page->title = cli_escaped(page, title);
    return page;
}

void *cli_page_take(cli_page *page, size_t count, size_t size)
{
    size_t most = (SIZE_MAX - sizeof(struct cli_piece)) / size;
    struct cli_piece *piece = count <= most ? unrelu_alloc(1, sizeof *piece + count * size) : NULL;
    page->failed |= !piece;
    if (!piece)
        return NULL;
    piece->next = page->taken;
    page->taken = piece;
    return piece->memory;
}

/* room for `more` bytes behind the body, and a zero byte: at least twice what there was, so that
 * few copies are made */
static int make_room(cli_page *page, size_t more)
{
    enum { FIRST = 1 << 14 };
    size_t room = page->room ? page->room : FIRST;
    while (room <= page->size + more)
        room *= 2;
    if (page->body && room == page->room)
        return 1;
    char *body = unrelu_alloc(room, 1);
    if (body && page->body)
        memcpy(body, page->body, page->size);
    page->failed |= !body;
    if (!body)
        return 0;
    unrelu_free(page->body);
    page->body = body;
    page->room = room;
    return 1;
}

void cli_html(cli_page *page, const char *format, ...)
{
    va_list list;
    if (page->failed)
        return;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    page->failed = length < 0; /* of more than 2 GB */
    if (page->failed || !make_room(page, (size_t)length))
        return;
    va_start(list, format);
    vsnprintf(page->body + page->size, (size_t)length + 1, format, list);
    va_end(list);
    page->size += (size_t)length;
}

/* ---- text ---- */

static const char *const entities[256] = {
    ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};

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
const char *cli_escaped(cli_page *page, const char *text)
{
    char *copy = cli_page_take(page, strlen(text) + 1, sizeof "&quot;"), *to = copy;
    for (const char *s = text; copy && *s;) {
        size_t length = character((const unsigned char *)s);
        if (entities[(unsigned char)*s])
            to = stpcpy(to, entities[(unsigned char)*s]);
        else if (length == 0 || (unsigned char)*s < ' ' || *s == 0x7f)
            *to++ = '?';
        else
            to = mempcpy(to, s, length);
        s += length ? length : 1;
    }
    return copy ? copy : "";
}

const char *cli_text(cli_page *page, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    page->failed |= length < 0; /* of more than 2 GB */
    char *text = length < 0 ? NULL : cli_page_take(page, (size_t)length + 1, 1);
    va_start(list, format);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text ? text : "";
}

const char *cli_shortened(cli_page *page, const char *text, size_t most)
{
    if (most == 0 || !text[cli_text_cut(text, most)])
        return text;
    const char *end = text;
    while (end[cli_text_cut(end, (most - 1) / 2)])
        end += cli_text_cut(end, 1);
    return cli_text(page, "%.*s…%s", (int)cli_text_cut(text, most / 2), text, end);
}

/* ---- the end ---- */

void cli_page_drop(cli_page *page)
{
    for (struct cli_piece *p = page->taken, *next; p; p = next) {
        next = p->next;
        unrelu_free(p);
    }
    unrelu_free(page->body);
}

int cli_page_save(cli_page *page, const char *path, size_t *size)
{
    const char *text = cli_text(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"generator\" content=\"unrelu %s\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>%s</title>\n<style>\n%s</style>\n</head>\n"
        "<body "
        "data-charts=\"%zu\">\n<main>\n%s</main>\n<script>\n%s</script>\n</body>\n</html>\n",
        unrelu_version(), page->title, cli_page_css, page->charts, page->body ? page->body : "",
        cli_page_js);
    size_t length = strlen(text);
    int status = page->failed ? cli_no_memory_for("the page") : cli_write_file(path, text, length);
    if (size)
        *size = length;
    cli_page_drop(page);
    return status;
}
