/* What loops over single rows share: dot products, and how memory is asked for ahead. Sums run in fixed lanes that no
   instruction set changes: the same bits everywhere. */
#ifndef SEPARATRIX_ROWS_H
#define SEPARATRIX_ROWS_H

#include "common.h"

/* A loop's budget is counted in entries: a row takes its entries, and this many more for itself. */
#define ROW_COST 8

#define INFINITE __builtin_inf()

/* min(a, b) and max(a, b) as Python has them: a, where b is NaN */
static inline double smaller(double a, double b) { return b < a ? b : a; }
static inline double larger(double a, double b) { return b > a ? b : a; }

/* sum_j f(x_j) w_j: eight running sums, then four entries, then up to three one after the other. */
#define DENSE_SUM(function, T, S, f)                                                                                  \
    static inline double function##_##S(const T *restrict x, const double *restrict w, int64_t d)                     \
    {                                                                                                                 \
        double s[8] = {0.0}, rest = 0.0;                                                                              \
        int64_t j = 0;                                                                                                \
        for (; j + 8 <= d; j += 8)                                                                                    \
            for (int lane = 0; lane < 8; lane++) s[lane] += f((double)x[j + lane]) * w[j + lane];                     \
        if (j + 4 <= d) {                                                                                             \
            for (int lane = 0; lane < 4; lane++) s[lane] += f((double)x[j + lane]) * w[j + lane];                     \
            j += 4;                                                                                                   \
        }                                                                                                             \
        for (; j < d; j++) rest += f((double)x[j]) * w[j];                                                            \
        return (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))) + rest;                            \
    }
DENSE_SUM(dense_dot, double, f64, )
DENSE_SUM(dense_dot, float, f32, )
DENSE_SUM(size_dot, double, f64, __builtin_fabs)
DENSE_SUM(size_dot, float, f32, __builtin_fabs)

#define AHEAD 4          /* rows that are on their way from memory while one is worked on */
#define AHEAD_BYTES 1024 /* of a dense row that are asked for: the processor guesses the rest itself */

/* Always inline: gcc takes a function that does nothing but this for one without effects, and leaves out its calls. */
#define FETCH static inline __attribute__((always_inline)) void

/* Ask for the cache lines of a few bytes that will be read soon. */
FETCH fetch(const void *start, int64_t bytes)
{
    const char *p = start;
    for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(p + at, 0, 2);
}

FETCH fetch_dense(const void *row, int64_t bytes) { fetch(row, bytes < AHEAD_BYTES ? bytes : AHEAD_BYTES); }

/* Of m stored entries: `sparse_dot` is the sum of x_k w[column_k], those at even places plus those at odd ones (more
   sums would be faster where rows are long, but short rows of many lengths are slow to leave a loop of four);
   `sparse_add` adds change x_k to w[column_k], one after the other, for a column may come twice; `fetch_row` asks for
   the entries of row i, `most` of them. */
#define SPARSE(T, I, S)                                                                                               \
    static inline double sparse_dot_##S(const T *restrict x, const I *restrict column, int64_t m,                     \
                                        const double *restrict w)                                                     \
    {                                                                                                                 \
        double even = 0.0, odd = 0.0;                                                                                 \
        int64_t k = 0;                                                                                                \
        for (; k + 2 <= m; k += 2) {                                                                                  \
            even += (double)x[k] * w[column[k]];                                                                      \
            odd += (double)x[k + 1] * w[column[k + 1]];                                                               \
        }                                                                                                             \
        if (k < m) even += (double)x[k] * w[column[k]];                                                               \
        return even + odd;                                                                                            \
    }                                                                                                                 \
    static inline void sparse_add_##S(double change, const T *restrict x, const I *restrict column, int64_t m,        \
                                      double *restrict w)                                                             \
    {                                                                                                                 \
        for (int64_t k = 0; k < m; k++) w[column[k]] += change * (double)x[k];                                        \
    }                                                                                                                 \
    FETCH fetch_row_##S(const I *restrict indptr, const I *restrict indices, const T *restrict data, int64_t i,        \
                        int64_t most)                                                                         \
    {                                                                                                                 \
        const int64_t from = indptr[i], entries = indptr[i + 1] - from, m = entries < most ? entries : most;          \
        fetch(data + from, m * (int64_t)sizeof(T));                                                                   \
        fetch(indices + from, m * (int64_t)sizeof(I));                                                                \
    }
SPARSE(double, int32_t, f64_i32)
SPARSE(double, int64_t, f64_i64)
SPARSE(float, int32_t, f32_i32)
SPARSE(float, int64_t, f32_i64)

#endif
