import { existsSync } from 'node:fs';
import { dataDir } from '../test/support/data.ts';
import { readSourceDocuments, recordedSources } from '../quality/feed/passages.ts';
import { withFeedEnvironment } from '../quality/feed/feed-environment.ts';
import { sourceFormats } from '../src/feed/formats/registry.ts';
import { measureLargePulls } from './large-pulls.ts';
import { measureMs, type Benchmark, type BenchmarkRow } from './benchmark.ts';

/** Reads every recorded source and large made-up documents from files. Measures parsing alone and the whole pull with its transactions. */
async function measureFolder(report: (text: string) => void): Promise<BenchmarkRow[]> {
  return withFeedEnvironment(async (place) => {
    const lines: BenchmarkRow[] = [];
    const total = { items: 0, parseMs: 0, pullMs: 0 };
    // Starts the threads, which stay.
    await (
      await place.createSource('kev')
    )({});
    for (const [kind, path] of recordedSources) {
      report(path);
      const parts = readSourceDocuments(path);
      sourceFormats[kind].parse(parts, { reliability: 0.6 });
      let items = 0;
      const parseMs = await measureMs(async () => {
        items = sourceFormats[kind].parse(parts, { reliability: 0.6 }).records.length;
      });
      const files = Object.fromEntries(parts.map(({ name, bytes }) => [name.replaceAll('/', '-'), bytes]));
      const pullMs = await measureMs(await place.createSourceOf(kind, files));
      lines.push({ label: path, unit: 'items/s', tocsin: (items / pullMs) * 1000, baseline: (items / parseMs) * 1000 });
      total.items += items;
      total.parseMs += parseMs;
      total.pullMs += pullMs;
    }
    const { items, parseMs, pullMs } = total;
    lines.push({
      label: 'the whole folder',
      unit: 'items/s',
      tocsin: (items / pullMs) * 1000,
      baseline: (items / parseMs) * 1000,
    });
    return [...lines, ...(await measureLargePulls(place, report))];
  });
}

/** Measures pulls of the recorded sources. Returns no rows if they are not available. */
export const pullSourcesBenchmark: Benchmark = {
  title: 'Pulls of recorded sources (baseline: parsing alone) and of large documents',
  run: async (report) => (existsSync(dataDir() ?? '') ? measureFolder(report) : []),
};
