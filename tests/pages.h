/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of report pages: what a page holds, and whether its charts are well-formed XML. */
#ifndef TEST_PAGES_H
#define TEST_PAGES_H

#include "files.h"

#include <ctype.h>

#include "report/chart.h"
#include "report/page.h"
#include "report/svg.h"

static inline cli_page *new_page(void)
{
    static cli_page page;
    return cli_page_open(&page, "test");
}

/* the whole of a page (which ends), for the caller to free */
static inline char *saved(cli_page *page)
{
    const char *path = files_path("page.html");
    size_t size = 0;
    assert_int_equal(cli_page_save(page, path, &size), 0);
    char *text = calloc(size + 1, 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, size + 1, file), size);
    fclose(file);
    return text;
}

/* the first chart: from <svg to </svg>, which it ends */
static inline char *chart_in(char *page)
{
    char *start = strstr(page, "<svg"), *end = start ? strstr(start, "</svg>") : NULL;
    assert_non_null(end);
    end[strlen("</svg>")] = '\0';
    return start;
}

static inline size_t times(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

/* ---- XML ---- */

static inline const char *check_entity(const char *s)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(s, known[i], strlen(known[i])) == 0)
            return s + strlen(known[i]);
    fail_msg("a bare & before: %.40s", s);
    return s;
}

/* name="value" ... up to > or />; returns what follows */
static inline const char *check_attributes(const char *s)
{
    for (s += strspn(s, " "); *s != '>' && *s != '/'; s += strspn(s, " ")) {
        size_t name = strcspn(s, "= >");
        assert_true(name > 0 && s[name] == '=' && s[name + 1] == '"');
        for (s += name + 2; *s != '"';) {
            assert_true(*s && *s != '<');
            s = *s == '&' ? check_entity(s) : s + 1;
        }
        s++;
    }
    return s;
}

/* every element is closed in its turn, every attribute quoted, every & an entity */
static inline void check_xml(const char *s)
{
    enum { DEPTH = 16 };
    const char *open[DEPTH];
    int depth = 0;
    for (const char *start = s; *s;) {
        assert_true((unsigned char)*s >= ' ' || *s == '\n');
        if (*s == '&') {
            s = check_entity(s);
        } else if (s[0] == '<' && s[1] == '/') {
            size_t length = strcspn(s + 2, ">");
            assert_true(depth > 0);
            const char *name = open[--depth];
            if (strncmp(name, s + 2, length) != 0 || isalpha((unsigned char)name[length]))
                fail_msg("%.20s is closed by %.20s", name, s);
            s += length + 3;
        } else if (*s == '<') {
            assert_true(isalpha((unsigned char)s[1]) && depth < DEPTH);
            assert_true(s == start || depth > 0); /* one element is around all */
            open[depth++] = s + 1;
            s = check_attributes(s + 1 + strcspn(s + 1, " />"));
            if (*s == '/') {
                depth--;
                s++;
            }
            assert_true(*s == '>');
            s++;
        } else {
            assert_true(*s != '>');
            s++;
        }
    }
    assert_int_equal(depth, 0);
}

/* well-formed, named and described, and each mark has a title: whatever is not an axis, a guide
 * or the ground of a map */
static inline void check_chart(const char *svg)
{
    check_xml(svg);
    assert_int_equal(strncmp(svg, "<svg class=\"plot\"", 17), 0);
    assert_non_null(strstr(svg, "role=\"img\" aria-labelledby=\"t"));
    assert_non_null(strstr(svg, "<title id=\"t"));
    assert_non_null(strstr(svg, "<desc id=\"d"));
    assert_null(strstr(svg, "<title></title>"));
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf\""));
    for (const char *s = svg; (s = strstr(s, "<path")); s++) {
        const char *end = strchr(s, '>');
        if (end[-1] != '/')
            assert_int_equal(strncmp(end, "><title>", 8), 0);
        else
            assert_true(strstr(s, "class=\"guides\"") == s + 6 ||
                        strstr(s, "class=\"axis\"") == s + 6 ||
                        strstr(s, "class=\"zero\"") == s + 6 || strstr(s, "fill=\"url(") == s + 6);
    }
}

#endif
