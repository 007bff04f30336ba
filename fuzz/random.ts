/** A reproducible source of random choices. */
export type Random = {
  /** Returns an integer from 0 to `below` - 1. */
  int: (below: number) => number;
  chance: (probability: number) => boolean;
  pick: <T>(list: readonly T[]) => T;
  /** Returns from `min` to `max` results of `make`. */
  many: <T>(min: number, max: number, make: () => T) => T[];
};

/** Creates a random source from a seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return {
    int,
    chance: (probability) => next() < probability,
    pick: (list) => list[int(list.length)]!,
    many: (min, max, make) => Array.from({ length: min + int(max - min + 1) }, make),
  };
}
