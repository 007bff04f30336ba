/** A deterministic random generator. */
export type Random = {
  /** Returns a number in [0, 1). */
  next: () => number;
  /** Returns an integer from `from` to `to`, inclusive. */
  int: (from: number, to: number) => number;
  chance: (probability: number) => boolean;
  pick: <T>(list: readonly T[]) => T;
  /** Returns `count` distinct members in random order. */
  some: <T>(list: readonly T[], count: number) => T[];
  uuid: () => string;
};

/** Returns the FNV-1a hash of the words, which seeds the sequence. */
function hash(words: readonly (string | number)[]): number {
  let value = 0x811c9dc5;
  for (const char of words.join('\u0000')) value = Math.imul(value ^ char.charCodeAt(0), 0x01000193);
  return value >>> 0;
}

/** Creates a generator seeded by words: mulberry32 by Tommy Ettinger (public domain). */
export function createRandom(...words: (string | number)[]): Random {
  let state = hash(words);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  const pick = <T>(list: readonly T[]): T => list[int(0, list.length - 1)]!;
  const some = <T>(list: readonly T[], count: number): T[] => {
    const rest = [...list];
    return Array.from({ length: Math.min(count, list.length) }, () => rest.splice(int(0, rest.length - 1), 1)[0]!);
  };
  const hex = (digits: number): string =>
    Math.floor(next() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  const uuid = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-${pick(['8', '9', 'a', 'b'])}${hex(3)}-${hex(8)}${hex(4)}`;
  return { next, int, chance: (probability) => next() < probability, pick, some, uuid };
}
