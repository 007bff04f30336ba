/** How many things indicators name: a file counts once, however many hashes of it are given. */
export type Tally = { others: number; hashes: Map<number, number> };

export const emptyTally = (): Tally => ({ others: 0, hashes: new Map() });

export function addToTally(tally: Tally, value: string): void {
  if (/^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/.test(value))
    tally.hashes.set(value.length, (tally.hashes.get(value.length) ?? 0) + 1);
  else tally.others += 1;
}

/** Of several kinds of hashes the one that is given most often says how many files there are. */
export const tallied = ({ others, hashes }: Tally): number => others + Math.max(0, ...hashes.values());
