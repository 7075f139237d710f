/* What loops over single rows share: names of template instances, dot products, exp.

   A family's loop is written once in NAME.inc and included for each element type T (float, double) and, where rows are
   sparse, for each index type I (int32_t, int64_t); SUFFIX is then f64, f32, f64_i32, ... Sums run in fixed lanes that
   no instruction set changes: the same bits everywhere. */
#ifndef SEPARATRIX_ROWS_H
#define SEPARATRIX_ROWS_H

#include "common.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(function) JOIN(function, SUFFIX)

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

/* sum_k x_k w[column_k] over m stored entries: those at even places, plus those at odd ones. More sums would be faster
   where rows are long, but short rows of many lengths are slow to leave a loop of four. */
#define SPARSE_DOT(T, I, S)                                                                                           \
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
    }
SPARSE_DOT(double, int32_t, f64_i32)
SPARSE_DOT(double, int64_t, f64_i64)
SPARSE_DOT(float, int32_t, f32_i32)
SPARSE_DOT(float, int64_t, f32_i64)

/* w[column_k] += change x_k; one after the other, for a column may come twice. */
#define SPARSE_ADD(T, I, S)                                                                                           \
    static inline void sparse_add_##S(double change, const T *restrict x, const I *restrict column, int64_t m,        \
                                      double *restrict w)                                                             \
    {                                                                                                                 \
        for (int64_t k = 0; k < m; k++) w[column[k]] += change * (double)x[k];                                        \
    }
SPARSE_ADD(double, int32_t, f64_i32)
SPARSE_ADD(double, int64_t, f64_i64)
SPARSE_ADD(float, int32_t, f32_i32)
SPARSE_ADD(float, int64_t, f32_i64)

#define AHEAD 4          /* rows that are on their way from memory while one is worked on */
#define AHEAD_BYTES 1024 /* of a dense row that are asked for: the processor guesses the rest itself */

/* Ask for the cache lines of a few bytes that will be read soon. */
static inline void fetch(const void *start, int64_t bytes)
{
    const char *p = start;
    for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(p + at, 0, 2);
}

#endif
