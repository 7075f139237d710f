/* s_i = x_i.w for rows x_i of X. See loops/scores.py. */
#include "rows.h"

#define SCORES(NAME, T, DOT)                                                                                           \
    EXPORT void NAME(const T *restrict X, int64_t n, int64_t d, const double *restrict w, double *restrict s) {        \
        for (int64_t i = 0; i < n; i++) s[i] = DOT(X + i * d, w, d);                                                   \
    }
SCORES(row_scores_f64, double, dense_dot_f64)
SCORES(row_scores_f32, float, dense_dot_f32)
