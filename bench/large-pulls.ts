import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import type pg from 'pg';
import type { FeedEnvironment } from '../quality/feed/feed-environment.ts';
import { sourceFormats, type SourceKind } from '../src/feed/formats/registry.ts';
import { buckets } from '../src/feed/model/vocabulary.ts';
import { csafAdvisory } from '../test/support/feed/csaf-documents.ts';
import { kevCatalogWith } from '../test/support/feed/kev-document.ts';
import { mispAttribute, mispEvent } from '../test/support/feed/misp-documents.ts';
import { nvdPage, nvdRow } from '../test/support/feed/nvd-documents.ts';
import { osvRecord } from '../test/support/feed/osv-documents.ts';
import { stixBundle } from '../test/support/feed/stix-documents.ts';
import { withClient } from '../test/support/program-environment.ts';
import { measureMs, median, type BenchmarkRow } from './benchmark.ts';

const [catalogRows, advisories, stixIndicators, mispAttributes] = [20_000, 10_000, 100_000, 100_000];
const rounds = 5;
const list = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const values = (name: string, count: number): string[] => list(count, (n) => `${name}${n}.evil-${n % 97}.example`);
const toFile = (document: object): { 'large.json': string } => ({ 'large.json': JSON.stringify(document) });
const cveOf = (year: number, n: number): string => `CVE-${year}-${10_000 + n}`;

/** `createFiles`: with other ids and values in each round, because equal ones would be compared with each other. */
type LargePull = {
  label: string;
  kind: SourceKind;
  createFiles: (round: number) => Record<string, string | Uint8Array>;
};
const largePulls: LargePull[] = [
  {
    label: `a catalog of ${catalogRows.toLocaleString('en')} vulnerabilities`,
    kind: 'kev',
    createFiles: (round) => ({
      'large.json': kevCatalogWith('Gatehouse', catalogRows).replaceAll('CVE-2099-', `CVE-${2090 + round}-`),
    }),
  },
  {
    label: `${advisories.toLocaleString('en')} NVD records`,
    kind: 'nvd',
    createFiles: (round) => toFile(nvdPage(list(advisories, (n) => nvdRow(cveOf(2080 + round, n))))),
  },
  {
    label: `${advisories.toLocaleString('en')} OSV records`,
    kind: 'osv',
    createFiles: (round) => {
      const toRecord = (n: number) =>
        osvRecord(`PYSEC-${2090 + round}-${10_000 + n}`, { aliases: [cveOf(2070 + round, n)] });
      const files = list(advisories, toRecord).map((record) => [
        `${String(record['id'])}.json`,
        strToU8(JSON.stringify(record)),
      ]);
      return { 'large.zip': zipSync(Object.fromEntries(files) as Record<string, Uint8Array>) };
    },
  },
  {
    label: `${advisories.toLocaleString('en')} NVD records of the same CVEs`,
    kind: 'nvd',
    createFiles: (round) => toFile(nvdPage(list(advisories, (n) => nvdRow(cveOf(2070 + round, n))))),
  },
  {
    label: `${advisories.toLocaleString('en')} CSAF advisories`,
    kind: 'csaf',
    createFiles: (round) => {
      const toAdvisory = (n: number) =>
        csafAdvisory(`ACME-${round}-${n}`, { vulnerabilities: [{ cve: cveOf(2060 + round, n) }] });
      return Object.fromEntries(list(advisories, (n) => [`acme-${n}.json`, JSON.stringify(toAdvisory(n))] as const));
    },
  },
  {
    label: `a STIX report of ${stixIndicators.toLocaleString('en')} indicators`,
    kind: 'stix',
    createFiles: (round) => toFile(stixBundle(values(`s${round}-`, stixIndicators), { id: `report--r${round}` })),
  },
  {
    label: `a MISP event of ${mispAttributes.toLocaleString('en')} attributes`,
    kind: 'misp',
    createFiles: (round) => {
      const attributes = values(`m${round}-`, mispAttributes).map((value) => mispAttribute('domain', value));
      return toFile(mispEvent(`${round} large`, { Attribute: attributes }));
    },
  },
];

const valueKinds = new Set<SourceKind>(['stix', 'misp']);

/**
 * Pulls large documents into an empty feed, each several times. Compares each pull with parsing alone, and with COPY of the rows that it wrote.
 */
export async function measureLargePulls(
  place: FeedEnvironment,
  report: (text: string) => void,
): Promise<BenchmarkRow[]> {
  const rows: BenchmarkRow[] = [];
  for (const pull of largePulls) {
    report(pull.label);
    const measured: PullTimes[] = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await measurePull(place, pull, round));
    const { count, unit } = measured[0]!;
    const rateOf = (time: 'pullMs' | 'parseMs' | 'copyMs'): number =>
      (count / median(measured.map((times) => times[time]))) * 1000;
    for (const [baseline, time] of [
      ['parsing', 'parseMs'],
      ['COPY', 'copyMs'],
    ] as const)
      rows.push({
        label: `${pull.label}, against ${baseline} alone`,
        unit,
        tocsin: rateOf('pullMs'),
        baseline: rateOf(time),
        share: median(measured.map((times) => times[time] / times.pullMs)),
      });
  }
  return rows;
}

type PullTimes = { count: number; unit: string; pullMs: number; parseMs: number; copyMs: number };

async function measurePull(
  place: FeedEnvironment,
  { kind, createFiles }: LargePull,
  round: number,
): Promise<PullTimes> {
  const files = Object.entries(createFiles(round)).map(([name, content]) => ({ name, bytes: Buffer.from(content) }));
  const parse = () => sourceFormats[kind].parse(files, { reliability: 0.6 });
  const { records } = parse();
  const indicators = records.flatMap(({ iocs }) => buckets.map((bucket) => iocs[bucket].length));
  const count = valueKinds.has(kind) ? indicators.reduce((sum, n) => sum + n, 0) : records.length;
  const parseMs = await measureMs(async () => void parse());
  const written = Object.fromEntries(files.map(({ name, bytes }) => [name, bytes]));
  const pullMs = await measureMs(await place.createSourceOf(kind, written));
  const copyMs = await withClient(place.url, measureCopy);
  return { count, unit: valueKinds.has(kind) ? 'values/s' : 'items/s', pullMs, parseMs, copyMs };
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
