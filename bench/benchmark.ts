/** One row of the result table. `baseline` measures the same work without Tocsin. */
export type BenchmarkRow = {
  label: string;
  unit: string;
  tocsin: number;
  baseline?: number;
  share?: number;
};

/** `items`: the size of a feed. `keptDir`: the data directory that keeps the feed for further runs. */
export type FeedOptions = { items?: number | undefined; keptDir?: string | undefined };

/** `isFull`: at full size, where a benchmark has a smaller one. `rsigma`: the path of that program. */
export type RunOptions = FeedOptions & { isFull: boolean; rsigma: string | undefined };

/**
 * A benchmark. `run` returns the measured rows. `report` prints progress. `titleOf` returns the title after a run whose size has a choice, and
 * begins with `title`. `note` stands below the table. `draw` returns a chart of the rows, which `--write` puts beside the page. `isOnlyByName`: a run without names leaves it out.
 */
export type Benchmark = {
  title: string;
  titleOf?: (options: RunOptions) => string;
  run: (report: (text: string) => void, options: RunOptions) => Promise<BenchmarkRow[]>;
  note?: string;
  draw?: (rows: BenchmarkRow[]) => { file: string; svg: string };
  isOnlyByName?: boolean;
};

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Measures both sides in turn, so that other load on the machine affects both. `share` is the median over the rounds of tocsin ÷ baseline, or of
 * baseline ÷ tocsin if less is better, so that 1 means as good as the baseline.
 */
export async function measureInTurn(
  rounds: number,
  measures: { tocsin: () => Promise<number>; baseline: () => Promise<number>; better: 'more' | 'less' },
): Promise<{ tocsin: number; baseline: number; share: number }> {
  const results: { tocsin: number; baseline: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const isTocsinFirst = round % 2 === 0;
    const first = isTocsinFirst ? await measures.tocsin() : await measures.baseline();
    const second = isTocsinFirst ? await measures.baseline() : await measures.tocsin();
    results.push(isTocsinFirst ? { tocsin: first, baseline: second } : { tocsin: second, baseline: first });
  }
  const shares = results.map(({ tocsin, baseline }) =>
    measures.better === 'more' ? tocsin / baseline : baseline / tocsin,
  );
  return {
    tocsin: median(results.map(({ tocsin }) => tocsin)),
    baseline: median(results.map(({ baseline }) => baseline)),
    share: median(shares),
  };
}

export async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
