/** Counts the things that indicators refer to. A file counts once, no matter how many of its hashes are listed. */
export type IndicatorTally = { others: number; hashes: Map<number, number> };

export const emptyTally = (): IndicatorTally => ({ others: 0, hashes: new Map() });

export function addToTally(tally: IndicatorTally, value: string): void {
  if (/^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/.test(value))
    tally.hashes.set(value.length, (tally.hashes.get(value.length) ?? 0) + 1);
  else tally.others += 1;
}

/** Returns the count. The most frequent hash length determines the number of files. */
export const countTallied = ({ others, hashes }: IndicatorTally): number => others + Math.max(0, ...hashes.values());
