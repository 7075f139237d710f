/* Rows of any strides, and half precision, written in C order. See loops/packing.py. */
#include "parts.h"

#define SIDE 4 /* rows and columns that are turned at a time */

typedef double four_f64 __attribute__((vector_size(32)));
typedef float four_f32 __attribute__((vector_size(16)));

#if __has_builtin(__builtin_shufflevector)
#define PICK(INDEX, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(INDEX, a, b, ...) __builtin_shuffle(a, b, (INDEX){__VA_ARGS__})
#endif
typedef int64_t index_f64 __attribute__((vector_size(32)));
typedef int32_t index_f32 __attribute__((vector_size(16)));

/* out[i][j] = the T at address + i * down + j * right, strides in bytes. In Fortran order 4 columns at a time are read
   down and turned; asks for the next m rows, since that many short streams are not foreseen. */
#define PACK(NAME, T)                                                                                                  \
    INLINE void turn_##NAME(const char *restrict from, int64_t right, int64_t d, T *restrict to) {                     \
        four_##NAME a, b, c, e;                                                                                        \
        memcpy(&a, from, sizeof a);                                                                                    \
        memcpy(&b, from + right, sizeof b);                                                                            \
        memcpy(&c, from + 2 * right, sizeof c);                                                                        \
        memcpy(&e, from + 3 * right, sizeof e);                                                                        \
        const four_##NAME p = PICK(index_##NAME, a, b, 0, 4, 2, 6), q = PICK(index_##NAME, a, b, 1, 5, 3, 7);          \
        const four_##NAME r = PICK(index_##NAME, c, e, 0, 4, 2, 6), s = PICK(index_##NAME, c, e, 1, 5, 3, 7);          \
        a = PICK(index_##NAME, p, r, 0, 1, 4, 5), b = PICK(index_##NAME, q, s, 0, 1, 4, 5);                            \
        c = PICK(index_##NAME, p, r, 2, 3, 6, 7), e = PICK(index_##NAME, q, s, 2, 3, 6, 7);                            \
        memcpy(to, &a, sizeof a);                                                                                      \
        memcpy(to + d, &b, sizeof b);                                                                                  \
        memcpy(to + 2 * d, &c, sizeof c);                                                                              \
        memcpy(to + 3 * d, &e, sizeof e);                                                                              \
    }                                                                                                                  \
    EXPORT void pack_##NAME(int64_t address, int64_t down, int64_t right, int64_t m, int64_t d, T *restrict out) {     \
        const char *restrict from = (const char *)(intptr_t)address;                                                   \
        const int64_t turned = down == (int64_t)sizeof(T) ? m / (2 * SIDE) * (2 * SIDE) : 0;                           \
        for (int64_t i = 0; i < m && right == (int64_t)sizeof(T); i++)                                                 \
            memcpy(out + i * d, from + i * down, (size_t)d * sizeof(T));                                               \
        for (int64_t j = 0; j < d && right != (int64_t)sizeof(T); j += SIDE) {                                         \
            const char *restrict column = from + j * right;                                                            \
            int64_t i = 0;                                                                                             \
            for (; j + SIDE <= d && i < turned; i += 2 * SIDE) {                                                       \
                for (int q = 0; q < SIDE; q++) __builtin_prefetch(column + (i + m) * down + q * right, 0, 2);          \
                turn_##NAME(column + i * down, right, d, out + i * d + j);                                             \
                turn_##NAME(column + (i + SIDE) * down, right, d, out + (i + SIDE) * d + j);                           \
            }                                                                                                          \
            for (; i < m; i++)                                                                                         \
                for (int64_t q = 0; q < least(SIDE, d - j); q++)                                                       \
                    memcpy(out + i * d + j + q, column + i * down + q * right, sizeof(T));                             \
        }                                                                                                              \
    }
PACK(f64, double)
PACK(f32, float)

INLINE float single(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* the bits of n numbers in half precision as single precision, exactly */
EXPORT void widen(const uint16_t *restrict half, int64_t n, float *restrict out) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const uint32_t h = half[i], size = (h & 0x7FFF) << 13, sign = (h & 0x8000) << 16;
        const int beyond = size >= 0x0F800000; /* infinity and NaN have the largest exponent */
        /* the exponent counts from elsewhere, and subnormals become normal */
        out[i] = single(size + (beyond ? 0x70000000 : 0)) * single((beyond ? 0x3F800000 : 0x77800000) | sign);
    }
}
