import { existsSync } from 'node:fs';
import { dataDir } from '../test/support/data.ts';
import { campaigns } from '../quality/eset.ts';
import { findPeer } from '../quality/peer.ts';
import { rowsOf } from '../quality/data.ts';
import { extractItem } from '../src/feed/extraction/extract-item.ts';
import { extractIndicators } from '../src/feed/extraction/indicators/extract-indicators.ts';
import { alternate, median, type Figure, type Line } from './figure.ts';

const rounds = 9;
const warmRounds = 3;
const roundMegabytes = 2;

/** Milliseconds of processor time, which other programs on the machine leave alone. */
function spentMs(work: () => void): number {
  const began = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1_000;
}

/** Processor time for a megabyte of reports, of UTF-16 units as they stand in memory. */
async function measureSets(say: (text: string) => void): Promise<Line[]> {
  const sets: [string, string[]][] = [
    ['lists of indicators (feed/eset)', campaigns().map(({ text }) => text)],
    ['prose (feed/tram)', rowsOf<{ text: string }>('feed/tram/reports.ndjson.gz').map(({ text }) => text)],
  ];
  sets.push(['both', sets.flatMap(([, texts]) => texts)]);
  const peer = await findPeer();
  const lines: Line[] = [];
  for (const [name, texts] of sets) {
    say(name);
    const megabytes = texts.reduce((sum, text) => sum + text.length, 0) / 1e6;
    // The clock of processor time is coarse: a short set is read several times in a round.
    const passes = Math.ceil(roundMegabytes / megabytes);
    const repeated = Array.from({ length: passes }, () => texts).flat();
    const pass =
      (read: (text: string) => unknown): (() => Promise<number>) =>
      async () =>
        spentMs(() => void repeated.forEach((text) => read(text))) / (megabytes * passes);
    const ours = pass(extractIndicators);
    const bare = peer ? pass(peer) : undefined;
    for (let round = 0; round < warmRounds; round += 1) await ours().then(() => bare?.());
    const found = bare
      ? await alternate(rounds, { ours, bare, better: 'less' })
      : { ours: median([await ours(), await ours(), await ours()]) };
    lines.push({
      what: `indicators, ${name}`,
      unit: 'ms/MB',
      ...found,
      note: bare ? 'bare: ioc-extractor' : 'ioc-extractor is not installed',
    });
  }
  const whole = sets[2]![1].slice(0, 60);
  const megabytes = whole.reduce((sum, text) => sum + text.length, 0) / 1e6;
  const times: number[] = [];
  for (let round = 0; round < 4; round += 1)
    times.push(spentMs(() => void whole.forEach((text) => extractItem({ text }))) / megabytes);
  lines.push({ what: 'whole extraction of a report', unit: 'ms/MB', ours: median(times.slice(1)) });
  return lines;
}

/** Speed of the extraction on the recorded reports; without them there is nothing to measure. */
export const extract: Figure = {
  title: 'Extraction from report texts, processor time',
  run: async (say) => (existsSync(dataDir() ?? '') ? measureSets(say) : []),
};
