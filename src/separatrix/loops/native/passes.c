/* One pass over rows: their scores, what is made of these, and the sum of the rows times that. See loops/passes.py.

   A few rows at a time, so that the second reading finds them in cache. Sums over columns have 8 lanes, those over rows
   are added 8 at a time, and every segment of rows is added up by itself: the same bits at every processor level. */
#define _XOPEN_SOURCE 700 /* pread */
#include "packing.h"
#include "parts.h"
#include "pointwise.h"
#if !defined(_WIN32)
#include <unistd.h>
#endif

#define BLOCK_ENTRIES 16384 /* of the dense rows that are looked at together: well within the second-level cache */

/* a power of 2 from 8 to 64 that is at least m */
INLINE int64_t filled(int64_t m) { return m <= 8 ? 8 : m <= 16 ? 16 : m <= 32 ? 32 : 64; }

/* whether so many bytes of a file are at `place`, and were read; Windows has no pread */
static int64_t was_read(int64_t file, int64_t place, char *restrict room, int64_t bytes) {
#if !defined(_WIN32)
    while (bytes > 0) {
        const int64_t got = pread((int)file, room, (size_t)bytes, place);
        if (got <= 0) return 0;
        room += got;
        place += got;
        bytes -= got;
    }
#else
    (void)file, (void)place, (void)room;
#endif
    return bytes == 0;
}

/* the same statement for each COUNT from 1 to 8 */
#define EACH(count, statement)                                                                                         \
    switch (count) {                                                                                                   \
        case 1: { enum { COUNT = 1 }; statement; break; }                                                              \
        case 2: { enum { COUNT = 2 }; statement; break; }                                                              \
        case 3: { enum { COUNT = 3 }; statement; break; }                                                              \
        case 4: { enum { COUNT = 4 }; statement; break; }                                                              \
        case 5: { enum { COUNT = 5 }; statement; break; }                                                              \
        case 6: { enum { COUNT = 6 }; statement; break; }                                                              \
        case 7: { enum { COUNT = 7 }; statement; break; }                                                              \
        default: { enum { COUNT = 8 }; statement; }                                                                    \
    }

#define T double
#define NAME(x) x##_f64
#define PART part_f64
#define OWN F8
#include "passes_dense.inc"
#undef T
#undef NAME
#undef PART
#undef OWN
#define T float
#define NAME(x) x##_f32
#define PART part_f32
#define OWN F4
#include "passes_dense.inc"
#undef T
#undef NAME
#undef PART
#undef OWN

#define T double
#define I int32_t
#define NAME(x) x##_f64_i32
#include "passes_csr.inc"
#undef I
#undef NAME
#define I int64_t
#define NAME(x) x##_f64_i64
#include "passes_csr.inc"
#undef T
#undef I
#undef NAME
#define T float
#define I int32_t
#define NAME(x) x##_f32_i32
#include "passes_csr.inc"
#undef I
#undef NAME
#define I int64_t
#define NAME(x) x##_f32_i64
#include "passes_csr.inc"
