/* Sums of rows by class, squared deviations from a centre by class, and the extremes of some numbers. See
   loops/moments.py. Every segment of rows is added up by itself, so that sums over many rows keep their digits. */
#include "parts.h"

#define SOME 4096 /* numbers that are looked at before it is noted whether one was NaN */

#define DENSE(NAME, T)                                                                                                 \
    /* sums[c] += sum of w_i (x_i - offset), or of w_i (x_i - offset_c)^2 if squared, over the rows of class c */       \
    EXPORT void class_sums_##NAME(const T *restrict X, int64_t first, int64_t start, int64_t stop, int64_t d,          \
                                  int64_t segment, int64_t squared, const double *restrict offset,                     \
                                  const int64_t *restrict codes,                                                       \
                                  const double *restrict weight, int64_t k, double *restrict sums,                     \
                                  double *restrict work) {                                                             \
        for (int64_t from = start; from < stop; from += segment) {                                                     \
            memset(work, 0, (size_t)(k * d) * sizeof *work);                                                           \
            for (int64_t i = from; i < least(from + segment, stop); i++) {                                             \
                const T *restrict x = X + (i - first) * d;                                                             \
                double *restrict sum = work + codes[i] * d;                                                            \
                const double w = weight[i], *restrict centre = squared ? offset + codes[i] * d : offset;               \
                if (squared) {                                                                                         \
                    _Pragma("omp simd") for (int64_t j = 0; j < d; j++) {                                              \
                        const double off = (double)x[j] - centre[j];                                                   \
                        sum[j] += w * (off * off);                                                                     \
                    }                                                                                                  \
                } else if (centre) {                                                                                   \
                    _Pragma("omp simd") for (int64_t j = 0; j < d; j++) sum[j] += w * ((double)x[j] - centre[j]);      \
                } else {                                                                                               \
                    _Pragma("omp simd") for (int64_t j = 0; j < d; j++) sum[j] += w * (double)x[j];                    \
                }                                                                                                      \
            }                                                                                                          \
            _Pragma("omp simd") for (int64_t j = 0; j < k * d; j++) sums[j] += work[j];                                \
        }                                                                                                              \
    }
DENSE(f64, double)
DENSE(f32, float)

/* the smallest and the largest of n numbers, or NaN for both if there is one among them */
#define EXTREMES(NAME, T)                                                                                              \
    EXPORT void extremes_##NAME(const T *restrict x, int64_t n, double *restrict found) {                              \
        T low = (T)__builtin_inf(), high = -(T)__builtin_inf();                                                        \
        int64_t strange = 0;                                                                                           \
        for (int64_t from = 0; from < n; from += SOME) {                                                               \
            int some = 0;                                                                                              \
            _Pragma("omp simd reduction(min : low) reduction(max : high) reduction(| : some)")                         \
            for (int64_t i = from; i < least(from + SOME, n); i++) {                                                   \
                low = x[i] < low ? x[i] : low;                                                                         \
                high = x[i] > high ? x[i] : high;                                                                      \
                some |= x[i] != x[i];                                                                                  \
            }                                                                                                          \
            strange |= some;                                                                                           \
        }                                                                                                              \
        found[0] = strange ? __builtin_nan("") : (double)low;                                                          \
        found[1] = strange ? __builtin_nan("") : (double)high;                                                         \
    }
EXTREMES(f64, double)
EXTREMES(f32, float)
