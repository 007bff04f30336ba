import { existsSync } from 'node:fs';
import { dataDir } from '../test/support/data.ts';
import { readCampaigns } from '../quality/prose/eset-campaigns.ts';
import { loadIocExtractor } from '../quality/prose/ioc-extractor.ts';
import { readRecordedRows } from '../quality/recorded-inputs.ts';
import { extractItem } from '../src/feed/extraction/extract-item.ts';
import { extractIndicators } from '../src/feed/extraction/indicators/extract-indicators.ts';
import { measureInTurn, median, type Benchmark, type BenchmarkRow } from './benchmark.ts';

const rounds = 9;
const warmRounds = 3;
const roundMegabytes = 2;

/** Returns the processor time of `work` in milliseconds, which does not depend on other programs on the machine. */
function measureCpuMs(work: () => void): number {
  const startMs = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(startMs);
  return (user + system) / 1_000;
}

/** Measures the processor time per megabyte of report text. One megabyte is a million UTF-16 code units. */
async function measureSets(report: (text: string) => void): Promise<BenchmarkRow[]> {
  const sets: [string, string[]][] = [
    ['lists of indicators (feed/eset)', readCampaigns().map(({ text }) => text)],
    ['prose (feed/tram)', readRecordedRows<{ text: string }>('feed/tram/reports.ndjson.gz').map(({ text }) => text)],
  ];
  sets.push(['both', sets.flatMap(([, texts]) => texts)]);
  const peer = await loadIocExtractor();
  const lines: BenchmarkRow[] = [];
  for (const [name, texts] of sets) {
    report(name);
    const megabytes = texts.reduce((sum, text) => sum + text.length, 0) / 1e6;
    // The processor clock is coarse, so a round reads a short set several times.
    const passes = Math.ceil(roundMegabytes / megabytes);
    const repeated = Array.from({ length: passes }, () => texts).flat();
    const pass =
      (read: (text: string) => unknown): (() => Promise<number>) =>
      async () =>
        measureCpuMs(() => void repeated.forEach((text) => read(text))) / (megabytes * passes);
    const tocsin = pass(extractIndicators);
    const baseline = peer ? pass(peer) : undefined;
    for (let round = 0; round < warmRounds; round += 1) await tocsin().then(() => baseline?.());
    const result = baseline
      ? await measureInTurn(rounds, { tocsin, baseline, better: 'less' })
      : { tocsin: median([await tocsin(), await tocsin(), await tocsin()]) };
    lines.push({
      label: `indicators, ${name}`,
      unit: 'ms/MB',
      ...result,
    });
  }
  const whole = sets[2]![1].slice(0, 60);
  const megabytes = whole.reduce((sum, text) => sum + text.length, 0) / 1e6;
  const times: number[] = [];
  for (let round = 0; round < 4; round += 1)
    times.push(measureCpuMs(() => void whole.forEach((text) => extractItem({ text }))) / megabytes);
  lines.push({ label: 'full extraction of a report', unit: 'ms/MB', tocsin: median(times.slice(1)) });
  return lines;
}

/** Measures the extraction on the recorded reports. Returns no rows if they are not available. */
export const extractReportsBenchmark: Benchmark = {
  title: 'Extraction from report texts, processor time',
  note: 'Baseline: ioc-extractor, if it is installed.',
  run: async (report) => (existsSync(dataDir() ?? '') ? measureSets(report) : []),
};
