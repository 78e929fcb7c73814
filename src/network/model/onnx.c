/* SPDX-License-Identifier: Apache-2.0 */
/* What of onnx.proto a network of two layers needs:
 *   Model {1 ir_version, 2 producer, 3 its version, 7 Graph, 8 Opset {2 version}}
 *   Graph {1 Node, 2 name, 5 Tensor, 11 input Value, 12 output Value}
 *   Node {1 input, 2 output, 3 name, 4 operator, 5 Attribute {1 name, 3 whole number, 20 type}}
 *   Tensor {1 dimension, 2 type, 8 name, 9 bytes}
 *   Value {1 name, 2 Type {1 Tensor {1 type, 2 Shape {1 Dimension {1 value, 2 name}}}}}
 * Operators are those of every runtime; f is made of them where it is not one itself. */
#include "network/model/onnx.h"

#include "base/error.h"
#include "write/protobuf.h"
#include "write/safetensors_write.h"

#include <stdint.h>

enum { IR_VERSION = 8, OPSET = 13, FLOAT = 1, DOUBLE = 11, WHOLE = 2 };

/* Protocol buffers end at 2 GiB; all but the weights takes some hundred bytes. */
static const size_t BYTES_MOST = INT32_MAX, REST_MOST = 4096;

typedef struct {
    ur_message graph;
    int single;
} maker;

static ur_message message(const maker *q)
{
    return (ur_message){.arena = q->graph.arena};
}

/* ---- parts ---- */

static void add_tensor(maker *q, const char *name, const double *data, size_t rows, size_t columns)
{
    ur_message tensor = message(q);
    size_t count = columns > 0 ? rows * columns
                   : rows > 0  ? rows
                               : 1; /* a number has no dimension */
    unsigned char *bytes = ur_take(q->graph.arena, count, ur_number_bytes(q->single));
    if (!bytes)
        return;
    ur_numbers_put(data, count, q->single, bytes);
    if (rows > 0)
        ur_message_whole(&tensor, 1, rows);
    if (columns > 0)
        ur_message_whole(&tensor, 1, columns);
    ur_message_whole(&tensor, 2, q->single ? FLOAT : DOUBLE);
    ur_message_text(&tensor, 8, name);
    ur_message_bytes(&tensor, 9, bytes, count * ur_number_bytes(q->single));
    ur_message_inside(&q->graph, 5, &tensor);
}

static void add_number(maker *q, const char *name, double value)
{
    add_tensor(q, name, &value, 0, 0);
}

static void add_attribute(ur_message *node, const char *name, uint64_t value)
{
    ur_message attribute = {.arena = node->arena};
    ur_message_text(&attribute, 1, name);
    ur_message_whole(&attribute, 3, value);
    ur_message_whole(&attribute, 20, WHOLE);
    ur_message_inside(node, 5, &attribute);
}

/* out = kind(a, b, c); b and c may be NULL */
static ur_message node_of(const maker *q, const char *kind, const char *a, const char *b,
                          const char *c, const char *out)
{
    ur_message node = message(q);
    ur_message_text(&node, 1, a);
    if (b)
        ur_message_text(&node, 1, b);
    if (c)
        ur_message_text(&node, 1, c);
    ur_message_text(&node, 2, out);
    ur_message_text(&node, 3, out);
    ur_message_text(&node, 4, kind);
    return node;
}

static void add_node(maker *q, const char *kind, const char *a, const char *b, const char *out)
{
    ur_message node = node_of(q, kind, a, b, NULL, out);
    ur_message_inside(&q->graph, 1, &node);
}

/* out = in W' + bias */
static void add_layer(maker *q, const char *in, const char *weight, const char *bias,
                      const char *out)
{
    ur_message node = node_of(q, "Gemm", in, weight, bias, out);
    add_attribute(&node, "transB", 1);
    ur_message_inside(&q->graph, 1, &node);
}

/* x or y: as many rows as there are */
static void add_value(maker *q, unsigned field, const char *name, size_t columns)
{
    ur_message rows = message(q), width = message(q), shape = message(q), tensor = message(q),
               type = message(q), value = message(q);
    ur_message_text(&rows, 2, "rows");
    ur_message_whole(&width, 1, columns);
    ur_message_inside(&shape, 1, &rows);
    ur_message_inside(&shape, 1, &width);
    ur_message_whole(&tensor, 1, q->single ? FLOAT : DOUBLE);
    ur_message_inside(&tensor, 2, &shape);
    ur_message_inside(&type, 1, &tensor);
    ur_message_text(&value, 1, name);
    ur_message_inside(&value, 2, &type);
    ur_message_inside(&q->graph, field, &value);
}

/* ---- the graph ---- */

/* hidden = f(t) */
static void add_activation(maker *q, unrelu_activation f)
{
    int exponential = f.kind == UNRELU_EXPM1 || f.kind == UNRELU_EXPM1SQ;
    if (f.kind == UNRELU_RELU) {
        add_node(q, "Relu", "t", NULL, "hidden");
        return;
    }
    add_node(q, "Relu", "t", NULL, "positive");
    if (f.kind == UNRELU_POWER) {
        add_number(q, "power", f.parameter);
        add_node(q, "Pow", "positive", "power", "hidden");
    } else if (f.kind == UNRELU_TANH_POS) {
        add_node(q, "Tanh", "positive", NULL, "hidden");
    } else if (f.kind == UNRELU_LEAKY) { /* LeakyRelu keeps its slope in single precision */
        add_number(q, "slope", f.parameter);
        add_node(q, "Neg", "t", NULL, "opposite");
        add_node(q, "Relu", "opposite", NULL, "negative");
        add_node(q, "Mul", "negative", "slope", "leak");
        add_node(q, "Sub", "positive", "leak", "hidden");
    } else if (exponential) {
        const char *of = f.kind == UNRELU_EXPM1SQ ? "square" : "positive";
        add_number(q, "one", 1);
        if (f.kind == UNRELU_EXPM1SQ)
            add_node(q, "Mul", "positive", "positive", of);
        add_node(q, "Exp", of, NULL, "exponential");
        add_node(q, "Sub", "exponential", "one", "hidden");
    }
}

static ur_message model_of(const maker *q)
{
    ur_message model = message(q), opset = message(q);
    ur_message_whole(&model, 1, IR_VERSION);
    ur_message_text(&model, 2, "unrelu");
    ur_message_text(&model, 3, unrelu_version());
    ur_message_inside(&model, 7, &q->graph);
    ur_message_whole(&opset, 2, OPSET);
    ur_message_inside(&model, 8, &opset);
    return model;
}

static unrelu_status check_size(const char *path, const ur_weights *w, int single,
                                unrelu_error *err)
{
    size_t bytes = (w->k * (w->d + 1) + w->m * (w->k + 1)) * ur_number_bytes(single);
    return bytes <= BYTES_MOST - REST_MOST
               ? UNRELU_OK
               : ur_fail(err, UNRELU_EUSAGE,
                         "%s: the weights take %zu bytes, and an .onnx file ends at %zu; write "
                         "%s.safetensors",
                         path, bytes, BYTES_MOST, single ? "" : "them with `float32`, or as ");
}

unrelu_status ur_onnx_write(const char *path, const ur_weights *w, int single, unrelu_error *err)
{
    UR_ARENA(arena);
    UR_TRY(check_size(path, w, single, err));
    maker q = {.graph = {.arena = &arena}, .single = single};
    add_layer(&q, "x", "0.weight", "0.bias", "t");
    add_activation(&q, w->f);
    add_layer(&q, "hidden", "2.weight", "2.bias", "y");
    ur_message_text(&q.graph, 2, "unrelu");
    add_tensor(&q, "0.weight", w->V, w->k, w->d);
    add_tensor(&q, "0.bias", w->c, w->k, 0);
    add_tensor(&q, "2.weight", w->U, w->m, w->k);
    add_tensor(&q, "2.bias", w->e, w->m, 0);
    add_value(&q, 11, "x", w->d);
    add_value(&q, 12, "y", w->m);
    ur_message model = model_of(&q);
    UR_TRY(ur_arena_status(&arena, err));
    return unrelu_file_write(path, model.bytes, model.size, err);
}
