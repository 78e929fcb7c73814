/* SPDX-License-Identifier: Apache-2.0 */
#include "dense/clp.h"

#include <Clp_C_Interface.h>
#include <new>
#include <type_traits>

static_assert(std::is_same<CoinBigIndex, int>::value, "columns start at places that are int");

namespace
{

struct model_owner {
    Clp_Simplex *model = Clp_newModel();
    model_owner() = default;
    model_owner(const model_owner &) = delete;
    model_owner &operator=(const model_owner &) = delete;
    ~model_owner() { Clp_deleteModel(model); }
};

ur_clp_end solve(const ur_clp *p, const double *c, double tolerance, double *price)
{
    model_owner owner;
    Clp_Simplex *model = owner.model;
    Clp_setLogLevel(model, 0);
    Clp_loadProblem(model, p->columns, p->rows, p->start, p->index, p->value, p->lower, nullptr,
                    p->cost, c, c);
    Clp_setDualTolerance(model, tolerance);
    Clp_setPerturbation(model, 100); /* none */
    Clp_scaling(model, 0);           /* cells of 1e-17 make its scaling end "optimal" far off */
    int status = Clp_primal(model, 0);
    if (status < UR_CLP_OPTIMAL || status > UR_CLP_UNBOUNDED)
        return UR_CLP_GAVE_UP;
    if (status == UR_CLP_OPTIMAL && Clp_secondaryStatus(model) != 0)
        return UR_CLP_GAVE_UP;
    const double *found = Clp_dualRowSolution(model);
    for (int j = 0; status == UR_CLP_OPTIMAL && price && j < p->rows; j++)
        price[j] = found[j];
    return static_cast<ur_clp_end>(status);
}

} // namespace

ur_clp_end ur_clp_solve(const ur_clp *problem, const double *c, double tolerance, double *price)
{
    try {
        return solve(problem, c, tolerance, price);
    } catch (const std::bad_alloc &) {
        return UR_CLP_NO_MEMORY;
    } catch (...) {
        return UR_CLP_THREW;
    }
}
