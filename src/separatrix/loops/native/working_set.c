/* Sequential minimal optimisation inside a working set, and what it asks of the rows of the kernel matrix; see
   loops/working_set.py.

   The largest of many numbers is sought a block at a time: its value by vector instructions, then its place in the best
   block. Maxima do not depend on the order in which they are sought, so every instruction set finds the same. */
#include "rows.h"

#define TINY 0x1p-1022
#define BLOCK 64     /* points of which the best is sought together */
#define TILE 32      /* rows and columns of a matrix that are mirrored together */
#define PIECE 1024   /* residuals that stay in the first cache while rows are added to them */
#define FIRST 1e-7   /* of a margin, by which two points may differ when the gap is first looked at */
#define LAST 1e-15   /* and below which they need not come */
#define STEEP 1e-3   /* the least part of what they might differ by, that they may when the gap is looked at again */
#define FLAT 0.1     /* and the largest */
#define SNAP 1e-12   /* of the upper bound, within which alpha is at it; of what alpha was, below which it is 0 */

/* 0 where alpha_t y_t may rise (fall), and where not, what leaves the point out of the maximum (minimum) of F */
static inline void mark(int64_t t, const double *restrict y, const double *restrict U, const double *restrict alpha,
                        double *restrict rise, double *restrict fall)
{
    const int below = alpha[t] < U[t], above = alpha[t] > 0.0;
    rise[t] = (y[t] > 0.0 ? below : above) ? 0.0 : -INFINITE;
    fall[t] = (y[t] > 0.0 ? above : below) ? 0.0 : INFINITE;
}

/* the new alpha, or the bound that it is at but for rounding; a bound far above every alpha says nothing about 0 */
static inline double snapped(double alpha, double before, double U)
{
    if (alpha < SNAP * smaller(before, U)) return 0.0;
    return U < INFINITE && alpha > (1.0 - SNAP) * U ? U : alpha;
}

/* table[slots_i, chosen_j] for j < i, its mirror image, and the diagonal */
EXPORT void gather(const float *restrict table, int64_t width, const int64_t *restrict slots,
                   const int64_t *restrict chosen, const double *restrict diagonal, int64_t m, float *restrict K)
{
    for (int64_t i = 0; i < m; i++) {
        const float *restrict row = table + slots[i] * width;
        float *restrict out = K + i * m;
        for (int64_t j = 0; j < i; j++) out[j] = row[chosen[j]];
        out[i] = (float)diagonal[i];
    }
    for (int64_t rows = 0; rows < m; rows += TILE)
        for (int64_t columns = rows; columns < m; columns += TILE)
            for (int64_t i = rows; i < rows + TILE && i < m; i++) {
                const int64_t from = columns > i + 1 ? columns : i + 1;
                for (int64_t j = from; j < columns + TILE && j < m; j++) K[i * m + j] = K[j * m + i];
            }
}

EXPORT void add_rows(const float *restrict table, int64_t width, const int64_t *restrict slots,
                     const double *restrict change, int64_t count, double *restrict out, int64_t first, int64_t last)
{
    for (int64_t start = first; start < last; start += PIECE) {
        const int64_t size = last - start < PIECE ? last - start : PIECE;
        const float *from = table + start;
        double *restrict o = out + start;
        int64_t r = 0;
        for (; r + 4 <= count; r += 4) {
            const float *restrict a = from + slots[r] * width, *restrict b = from + slots[r + 1] * width;
            const float *restrict c = from + slots[r + 2] * width, *restrict d = from + slots[r + 3] * width;
            const double ca = change[r], cb = change[r + 1], cc = change[r + 2], cd = change[r + 3];
            if (r + 8 <= count) /* the next four rows: on pages of their own, which are not guessed */
                for (int next = 4; next < 8; next++)
                    fetch(from + slots[r + next] * width, size * (int64_t)sizeof(float));
#pragma omp simd
            for (int64_t t = 0; t < size; t++)
                o[t] += (ca * (double)a[t] + cb * (double)b[t]) + (cc * (double)c[t] + cd * (double)d[t]);
        }
        for (; r < count; r++) {
            const float *restrict a = from + slots[r] * width;
            for (int64_t t = 0; t < size; t++) o[t] += change[r] * (double)a[t];
        }
    }
}

EXPORT void compact_rows(float *table, int64_t width, const int64_t *restrict slots, int64_t count,
                         const int64_t *restrict kept, int64_t columns)
{
    for (int64_t r = 0; r < count; r++) {
        const float *from = table + slots[r] * width;
        float *to = table + r * columns;
        for (int64_t j = 0; j < columns; j++) to[j] = from[kept[j]]; /* never ahead of what is still to be read */
    }
}

/* P - D, of P, by the intercept amid those that leave least */
static inline double gap_left(int64_t m, const double *restrict y, const double *restrict U,
                              const double *restrict alpha, const double *restrict F, int intercept)
{
    double top = -INFINITE, bottom = INFINITE, gap = 0.0, value = 0.0;
    for (int64_t i = 0; i < m; i++) {
        const int below = alpha[i] < U[i], above = alpha[i] > 0.0;
        if (y[i] > 0.0 ? below : above) top = larger(top, F[i]);
        if (y[i] > 0.0 ? above : below) bottom = smaller(bottom, F[i]);
    }
    const double b = intercept ? 0.5 * top + 0.5 * bottom : 0.0;
    for (int64_t i = 0; i < m; i++) {
        const double s = y[i] * (F[i] - b);
        gap += (s > 0.0 ? U[i] - alpha[i] : -alpha[i]) * s;
        value += alpha[i] * (1.0 + y[i] * F[i]);
    }
    return gap / larger(0.5 * value + gap, TINY);
}

#define LOOP "working_set.inc"
#include "dense_instances.inc"
