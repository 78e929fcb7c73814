/* SPDX-License-Identifier: Apache-2.0 */
#include "html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "docs.h"
#include "flags.h"
#include "table.h"
#include "talk.h"

cli_page *cli_html_open(cli_page *page, const char *title, const char *kind, const char *file)
{
    cli_page_open(page, title);
    cli_html(page, "<header><p class=\"kind\">%s</p><h1>%s</h1></header>\n",
             cli_escaped(page, kind), cli_escaped(page, file));
    return page;
}

void cli_html_warnings(cli_page *page, const unrelu_warning *warnings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_html(page, "%s<li><code>%s</code> %s</li>\n%s",
                 i == 0 ? "<ul class=\"warnings\">\n" : "", cli_escaped(page, warnings[i].code),
                 cli_escaped(page, cli_flagged(warnings[i].message).text),
                 i + 1 == count ? "</ul>\n" : "");
}

void cli_html_verdict(cli_page *page, const cli_verdict *verdict)
{
    cli_html(page, "<div class=\"verdict %s\"><strong>%s</strong><p>", verdict->class,
             verdict->headline);
}

void cli_html_legend(cli_page *page, const char *entries)
{
    cli_html(page, "<p class=\"legend\">");
    for (const char *s = entries; *s;) {
        int class = (int)strcspn(s, ":"), words = (int)strcspn(s, "|") - class - 1;
        cli_html(page, "<span><i class=\"%.*s\"></i>%.*s</span>", class, s, words, s + class + 1);
        s += strcspn(s, "|");
        s += *s == '|';
    }
    cli_html(page, "</p>\n");
}

int cli_html_finish(cli_page *page, const cli_shared *shared)
{
    size_t size = 0, files = shared->file_count;
    cli_html(page, "<p>Made by unrelu %s from ", unrelu_version());
    for (size_t i = 0; i < files; i++)
        cli_html(page, "%s<code>%s</code>",
                 i == 0          ? ""
                 : i + 1 < files ? ", "
                                 : " and ",
                 cli_escaped(page, shared->files[i]));
    cli_html(page, ".</p></footer>\n");
    int status = cli_page_save(page, shared->output, &size);
    if (status == 0 && size < 1000000)
        cli_note("%s: %.0f kB", shared->output, (double)size / 1e3);
    else if (status == 0)
        cli_note("%s: %.2f MB", shared->output, (double)size / 1e6);
    return status;
}

/* ---- facts ---- */

void cli_html_fact(cli_page *page, const char *name, const char *fact)
{
    cli_html(page, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, cli_escaped(page, fact));
}

const char *cli_html_count(cli_page *page, double count)
{
    char text[64], digits[32], *to = text;
    int length = snprintf(digits, sizeof digits, "%.0f", count);
    for (int i = 0; digits[i]; i++) {
        if (i > 0 && (length - i) % 3 == 0 && length > 4 && length <= 12)
            to = stpcpy(to, "\u202f"); /* a thin blank that does not break */
        *to++ = digits[i];
    }
    *to = '\0';
    return cli_text(page, "%s", text);
}

const char *cli_html_counted(cli_page *page, double count, const char *what)
{
    return cli_text(page, "%s %s%s", cli_html_count(page, count), what, count == 1 ? "" : "s");
}

/* ---- tables ---- */

void cli_html_table(cli_page *page, const char *class, const char *titles)
{
    cli_html(page, "<div class=\"scroll\"><table class=\"%s\"><thead><tr>", class);
    for (const char *s = titles; *s;) {
        int left = *s == '<', length = (int)strcspn(s += left, "|");
        cli_html(page, "<th scope=\"col\"%s>%.*s</th>", left ? " class=\"l\"" : "", length, s);
        s += length + (s[length] == '|');
    }
    cli_html(page, "</tr></thead><tbody>\n");
}

void cli_html_name(cli_page *page, const char *start, const char *const *names, const char *letter,
                   size_t i)
{
    const char *name = names ? cli_escaped(page, names[i]) : "";
    if (names)
        cli_html(page, "%s<td class=\"name\" title=\"%s\">%s</td>", start, name, name);
    else
        cli_html(page, "%s<td class=\"name\">%s%zu</td>", start, letter, i + 1);
}

void cli_html_real(cli_page *page, double value, const char *format)
{
    char text[64] = "?";
    if (!isnan(value))
        snprintf(text, sizeof text, format, value);
    cli_html(page, "<td>%s</td>", text);
}

void cli_html_limit(cli_page *page, double limit)
{
    if (limit == -INFINITY)
        cli_html(page, "<td>none</td>");
    else
        cli_html_real(page, limit, "%.4g");
}

void cli_html_between(cli_page *page, double value, double low, double high)
{
    char text[96];
    if (!(low < high)) {
        cli_html_estimate(page, value, (high - low) / 2);
        return;
    }
    cli_format_between(text, sizeof text, value, low, high);
    cli_html(page, "<td data-value=\"%.6g\">%s</td>", value, text);
}

void cli_html_estimate(cli_page *page, double value, double half)
{
    char text[96];
    cli_format_estimate(text, sizeof text, value, half);
    char *sign = strstr(text, "+-");
    if (sign)
        cli_html(page, "<td data-value=\"%.6g\">%.*s±%s</td>", value, (int)(sign - text), text,
                 sign + 2);
    else
        cli_html(page, "<td>%s</td>", text);
}

const char *cli_html_p_sign(double p)
{
    static const double SMALLEST = 0.00101; /* 1 / 1000, and rounding */
    return p < SMALLEST ? "&le;" : "=";
}

void cli_html_flags(cli_page *page, uint32_t flags)
{
    const char *between = "";
    cli_html(page, "<td class=\"l\">");
    for (int bit = 0; *unrelu_flag_name(bit); bit++) {
        if (!(flags >> bit & 1))
            continue;
        const char *code = unrelu_flag_name(bit);
        const cli_code *c = cli_codes;
        while (c->code && strcmp(c->code, code) != 0)
            c++;
        cli_html(page, "%s<abbr title=\"%s\">%s</abbr>", between,
                 cli_escaped(page, c->code ? c->means : ""), code);
        between = ", ";
    }
    cli_html(page, "</td>");
}
