/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"
#include "scope.h"
#include "show/models.h"

typedef struct {
    cli_shared shared;
    int float32;
} export_arguments;

#define TO(kind, field) CLI_TO(kind, export_arguments, field)

static const cli_option options[] = {
    {"output", 'o', "FILE",
     "write to FILE: .safetensors, weights for PyTorch, or .onnx, a graph that runs",
     TO(CLI_TEXT, shared.output)},
    {"float32", 0, NULL, "numbers in single precision (default: double)", TO(CLI_FLAG, float32)},
    {0},
};

static const cli_example examples[] = {
    {"unrelu generate network -d 20 -k 10 -m 12 -n 200 -o net", "inputs and labels of a network"},
    {"unrelu recover net/x.npy net/a.npy -o net.npz", "the network"},
    {"unrelu export net.npz -o net.safetensors", "its weights, as PyTorch reads them"},
    {"unrelu compare net.npz net.safetensors", "which are the same"},
    {"unrelu export net.npz --float32 -o net.onnx", "a graph for onnxruntime and its kin"},
    {0},
};

static int run(void *arguments)
{
    const export_arguments *a = arguments;
    const cli_shared *shared = &a->shared;
    CLI_SCOPE(cli_free_model) cli_model model = {0};
    CLI_TRY(cli_require_output("export", shared, "the network goes, .safetensors or .onnx"));
    CLI_TRY(cli_check_output(shared, NULL));
    CLI_TRY(cli_load_model(shared->files[0], 1U << CLI_NETWORK, &model));
    const unrelu_network *network = model.network;
    CLI_CALL(unrelu_network_export(network, shared->output, a->float32, &err));
    cli_wrote_file();
    cli_note("%s: %zu inputs, %zu neurons, %zu labels, in %s precision", shared->output, network->d,
             network->k, network->m, a->float32 ? "single" : "double");
    return 0;
}

const cli_command cli_export = {
    .name = "export",
    .files = {"NET", 1, 1},
    .brief = "Write a network for PyTorch or ONNX",
    .doc = "NET is a network: a model of 'unrelu recover', or weights of PyTorch (.safetensors or "
           ".npz). What is written holds its weights alone, not what is known of them. A "
           ".safetensors file has 0.weight, 0.bias, 2.weight and 2.bias, the parameters of "
           "torch.nn.Sequential(Linear, ReLU, Linear), which load_state_dict takes. An .onnx file "
           "has the whole network, whatever its activation, from x (rows of inputs) to y.",
    .options = options,
    .examples = examples,
    .size = sizeof(export_arguments),
    .run = run,
};
