/** One line of the table. `bare`: the same work without the program around it; its share is what the program costs. */
export type Line = { what: string; unit: string; ours: number; bare?: number; share?: number; note?: string };

/** `run` measures and answers its lines; `say` shows progress. */
export type Figure = { title: string; run: (say: (text: string) => void) => Promise<Line[]> };

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Measures both in turn, so that what the machine does meanwhile meets both alike. `share`: the median over the rounds of ours ÷ bare
 * (of bare ÷ ours where less is better), so that 1 means as good as bare.
 */
export async function alternate(
  rounds: number,
  measures: { ours: () => Promise<number>; bare: () => Promise<number>; better: 'more' | 'less' },
): Promise<{ ours: number; bare: number; share: number }> {
  const found: { ours: number; bare: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const isOursFirst = round % 2 === 0;
    const first = isOursFirst ? await measures.ours() : await measures.bare();
    const second = isOursFirst ? await measures.bare() : await measures.ours();
    found.push(isOursFirst ? { ours: first, bare: second } : { ours: second, bare: first });
  }
  const shares = found.map(({ ours, bare }) => (measures.better === 'more' ? ours / bare : bare / ours));
  return {
    ours: median(found.map(({ ours }) => ours)),
    bare: median(found.map(({ bare }) => bare)),
    share: median(shares),
  };
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
