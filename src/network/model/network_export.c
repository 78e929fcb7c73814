/* SPDX-License-Identifier: Apache-2.0 */
/* A network for other programs: its weights alone, without what is known of them. */
#include "base/error.h"
#include "base/text.h"
#include "network/model/network.h"
#include "network/model/onnx.h"
#include "write/safetensors_write.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* single precision ends far below the largest double */
static unrelu_status check_range(const ur_weight *weights, size_t count, unrelu_error *err)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < ur_weight_count(&weights[i]); j++)
            if (!(fabs(weights[i].data[j]) <= (double)FLT_MAX))
                return ur_fail(err, UNRELU_EUSAGE,
                               "%s holds %g, which is beyond single precision; leave out `float32`",
                               weights[i].name, weights[i].data[j]);
    return UNRELU_OK;
}

unrelu_status unrelu_network_export(const unrelu_network *m, const char *path, int float32,
                                    unrelu_error *err)
{
    if (!path)
        return ur_fail(err, UNRELU_EUSAGE, "a network is exported to a file: a path is needed");
    if (!m->U || !m->V || !m->c || !m->e)
        return ur_fail(err, UNRELU_EUSAGE, "the network has no weights (its verdict is '%s')",
                       unrelu_verdict_name(m->verdict));
    const ur_weight weights[] = {{"0.weight", m->V, m->k, m->d},
                                 {"0.bias", m->c, m->k, 0},
                                 {"2.weight", m->U, m->m, m->k},
                                 {"2.bias", m->e, m->m, 0}};
    enum { COUNT = sizeof weights / sizeof *weights };
    ur_weights view = ur_network_weights(m);
    if (m->k == 0)
        return ur_fail(err, UNRELU_EUSAGE, "the network has no neurons: there is nothing to write");
    if (float32)
        UR_TRY(check_range(weights, COUNT, err));
    if (ur_text_ends(path, strlen(path), ".safetensors"))
        return ur_safetensors_write(path, weights, COUNT, float32, m->activation_name, err);
    if (ur_text_ends(path, strlen(path), ".onnx"))
        return ur_onnx_write(path, &view, float32, err);
    return ur_fail(err, UNRELU_EUSAGE,
                   "%s: networks are written as .safetensors (weights, for PyTorch) or .onnx (a "
                   "graph that runs), by the ending of the name",
                   path);
}
