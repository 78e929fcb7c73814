/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler takes the files as they stand; CMakeLists.txt says where they are. */
#include "assets.h"

#define EMBED(name, path)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " #name "\n.hidden " #name "\n" #name ":\n"                                   \
            ".incbin \"" path "\"\n.byte 0\n.popsection\n")

EMBED(cli_page_css, PAGE_CSS);
EMBED(cli_page_js, PAGE_JS);
