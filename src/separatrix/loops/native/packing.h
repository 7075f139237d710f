/* Rows of any type and strides: written in C order, and asked for; see loops/packing.py. */
#ifndef SEPARATRIX_PACKING_H
#define SEPARATRIX_PACKING_H

#include "parts.h"

/* of `kind`: which number is in the memory; SWAPPED is added if its bytes are in the other order */
enum { F8, F4, F2, B1, I1, U1, I2, U2, I4, U4, I8, U8, SWAPPED };

/* where the first row is, how far apart in bytes rows and their entries are, and of which kind these are */
struct source {
    int64_t address, down, right, kind;
};

/* out[i][j] = the number at address + i * down + j * right */
EXPORT void pack_f64(int64_t address, int64_t down, int64_t right, int64_t kind, int64_t m, int64_t d,
                     double *restrict out);
EXPORT void pack_f32(int64_t address, int64_t down, int64_t right, int64_t kind, int64_t m, int64_t d,
                     float *restrict out);

/* Memory that will be needed next: `runs` of so many bytes, this far apart. Processors foresee long streams only, so it
   is asked for some lines at a time while other rows, which are in cache, are worked on. */
struct ahead {
    int64_t from, bytes, apart, runs;
    int64_t at, share; /* bytes of the first run that were asked for; lines of 64 bytes to ask for at a time */
};

INLINE int64_t size_of(int64_t stride) { return stride < 0 ? -stride : stride; }

/* rows i to i + m of a source, asked for in so many steps */
static inline struct ahead coming(const struct source *restrict source, int64_t i, int64_t m, int64_t d, int64_t steps) {
    const int64_t rowwise = size_of(source->right) <= size_of(source->down); /* rows are runs, or else columns are */
    const int64_t span = rowwise ? (d - 1) * source->right : (m - 1) * source->down;
    struct ahead next = {.from = source->address + i * source->down + least(span, 0), .bytes = size_of(span) + 1};
    next.apart = rowwise ? source->down : source->right;
    next.runs = rowwise ? m : d;
    next.share = next.runs * (next.bytes / 64 + 1) / (steps > 0 ? steps : 1) + 1;
    return next;
}

INLINE void ask(struct ahead *next) {
    for (int64_t line = 0; line < next->share && next->runs > 0; line++) {
        __builtin_prefetch((const char *)(intptr_t)(next->from + next->at), 0, 2);
        next->at += 64;
        if (next->at < next->bytes + next->from % 64) continue;
        next->at = 0;
        next->from += next->apart;
        next->runs -= 1;
    }
}

#endif
