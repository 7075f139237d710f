/* One pass over rows: their scores, what is made of these, and the sum of the rows times that. See loops/passes.py.

   A few rows at a time, so that the second reading finds them in cache. Sums over columns have 8 lanes, those over rows
   are added 8 at a time, and every segment of rows is added up by itself: the same bits at every processor level. */
#define _XOPEN_SOURCE 700 /* pread */
#include "packing.h"
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

#define PART JOIN(part, SUFFIX)                     /* a part of a row of T, as doubles */
#define OWN (sizeof(T) == sizeof(double) ? F8 : F4) /* the kind of T */
#define LOOP "passes_dense.inc"
#include "dense_instances.inc"
#define LOOP "passes_csr.inc"
#include "csr_instances.inc"
