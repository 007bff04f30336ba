import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import type { FeedEnvironment } from '../quality/feed-environment.ts';
import { sourceFormats, type SourceKind } from '../src/feed/formats/registry.ts';
import { buckets } from '../src/feed/model/vocabulary.ts';
import { kevCatalogWith } from '../test/support/feed/kev-document.ts';
import { mispAttribute, mispEvent } from '../test/support/feed/misp-documents.ts';
import { stixBundle } from '../test/support/feed/stix-documents.ts';
import { withClient } from '../test/support/program-environment.ts';
import { measureMs, type BenchmarkRow } from './benchmark.ts';

const [catalogRows, stixIndicators, mispAttributes] = [20_000, 100_000, 50_000];
const values = (count: number): string[] => Array.from({ length: count }, (_, n) => `h${n}.evil-${n % 97}.example`);

type LargePull = { label: string; kind: SourceKind; createText: () => string };
const largePulls: LargePull[] = [
  {
    label: `a catalog of ${catalogRows.toLocaleString('en')} vulnerabilities`,
    kind: 'kev',
    createText: () => kevCatalogWith('Gatehouse', catalogRows),
  },
  {
    label: `a STIX report of ${stixIndicators.toLocaleString('en')} indicators`,
    kind: 'stix',
    createText: () => JSON.stringify(stixBundle(values(stixIndicators))),
  },
  {
    label: `a MISP event of ${mispAttributes.toLocaleString('en')} attributes`,
    kind: 'misp',
    createText: () => {
      const attributes = values(mispAttributes).map((value) => mispAttribute('domain', value));
      return JSON.stringify(mispEvent('large', { Attribute: attributes }));
    },
  },
];

/** Pulls large documents into an empty feed. Compares each pull with parsing alone, and with COPY of the rows that it wrote. */
export async function measureLargePulls(
  place: FeedEnvironment,
  report: (text: string) => void,
): Promise<BenchmarkRow[]> {
  const rows: BenchmarkRow[] = [];
  for (const { label, kind, createText } of largePulls) {
    report(label);
    const bytes = Buffer.from(createText());
    const parse = () => sourceFormats[kind].parse([{ name: 'large.json', bytes }], { reliability: 0.6 });
    const { records } = parse();
    const indicators = records.flatMap(({ iocs }) => buckets.map((bucket) => iocs[bucket].length));
    const [unit, count] =
      kind === 'kev' ? ['items/s', records.length] : ['values/s', indicators.reduce((sum, n) => sum + n, 0)];
    const toRate = (ms: number): number => (count / ms) * 1000;
    const parseMs = await measureMs(async () => void parse());
    const pull = await place.createSource(kind);
    const pullMs = await measureMs(() => pull({ 'large.json': bytes }));
    const copyMs = await withClient(place.url, measureCopy);
    for (const [baseline, ms] of [
      ['parsing', parseMs],
      ['COPY', copyMs],
    ] as const)
      rows.push({
        label: `${label}, against ${baseline} alone`,
        unit,
        tocsin: toRate(pullMs),
        baseline: toRate(ms),
        share: ms / pullMs,
      });
  }
  return rows;
}

const filledTables = ['items', 'item_versions', 'item_terms', 'item_search'];

/** Copies the rows of the newest source into empty tables with the same indexes. Returns the time that COPY takes, without reading the rows. */
async function measureCopy(client: pg.Client): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-copy-'));
  // The server's own user writes the files.
  chmodSync(dir, 0o777);
  const newest = '(select id from items where source_id = (select source_id from items order by id desc limit 1))';
  try {
    let ms = 0;
    for (const table of filledTables) {
      const id = table === 'items' ? 'id' : 'item_id';
      const file = `'${join(dir, table)}'`;
      await client.query(`copy (select * from ${table} where ${id} in ${newest}) to ${file}`);
      await client.query(`create table copied (like ${table} including all)`);
      ms += await measureMs(() => client.query(`copy copied from ${file}`));
      await client.query('drop table copied');
    }
    return ms;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
