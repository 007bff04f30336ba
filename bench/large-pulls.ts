import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import type pg from 'pg';
import type { FeedEnvironment } from '../quality/feed-environment.ts';
import { sourceFormats, type SourceKind } from '../src/feed/formats/registry.ts';
import { buckets } from '../src/feed/model/vocabulary.ts';
import { csafAdvisory } from '../test/support/feed/csaf-documents.ts';
import { kevCatalogWith } from '../test/support/feed/kev-document.ts';
import { mispAttribute, mispEvent } from '../test/support/feed/misp-documents.ts';
import { nvdPage, nvdRow } from '../test/support/feed/nvd-documents.ts';
import { osvRecord } from '../test/support/feed/osv-documents.ts';
import { stixBundle } from '../test/support/feed/stix-documents.ts';
import { withClient } from '../test/support/program-environment.ts';
import { measureMs, type BenchmarkRow } from './benchmark.ts';

const [catalogRows, advisories, stixIndicators, mispAttributes] = [20_000, 5_000, 100_000, 50_000];
const list = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
/** `name` distinguishes the values of documents, which would otherwise be compared with each other. */
const values = (name: string, count: number): string[] => list(count, (n) => `${name}${n}.evil-${n % 97}.example`);
const toFile = (document: object): { 'large.json': string } => ({ 'large.json': JSON.stringify(document) });
const cveOf = (year: number, n: number): string => `CVE-${year}-${10_000 + n}`;

type LargePull = { label: string; kind: SourceKind; createFiles: () => Record<string, string | Uint8Array> };
const largePulls: LargePull[] = [
  {
    label: `a catalog of ${catalogRows.toLocaleString('en')} vulnerabilities`,
    kind: 'kev',
    createFiles: () => ({ 'large.json': kevCatalogWith('Gatehouse', catalogRows) }),
  },
  {
    label: `${advisories.toLocaleString('en')} NVD records`,
    kind: 'nvd',
    createFiles: () => toFile(nvdPage(list(advisories, (n) => nvdRow(cveOf(2098, n))))),
  },
  {
    label: `${advisories.toLocaleString('en')} OSV records`,
    kind: 'osv',
    createFiles: () => {
      const records = list(advisories, (n) => osvRecord(`PYSEC-2099-${10_000 + n}`, { aliases: [cveOf(2097, n)] }));
      const files = records.map((record) => [`${String(record['id'])}.json`, strToU8(JSON.stringify(record))]);
      return { 'large.zip': zipSync(Object.fromEntries(files) as Record<string, Uint8Array>) };
    },
  },
  {
    label: `${advisories.toLocaleString('en')} CSAF advisories`,
    kind: 'csaf',
    createFiles: () => {
      const advisory = (n: number) => csafAdvisory(`ACME-${n}`, { vulnerabilities: [{ cve: cveOf(2096, n) }] });
      return Object.fromEntries(list(advisories, (n) => [`acme-${n}.json`, JSON.stringify(advisory(n))] as const));
    },
  },
  {
    label: `a STIX report of ${stixIndicators.toLocaleString('en')} indicators`,
    kind: 'stix',
    createFiles: () => toFile(stixBundle(values('s', stixIndicators))),
  },
  {
    label: `a MISP event of ${mispAttributes.toLocaleString('en')} attributes`,
    kind: 'misp',
    createFiles: () => {
      const attributes = values('m', mispAttributes).map((value) => mispAttribute('domain', value));
      return toFile(mispEvent('large', { Attribute: attributes }));
    },
  },
];

const valueKinds = new Set<SourceKind>(['stix', 'misp']);

/** Pulls large documents into an empty feed. Compares each pull with parsing alone, and with COPY of the rows that it wrote. */
export async function measureLargePulls(
  place: FeedEnvironment,
  report: (text: string) => void,
): Promise<BenchmarkRow[]> {
  const rows: BenchmarkRow[] = [];
  for (const { label, kind, createFiles } of largePulls) {
    report(label);
    const files = Object.entries(createFiles()).map(([name, content]) => ({ name, bytes: Buffer.from(content) }));
    const parse = () => sourceFormats[kind].parse(files, { reliability: 0.6 });
    const { records } = parse();
    const indicators = records.flatMap(({ iocs }) => buckets.map((bucket) => iocs[bucket].length));
    const [unit, count] = valueKinds.has(kind)
      ? ['values/s', indicators.reduce((sum, n) => sum + n, 0)]
      : ['items/s', records.length];
    const toRate = (ms: number): number => (count / ms) * 1000;
    const parseMs = await measureMs(async () => void parse());
    const written = Object.fromEntries(files.map(({ name, bytes }) => [name, bytes]));
    const pullMs = await measureMs(await place.createSourceOf(kind, written));
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
