/* The coefficients of one block that a scale has use for. Included by walk.c. */

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
    if (UNLIKELY(read_dc(&from, dc, before) != 0))
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
