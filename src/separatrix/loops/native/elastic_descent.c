/* Coordinate descent on a quadratic model with an elastic net; see loops/elastic_descent.py. */
#include "rows.h"

/* Of v (x - w) + 1/2 curvature (x - w)^2 + r |x| + ridge/2 x^2 over x; 0 where nothing bends it. */
static inline double minimum(double w, double v, double curvature, double r, double ridge)
{
    const double bend = curvature + ridge, pull = curvature * w - v;
    if (!(bend > 0.0)) return 0.0;
    return pull > r ? (pull - r) / bend : pull < -r ? (pull + r) / bend : 0.0;
}

EXPORT int64_t gram_sweeps(const double *restrict H, int64_t m, const int64_t *restrict order, int64_t count, double r,
                           double ridge, double *restrict v, double *restrict w, double goal, int64_t most,
                           double *restrict gain, int64_t budget)
{
    int64_t done = 0;
    while (done < most && budget > 0) {
        double gained = 0.0;
        for (int64_t k = 0; k < count; k++) {
            const int64_t j = order[k];
            const double *restrict row = H + j * m;
            const double old = w[j], curvature = row[j], new = minimum(old, v[j], curvature, r, ridge);
            const double change = new - old;
            budget -= ROW_COST;
            if (change != 0.0) {
                w[j] = new;
                gained += 0.5 * (curvature + ridge) * change * change;
                for (int64_t i = 0; i < m; i++) v[i] += change * row[i];
                budget -= m;
            }
        }
        done++;
        gain[0] = gained;
        if (!(gained > goal)) break;
    }
    return done;
}

#define OF(function) JOIN(function##_f64, SUFFIX) /* what rows.h has for columns of doubles */
#define I int32_t
#define SUFFIX i32
#include "elastic_descent.inc"
#undef I
#undef SUFFIX
#define I int64_t
#define SUFFIX i64
#include "elastic_descent.inc"
