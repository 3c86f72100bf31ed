/* Huffman codes from a reservoir of 64 bits. Included by walk.c and cut.c, within their
 * instructions.
 *
 * The next bits stand at the top of `bits`, `count` of them are real or, behind a marker or the
 * end, `made_up` zeros. What was made up must not be used: ran_out tells.
 */

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline))
#define LIKELY(truth) __builtin_expect(!!(truth), 1)
#define UNLIKELY(truth) __builtin_expect(!!(truth), 0)

typedef struct {
    uint64_t bits;
    int count, made_up;
    const uint8_t *at, *end;
} reader;

static NEVER_INLINE reader fill_slowly(reader from) {
    while (from.count < 56) {
        uint64_t byte = 0;
        if (from.end - from.at >= 2 && (from.at[0] != 0xFF || from.at[1] == 0)) {
            byte = from.at[0];
            from.at += byte == 0xFF ? 2 : 1;
        } else {
            from.made_up += 8;
        }
        from.bits |= byte << (56 - from.count);
        from.count += 8;
    }
    return from;
}

/* At least 56 bits. Bytes that follow a 255 must be looked at one by one. */
static ALWAYS_INLINE void fill(reader *from) {
    if (LIKELY(from->end - from->at >= 8)) {
        const uint8_t *p = from->at;
        uint64_t next = (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 |
                        (uint64_t)p[3] << 32 | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 |
                        (uint64_t)p[6] << 8 | (uint64_t)p[7];
        int bytes = (63 - from->count) >> 3;
        const uint64_t tops = 0x8080808080808080U, ones = 0x0101010101010101U;
        uint64_t full = next & ((next & ~tops) + ones) & tops; /* the top bit of each 255 */
        if (LIKELY(full >> 1 >> (63 - 8 * bytes) == 0)) {
            from->bits |= next >> from->count;
            from->at += bytes;
            from->count += 8 * bytes;
            return;
        }
    }
    *from = fill_slowly(*from);
}

static inline int ran_out(const reader *from) { return from->count < from->made_up; }

static ALWAYS_INLINE code next_code(const reader *from, const huffman *table, int ac) {
    code found = table->fast[from->bits >> (64 - FAST_BITS)];
    if (UNLIKELY(found == 0))
        found = find_code(table, (uint32_t)(from->bits >> 48), ac);
    return found;
}

static ALWAYS_INLINE void drop(reader *from, int bits) {
    from->bits <<= bits;
    from->count -= bits;
}

/* The signed value behind a code: T.81, F.12. */
static ALWAYS_INLINE int value_of(const reader *from, code found) {
    uint64_t rest = from->bits << LENGTH(found);
    int size = SIZE(found), value = (int)(rest >> 1 >> (63 - size));
    int below = (int)((int64_t)~rest >> 63); /* all ones for a negative value */
    return value + (below & (1 - (1 << size)));
}

/* One code of any length behind coefficient *k, of which `found` gets the meaning. 1: it ends the
 * block, -1: there is no such code, or no such coefficient. */
static ALWAYS_INLINE int step(reader *from, const huffman *ac, int *k, code *found) {
    *found = next_code(from, ac, 1);
    *k += AHEAD(*found);
    if (UNLIKELY(*found == 0 || *k > 63))
        return AHEAD(*found) == BLOCK_ENDS ? 1 : -1;
    return 0;
}

/* The difference of DC in front of a block, added to `before`. 0, or -1 for what is no code or too
 * much. */
static ALWAYS_INLINE int read_dc(reader *from, const huffman *dc, int *before) {
    fill(from);
    code found = next_code(from, dc, 0);
    if (UNLIKELY(found == 0))
        return -1;
    *before += value_of(from, found);
    drop(from, TOTAL(found));
    return *before > 2047 || *before < -2048 ? -1 : 0;
}

/* The coefficients behind `k` are of no use: only their lengths count. 0, or -1 for no code. */
static ALWAYS_INLINE int skip_rest(reader *from, const huffman *ac, int k) {
    while (k < 63) {
        fill(from);
        for (int i = 0; i < 3 && k < 63; i++) {
            codes several = ac->skip[from->bits >> (64 - SKIP_BITS)];
            if (UNLIKELY(several == 0 || k + STEPS(several) + ENDS(several) > 63)) {
                code found;
                fill(from);
                int ends = step(from, ac, &k, &found);
                drop(from, TOTAL(found));
                if (ends != 0)
                    return ends > 0 ? 0 : -1;
                break;
            }
            k += STEPS(several);
            drop(from, TOTAL(several));
            if (ENDS(several))
                return 0;
        }
    }
    return 0;
}

/* Nothing but the rest of a byte may be left before a marker. */
static const char *finish_codes(reader *from) {
    *from = fill_slowly(*from);
    if (ran_out(from))
        return "cut short";
    if (from->count - from->made_up >= 8 || from->end - from->at < 2)
        return "something else where a marker was due";
    return NULL;
}

/* What stands between two intervals; `restarts` counts them. */
static const char *pass_restart(reader *from, int *restarts) {
    const char *why = finish_codes(from);
    if (why != NULL)
        return why;
    if (from->at[0] != 0xFF || from->at[1] != 0xD0 + *restarts % 8)
        return "a restart that is missing";
    *from = (reader){.at = from->at + 2, .end = from->end};
    ++*restarts;
    return NULL;
}
