import { existsSync } from 'node:fs';
import { dataDir } from '../test/support/data.ts';
import { partsOf, recorded } from '../quality/passages.ts';
import { withFeed } from '../quality/feed-place.ts';
import { sourceFormats } from '../src/feed/formats/registry.ts';
import { timed, type Figure, type Line } from './figure.ts';

/** Every recorded source read from files into an empty feed: parsed alone, then the whole pull with its transaction. */
async function measureFolder(say: (text: string) => void): Promise<Line[]> {
  return withFeed(async (place) => {
    const lines: Line[] = [];
    const total = { items: 0, parseMs: 0, pullMs: 0 };
    for (const [kind, path] of recorded) {
      say(path);
      const parts = partsOf(path);
      sourceFormats[kind].parse(parts, { reliability: 0.6 });
      let items = 0;
      const parseMs = await timed(async () => {
        items = sourceFormats[kind].parse(parts, { reliability: 0.6 }).records.length;
      });
      const pull = await place.source(kind);
      const files = Object.fromEntries(parts.map(({ name, bytes }) => [name.replaceAll('/', '-'), bytes]));
      const pullMs = await timed(() => pull(files));
      lines.push({ what: path, unit: 'items/s', ours: (items / pullMs) * 1000, bare: (items / parseMs) * 1000 });
      total.items += items;
      total.parseMs += parseMs;
      total.pullMs += pullMs;
    }
    const { items, parseMs, pullMs } = total;
    lines.push({
      what: 'the whole folder',
      unit: 'items/s',
      ours: (items / pullMs) * 1000,
      bare: (items / parseMs) * 1000,
    });
    return lines;
  });
}

/** Ingest of the recorded sources; without them there is nothing to measure. */
export const ingest: Figure = {
  title: 'Ingest of recorded sources (here: the whole pull; bare: parsing alone)',
  run: async (say) => (existsSync(dataDir() ?? '') ? measureFolder(say) : []),
};
