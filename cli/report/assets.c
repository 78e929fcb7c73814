/* SPDX-License-Identifier: Apache-2.0 */
/* cmake/web.cmake says where the files are. The assembler takes them as they stand: as an array in
 * C the chart library alone would take seconds to compile. */
#include "assets.h"

#include <string.h>

#define EMBED(name, path)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " #name "_begin\n.hidden " #name "_begin\n" #name "_begin:\n"                 \
            ".incbin \"" path "\"\n"                                                               \
            ".global " #name "_end\n.hidden " #name "_end\n" #name "_end:\n"                       \
            ".byte 0\n.popsection\n");                                                             \
    extern const char name##_begin[], name##_end[];                                                \
    static cli_asset name##_asset(void)                                                            \
    {                                                                                              \
        return (cli_asset){name##_begin, (size_t)(name##_end - name##_begin)};                     \
    }

#define NONE(name)                                                                                 \
    static cli_asset name##_asset(void)                                                            \
    {                                                                                              \
        return (cli_asset){"", 0};                                                                 \
    }

EMBED(css, PAGE_CSS)
EMBED(js, PAGE_JS)
EMBED(bars, CHARTS "/bars.json")
EMBED(eigenvalues, CHARTS "/eigenvalues.json")
EMBED(fitted, CHARTS "/fitted.json")
EMBED(heatmap, CHARTS "/heatmap.json")
EMBED(histogram, CHARTS "/histogram.json")
EMBED(pairs, CHARTS "/pairs.json")
EMBED(quantiles, CHARTS "/quantiles.json")
EMBED(residuals, CHARTS "/residuals.json")

#ifdef CHARTS_LICENCES
EMBED(licences, CHARTS_LICENCES)
EMBED(vega, VEGA_JS)
EMBED(vega_lite, VEGA_LITE_JS)
EMBED(vega_embed, VEGA_EMBED_JS)
#else
NONE(licences)
NONE(vega)
NONE(vega_lite)
NONE(vega_embed)
#endif

static const struct {
    cli_asset (*asset)(void);
    const char *url, *hash;
} scripts[CLI_CHART_SCRIPTS] = {
    {vega_asset, VEGA_URL, VEGA_HASH},
    {vega_lite_asset, VEGA_LITE_URL, VEGA_LITE_HASH},
    {vega_embed_asset, VEGA_EMBED_URL, VEGA_EMBED_HASH},
};

static const struct {
    const char *name;
    cli_asset (*asset)(void);
} specs[] = {
    {"bars", bars_asset},           {"eigenvalues", eigenvalues_asset}, {"fitted", fitted_asset},
    {"heatmap", heatmap_asset},     {"histogram", histogram_asset},     {"pairs", pairs_asset},
    {"quantiles", quantiles_asset}, {"residuals", residuals_asset},
};

cli_asset cli_chart_spec(const char *name)
{
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        if (strcmp(specs[i].name, name) == 0)
            return specs[i].asset();
    return (cli_asset){"", 0};
}

cli_asset cli_page_css(void)
{
    return css_asset();
}

cli_asset cli_page_js(void)
{
    return js_asset();
}

cli_asset cli_chart_licences(void)
{
    return licences_asset();
}

cli_asset cli_chart_script(size_t i)
{
    return scripts[i].asset();
}

const char *cli_chart_url(size_t i)
{
    return scripts[i].url;
}

const char *cli_chart_hash(size_t i)
{
    return scripts[i].hash;
}
