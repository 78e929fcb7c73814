/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a text table that are not numbers to whoever reads it, as they are written. */
#ifndef UR_CSV_TEXTS_H
#define UR_CSV_TEXTS_H

#include "read/source.h"

/* those of whole lines, of columns without a place */
unrelu_status ur_csv_add_texts(const ur_piece *piece, unsigned char separator, ur_texts *texts,
                               unrelu_error *err);

#endif
