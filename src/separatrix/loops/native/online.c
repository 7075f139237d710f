/* Rosenblatt's rule, one point after the other; see loops/online.py. */
#include "rows.h"

enum { UPDATES, PASSES, MISTAKES, POWER, LENGTH, SINCE, CYCLE }; /* of counts */

static inline int is_mistake(double score, double step, double tie)
{
    return score != 0.0 ? (score < 0.0) == (step > 0.0) : step < tie;
}

/* After a pass: whether the m weights are those that were saved some passes ago (Brent's method). */
static inline int came_back(const double *restrict w, double *restrict saved, int64_t m, int64_t updates,
                            int64_t *restrict counts)
{
    int64_t j = 0;
    while (j < m && w[j] == saved[j]) j++;
    counts[LENGTH] += 1;
    if (j == m) {
        counts[CYCLE] = counts[LENGTH];
        return 1;
    }
    if (counts[LENGTH] == counts[POWER]) {
        memcpy(saved, w, (size_t)m * sizeof(double));
        counts[POWER] *= 2, counts[LENGTH] = 0, counts[SINCE] = updates;
    }
    return 0;
}

#define LOOP "online.inc"
#include "dense_instances.inc"
#define LOOP "online.inc"
#include "csr_instances.inc"
