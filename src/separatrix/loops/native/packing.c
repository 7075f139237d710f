/* Rows of any type and strides, written in C order. See loops/packing.py. */
#include "packing.h"

#define WIDE 8  /* columns that are turned at a time: a line of 64 bytes, or half of one */
#define DEEP 64 /* rows of them, which stay in the first-level cache while they are turned */
#define SIDE 4   /* rows and columns of a tile, in registers */

typedef double four_f64 __attribute__((vector_size(32)));
typedef float four_f32 __attribute__((vector_size(16)));
typedef int64_t index_f64 __attribute__((vector_size(32)));
typedef int32_t index_f32 __attribute__((vector_size(16)));

#if __has_builtin(__builtin_shufflevector)
#define PICK(INDEX, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(INDEX, a, b, ...) __builtin_shuffle(a, b, (INDEX){__VA_ARGS__})
#endif

INLINE double as_f8(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE float as_f4(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* half precision, exactly: the exponent counts from elsewhere, and subnormals become normal */
INLINE float as_f2(uint16_t bits) {
    const uint32_t h = bits, size = (h & 0x7FFF) << 13, sign = (h & 0x8000) << 16;
    const int beyond = size >= 0x0F800000; /* infinity and NaN have the largest exponent */
    return as_f4(size + (beyond ? 0x70000000 : 0)) * as_f4((beyond ? 0x3F800000 : 0x77800000) | sign);
}

#define AS_IS(x) (x)
#define TRUTH(x) ((x) != 0)
#define SWAPPED_F8(x) as_f8(__builtin_bswap64(x))
#define SWAPPED_F4(x) as_f4(__builtin_bswap32(x))
#define SWAPPED_F2(x) as_f2(__builtin_bswap16(x))
#define SWAPPED_I2(x) ((int16_t)__builtin_bswap16(x))
#define SWAPPED_I4(x) ((int32_t)__builtin_bswap32(x))
#define SWAPPED_I8(x) ((int64_t)__builtin_bswap64(x))

/* each kind: its name, its number, what is read, and the number that is meant */
#define EACH_KIND(DO, NAME, T)                                                                                         \
    DO(NAME, T, f8, F8, uint64_t, as_f8)                                                                               \
    DO(NAME, T, f4, F4, uint32_t, as_f4)                                                                               \
    DO(NAME, T, f2, F2, uint16_t, as_f2)                                                                               \
    DO(NAME, T, b1, B1, uint8_t, TRUTH)                                                                                \
    DO(NAME, T, i1, I1, int8_t, AS_IS)                                                                                 \
    DO(NAME, T, u1, U1, uint8_t, AS_IS)                                                                                \
    DO(NAME, T, i2, I2, int16_t, AS_IS)                                                                                \
    DO(NAME, T, u2, U2, uint16_t, AS_IS)                                                                               \
    DO(NAME, T, i4, I4, int32_t, AS_IS)                                                                                \
    DO(NAME, T, u4, U4, uint32_t, AS_IS)                                                                               \
    DO(NAME, T, i8, I8, int64_t, AS_IS)                                                                                \
    DO(NAME, T, u8, U8, uint64_t, AS_IS)                                                                               \
    DO(NAME, T, other_f8, SWAPPED + F8, uint64_t, SWAPPED_F8)                                                          \
    DO(NAME, T, other_f4, SWAPPED + F4, uint32_t, SWAPPED_F4)                                                          \
    DO(NAME, T, other_f2, SWAPPED + F2, uint16_t, SWAPPED_F2)                                                          \
    DO(NAME, T, other_i2, SWAPPED + I2, uint16_t, SWAPPED_I2)                                                          \
    DO(NAME, T, other_u2, SWAPPED + U2, uint16_t, __builtin_bswap16)                                                   \
    DO(NAME, T, other_i4, SWAPPED + I4, uint32_t, SWAPPED_I4)                                                          \
    DO(NAME, T, other_u4, SWAPPED + U4, uint32_t, __builtin_bswap32)                                                   \
    DO(NAME, T, other_i8, SWAPPED + I8, uint64_t, SWAPPED_I8)                                                          \
    DO(NAME, T, other_u8, SWAPPED + U8, uint64_t, __builtin_bswap64)

/* out[i] = the number at from + i * stride */
#define READER(NAME, T, KIND, NUMBER, RAW, MEANT)                                                                      \
    static void read_##KIND##_##NAME(const char *restrict from, int64_t stride, int64_t n, T *restrict out) {          \
        RAW x;                                                                                                         \
        if (stride == (int64_t)sizeof x)                                                                               \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                memcpy(&x, from + i * (int64_t)sizeof x, sizeof x);                                                    \
                out[i] = (T)MEANT(x);                                                                                  \
            }                                                                                                          \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                memcpy(&x, from + i * stride, sizeof x);                                                               \
                out[i] = (T)MEANT(x);                                                                                  \
            }                                                                                                          \
    }
#define ENTRY(NAME, T, KIND, NUMBER, RAW, MEANT) [NUMBER] = read_##KIND##_##NAME,

/* Where columns are longer steps than rows, some columns at a time are read down and turned: all rows of them before
   the next, since a processor foresees a few long runs, and 500 columns are on as many pages. */
#define PACK(NAME, T, OWN)                                                                                             \
    EACH_KIND(READER, NAME, T)                                                                                         \
    static void (*const readers_##NAME[])(const char *, int64_t, int64_t, T *) = {EACH_KIND(ENTRY, NAME, T)};          \
    INLINE void tile_##NAME(const char *restrict from, int64_t apart, int64_t d, T *restrict to) {                     \
        four_##NAME a, b, c, e;                                                                                        \
        memcpy(&a, from, sizeof a);                                                                                    \
        memcpy(&b, from + apart, sizeof b);                                                                            \
        memcpy(&c, from + 2 * apart, sizeof c);                                                                        \
        memcpy(&e, from + 3 * apart, sizeof e);                                                                        \
        const four_##NAME p = PICK(index_##NAME, a, b, 0, 4, 2, 6), q = PICK(index_##NAME, a, b, 1, 5, 3, 7);          \
        const four_##NAME r = PICK(index_##NAME, c, e, 0, 4, 2, 6), s = PICK(index_##NAME, c, e, 1, 5, 3, 7);          \
        a = PICK(index_##NAME, p, r, 0, 1, 4, 5), b = PICK(index_##NAME, q, s, 0, 1, 4, 5);                            \
        c = PICK(index_##NAME, p, r, 2, 3, 6, 7), e = PICK(index_##NAME, q, s, 2, 3, 6, 7);                            \
        memcpy(to, &a, sizeof a);                                                                                      \
        memcpy(to + d, &b, sizeof b);                                                                                  \
        memcpy(to + 2 * d, &c, sizeof c);                                                                              \
        memcpy(to + 3 * d, &e, sizeof e);                                                                              \
    }                                                                                                                  \
    /* to[i][j] = the T at from + i * sizeof(T) + j * apart, for some rows and WIDE columns or fewer */                \
    static void turn_##NAME(const char *restrict from, int64_t apart, int64_t rows, int64_t wide, int64_t d,           \
                            T *restrict to) {                                                                          \
        const int64_t size = sizeof(T), whole = wide == WIDE ? rows - rows % WIDE : 0;                                 \
        for (int64_t i = 0; i < whole; i += WIDE) {                                                                    \
            for (int64_t p = i; p < i + WIDE; p += SIDE)                                                               \
                for (int64_t q = 0; q < WIDE; q += SIDE)                                                               \
                    tile_##NAME(from + p * size + q * apart, apart, d, to + p * d + q);                                \
        }                                                                                                              \
        for (int64_t i = whole; i < rows; i++)                                                                         \
            for (int64_t q = 0; q < wide; q++) memcpy(to + i * d + q, from + i * size + q * apart, sizeof(T));         \
    }                                                                                                                  \
    EXPORT void pack_##NAME(int64_t address, int64_t down, int64_t right, int64_t kind, int64_t m, int64_t d,          \
                            T *restrict out) {                                                                         \
        const char *restrict from = (const char *)(intptr_t)address;                                                   \
        T held[WIDE * DEEP];                                                                                           \
        if (size_of(right) <= size_of(down)) {                                                                         \
            for (int64_t i = 0; i < m; i++) readers_##NAME[kind](from + i * down, right, d, out + i * d);              \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t j = 0; j < d; j += WIDE)                                                                          \
            for (int64_t top = 0; top < m; top += DEEP) {                                                              \
                const int64_t rows = least(DEEP, m - top), wide = least(WIDE, d - j);                                  \
                const char *restrict column = from + top * down + j * right;                                           \
                if (kind == OWN && down == (int64_t)sizeof(T)) {                                                       \
                    turn_##NAME(column, right, rows, wide, d, out + top * d + j);                                      \
                    continue;                                                                                          \
                }                                                                                                      \
                for (int64_t q = 0; q < wide; q++)                                                                     \
                    readers_##NAME[kind](column + q * right, down, rows, held + q * DEEP);                             \
                turn_##NAME((const char *)held, DEEP * sizeof(T), rows, wide, d, out + top * d + j);                   \
            }                                                                                                          \
    }
PACK(f64, double, F8)
PACK(f32, float, F4)
