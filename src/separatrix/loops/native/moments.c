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

#define TILE 64 /* rows that are added up by themselves, as in moments.py */
#define WHOLE 4503599627370496.0 /* 2^52, from where on every float is whole */

typedef int64_t mask __attribute__((vector_size(8 * WIDTH))); /* -1 where something is true, else 0 */

INLINE part where(mask yes, part a, part b) { return (part)((yes & (mask)a) | (~yes & (mask)b)); }

/* Some rows of LANES columns, d apart; see column_summary. */
APART void lane_summary(const double *restrict X, int64_t rows, int64_t d, double *restrict low, double *restrict high,
                        double *restrict sums, double *restrict rest, int64_t *restrict missing,
                        int64_t *restrict broken) {
    const part zero = {0}, whole = zero + WHOLE;
    for (int p = 0; p < PARTS; p++) {
        const int at = p * WIDTH;
        part lo = part_f64(low + at), hi = part_f64(high + at), s = zero;
        mask gone = {0}, odd = {0};
        for (int64_t i = 0; i < rows; i++) {
            if (!p) __builtin_prefetch(X + (i + TILE) * d); /* the next tile, which may be in another core's cache */
            const part x = part_f64(X + i * d + at), v = where(x == x, x, zero);
            const part size = where(v < zero, -v, v);
            lo = where(x < lo, x, lo), hi = where(x > hi, x, hi);
            s += v;
            gone -= x != x;
            odd -= (size < whole) & ((size + whole) - whole != size);
        }
        const part sum = part_f64(sums + at), next = sum + s, back = next - sum; /* what rounding takes is kept */
        store(rest + at, part_f64(rest + at) + ((sum - (next - back)) + (s - back)));
        store(sums + at, next), store(low + at, lo + zero), store(high + at, hi + zero); /* never -0 */
        for (int l = 0; l < WIDTH; l++) missing[at + l] += gone[l], broken[at + l] += odd[l];
    }
}

/* What the columns of some rows are like: extremes, sums, how many cells are missing (NaN), how many are not whole. */
EXPORT void column_summary(const double *restrict X, int64_t n, int64_t d, double *restrict low, double *restrict high,
                           double *restrict sums, double *restrict rest, int64_t *restrict missing,
                           int64_t *restrict broken) {
    double held[TILE * LANES] = {0}, ends[4][LANES] = {{0}};
    int64_t counts[2][LANES] = {{0}};
    const int64_t most = d - d % LANES, few = d % LANES;
    for (int64_t top = 0; top < n; top += TILE) {
        const int64_t rows = least(TILE, n - top);
        const double *restrict x = X + top * d;
        for (int64_t j = 0; j < most; j += LANES)
            lane_summary(x + j, rows, d, low + j, high + j, sums + j, rest + j, missing + j, broken + j);
        if (!few) continue;
        double *const all[4] = {low + most, high + most, sums + most, rest + most};
        int64_t *const both[2] = {missing + most, broken + most};
        for (int64_t i = 0; i < rows; i++) memcpy(held + i * LANES, x + i * d + most, (size_t)few * sizeof *x);
        for (int k = 0; k < 4; k++) memcpy(ends[k], all[k], (size_t)few * sizeof *x);
        for (int k = 0; k < 2; k++) memcpy(counts[k], both[k], (size_t)few * sizeof **both);
        lane_summary(held, rows, LANES, ends[0], ends[1], ends[2], ends[3], counts[0], counts[1]);
        for (int k = 0; k < 4; k++) memcpy(all[k], ends[k], (size_t)few * sizeof *x);
        for (int k = 0; k < 2; k++) memcpy(both[k], counts[k], (size_t)few * sizeof **both);
    }
}
