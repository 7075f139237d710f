/* Stochastic gradient descent for two classes, one point after the other; see loops/sgd.py. */
#include "exponential.h"
#include "rows.h"

#define SMALLEST 1e-100 /* a common factor of the weights below this is multiplied in */

enum { LOG, SQUARED_ERROR, HINGE, SQUARED_HINGE }; /* losses */

/* -eta times the slope of C c_i loss at this score: step (t - p), times 2 p (1 - p) for the squared error; y step of a
 * hinge, times 2 (1 - y score) of its square, where y score < 1, with y = 2 t - 1 */
static inline double sgd_change(double score, double target, double step, int64_t loss)
{
    if (loss >= HINGE) {
        const double y = 2.0 * target - 1.0, short_of = 1.0 - y * score;
        if (!(short_of > 0.0)) return 0.0;
        return loss == HINGE ? step * y : step * y * (2.0 * short_of);
    }
    const double small = exponential_f64(-__builtin_fabs(score));
    const double p = score >= 0.0 ? 1.0 / (1.0 + small) : small / (1.0 + small);
    const double change = step * (target - p);
    return loss == SQUARED_ERROR ? change * (2.0 * small / ((1.0 + small) * (1.0 + small))) : change;
}

#define LOOP "sgd_dense.inc"
#include "dense_instances.inc"
#define LOOP "sgd_csr.inc"
#include "csr_instances.inc"
