/**
 * A passage, and all that is to be read in it: `type value` in the order of types and values. `~` before what is known as harmless
 * (documentation addresses and example names too); what no bucket holds goes without its `observable:`.
 */
export type Case = readonly [passage: string, ...expected: string[]];
