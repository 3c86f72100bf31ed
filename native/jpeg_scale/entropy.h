/* The Huffman codes of one block, from a reservoir of 64 bits. Included by walk.c.
 *
 * The next bits stand at the top of `bits`, `count` of them are real or, behind a marker or the
 * end, `made_up` zeros. What was made up must not be used: ran_out tells.
 */

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

/* Coefficients up to `last`, one by one. As `step`. */
static ALWAYS_INLINE int read_single(reader *from, const huffman *ac, const component *of, int *k,
                                     int16_t *lane) {
    code found;
    int ends = step(from, ac, k, &found);
    if (ends == 0)
        lane[of->place[*k] ] = (int16_t)value_of(from, found);
    drop(from, TOTAL(found));
    return ends;
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

/* Coefficients up to `last` or PAIRS_UNTIL. As `step`. */
static ALWAYS_INLINE int read_pairs(reader *from, const huffman *ac, const component *of, int *k,
                                    int16_t *lane) {
    const int until = of->last < PAIRS_UNTIL ? of->last : PAIRS_UNTIL;
    while (*k < until) {
        fill(from);
        for (int i = 0; i < 4 && *k < until; i++) {
            pair two = ac->pairs[from->bits >> (64 - PAIR_BITS)];
            if (UNLIKELY(two == 0)) {
                fill(from);
                int ends = read_single(from, ac, of, k, lane);
                if (ends != 0)
                    return ends;
                break;
            }
            lane[of->place[*k + FIRST_AHEAD(two)] ] = FIRST_VALUE(two);
            *k += SECOND_AHEAD(two);
            lane[of->place[*k] ] = SECOND_VALUE(two);
            drop(from, TOTAL(two));
            if (*k >= BLOCK_ENDS)
                return 1;
        }
    }
    return 0;
}

/* One block into lane `lane` of zeroed coefficients. The k behind which all are zero, or -1 for
 * what is no code or too much. */
static NEVER_INLINE int read_block(reader *of_scan, const huffman *dc, const huffman *ac,
                                   const component *of, int *before, int16_t *lane) {
    reader from = *of_scan;
    fill(&from);
    code found = next_code(&from, dc, 0);
    if (UNLIKELY(found == 0))
        return -1;
    *before += value_of(&from, found);
    drop(&from, TOTAL(found));
    if (UNLIKELY(*before > 2047 || *before < -2048))
        return -1;
    lane[0] = (int16_t)*before;
    int k = 0, ends = read_pairs(&from, ac, of, &k, lane);
    while (ends == 0 && k < of->last) {
        fill(&from);
        ends = read_single(&from, ac, of, &k, lane);
    }
    if (ends == 0)
        ends = skip_rest(&from, ac, k);
    *of_scan = from;
    return ends < 0 ? -1 : k & 63;
}
