/* Rows of any strides, written in C order. See loops/packing.py. */
#include "parts.h"

#define SIDE 8 /* columns that are read side by side, and rows that are written so: a line of 64 bytes each */

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* out[i][j] = the T at address + i * down + j * right, strides in bytes; in tiles, as neighbours in a column may be
   neighbours in memory */
#define PACK(NAME, T)                                                                                                  \
    EXPORT void pack_##NAME(int64_t address, int64_t down, int64_t right, int64_t m, int64_t d, T *restrict out) {     \
        const char *restrict from = (const char *)(intptr_t)address;                                                   \
        for (int64_t j = 0; j < d; j += SIDE) {                                                                        \
            const int64_t columns = least(SIDE, d - j);                                                                \
            const char *restrict column = from + j * right;                                                            \
            T *restrict to = out + j;                                                                                  \
            if (columns == SIDE)                                                                                       \
                for (int64_t i = 0; i < m; i++)                                                                        \
                    for (int q = 0; q < SIDE; q++) memcpy(to + i * d + q, column + i * down + q * right, sizeof(T));   \
            else                                                                                                       \
                for (int64_t i = 0; i < m; i++)                                                                        \
                    for (int64_t q = 0; q < columns; q++)                                                              \
                        memcpy(to + i * d + q, column + i * down + q * right, sizeof(T));                              \
        }                                                                                                              \
    }
PACK(f64, double)
PACK(f32, float)
