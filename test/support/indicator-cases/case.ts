/**
 * A passage and all values that must be extracted from it: `type value`, ordered by type and value. `~` marks values that are known as
 * harmless (including documentation addresses and example names). Types without an indicator class omit their prefix `observable:`.
 */
export type IndicatorCase = readonly [passage: string, ...expected: string[]];
