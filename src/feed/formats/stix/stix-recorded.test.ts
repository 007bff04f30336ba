import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataDir } from '../../../../test/support/data.ts';
import { buckets } from '../../model/vocabulary.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import { readGzip } from '../../../../test/support/feed/kev-source.ts';
import { stix } from './stix.ts';

const parse = (document: unknown) =>
  stix.parse([{ name: 'bundle.json', bytes: Buffer.from(JSON.stringify(document)) }], { reliability: 0.6 });
const indicatorsOf = (record: SourceRecord) => buckets.flatMap((bucket) => record.iocs[bucket]);

describe('the recorded bundles', () => {
  const data = dataDir();
  const folder = resolve(data ?? '.', 'feed/stix');
  const files = data
    ? (readdirSync(folder, { recursive: true }) as string[]).filter((name) => name.endsWith('.json.gz')).toSorted()
    : [];

  test.skipIf(!data)('parses every bundle with all pattern values and valid spans', () => {
    expect(files).toHaveLength(31);
    for (const file of files) {
      const document = JSON.parse(readGzip(join(folder, file)).toString()) as Record<string, unknown>;
      for (const envelope of envelopesOf(document)) checkBundle(file, envelope);
    }
  });

  /** A server's data file contains an envelope of objects for each collection. */
  function envelopesOf(document: Record<string, unknown>): { objects: Stix[] }[] {
    if (document['type'] === 'bundle') return [document as { objects: Stix[] }];
    const roots = Object.values(document) as { collections?: { objects?: Stix[] }[] }[];
    return roots.flatMap(({ collections = [] }) => collections.map(({ objects = [] }) => ({ objects })));
  }

  type Stix = { type: string; id: string; pattern?: string; modified?: string };

  function checkBundle(file: string, envelope: { objects: Stix[] }): void {
    const { records } = parse(envelope);
    const newest = new Map<string, Stix>();
    for (const object of envelope.objects)
      if ((object.modified ?? '') >= (newest.get(object.id)?.modified ?? '')) newest.set(object.id, object);
    // Counted independently of the parser by regular expressions.
    const stated = new Set<string>();
    for (const { type, pattern } of newest.values()) {
      if (type !== 'indicator') continue;
      for (const [, value] of pattern!.matchAll(/(?:ipv4-addr|domain-name):value\s*=\s*'([^']+)'/g))
        stated.add(value!.toLowerCase());
      for (const [, value] of pattern!.matchAll(/hashes\.(?:MD5|'SHA-1'|'SHA-256')\s*=\s*'([^']+)'/g))
        stated.add(value!.toLowerCase());
      for (const [, value] of pattern!.matchAll(
        /(?:url:value|process:name|file:path|directory:path|(?<![\w.])file:name)\s*=\s*'([^']+)'/g,
      ))
        stated.add(value!.replaceAll(/\\(.)/g, '$1'));
    }
    const found = new Set(
      records
        .flatMap((record) => indicatorsOf(record))
        .flatMap(({ value, type }) => (/file|process|url/.test(type) ? [value] : [value.toLowerCase()])),
    );
    const missing = [...stated].filter((value) => !found.has(value));
    expect(missing, file).toEqual([]);
    // Observations add other values, and network traffic refers to hosts by reference.
    const hasMore = [...newest.values()].some(
      ({ type, pattern }) => type === 'observed-data' || pattern?.includes('_ref'),
    );
    const others = indicatorTypes(records).filter(
      (type) => !/^(?:ipv4|domain|md5|sha1|sha256|url|process_name|file_path|file_name)$/.test(type),
    );
    if (!hasMore) expect(found.size - others.length, file).toBe(stated.size);
    for (const record of records) {
      for (const { start, end } of record.passages) {
        expect(start, file).toBeGreaterThanOrEqual(0);
        expect(record.storedText.slice(start, end).length, file).toBe(end - start);
        expect(end, file).toBeGreaterThan(start);
      }
      for (const { evidenceRef } of record.classification.attack)
        expect(record.passages[Number(evidenceRef.match(/\d+/)![0])], file).toBeDefined();
      for (const indicator of indicatorsOf(record)) expect(indicator.normalizedValue, file).not.toBe('');
    }
  }

  const indicatorTypes = (records: SourceRecord[]): string[] =>
    records.flatMap((record) => indicatorsOf(record)).map(({ type }) => type);

  test.skipIf(!data)('reads the same indicators from the 2.0 and 2.1 forms of an event', () => {
    const pairs = files.filter((name) => name.includes('stix20'));
    expect(pairs).toHaveLength(4);
    for (const name of pairs) {
      const [old, now] = [name, name.replace('stix20', 'stix21')].map((file) => {
        const { records } = stix.parse([{ name: 'x.json', bytes: readFileSync(join(folder, file)) }], {
          reliability: 0.6,
        });
        return records.map((record) => [
          record.recordId,
          indicatorsOf(record)
            .map(({ type, normalizedValue, confidence, status }) => ({ type, normalizedValue, confidence, status }))
            .toSorted((a, b) => (a.normalizedValue < b.normalizedValue ? -1 : 1)),
        ]);
      });
      const plain = (list: typeof old) =>
        list!.map(([id, indicators]) => [String(id).replace(/^.*--/, ''), indicators]);
      expect(plain(now), name).toEqual(plain(old));
    }
  });

  test.skipIf(!data)('parses all conversion pairs and finds values for their patterns', () => {
    const lines = readGzip(join(folder, 'misp-stix/misp-to-stix21.ndjson.gz')).toString().trim().split('\n');
    expect(lines).toHaveLength(111);
    for (const line of lines) {
      const { stix21, case: name } = JSON.parse(line) as { stix21: Stix[]; case: string };
      const { records } = parse({ objects: [stix21].flat().map((object) => object) });
      const patterns = [stix21].flat().filter(({ type }) => type === 'indicator');
      const said = records.flatMap((record) => [...indicatorsOf(record), ...record.classification.mappings]);
      if (patterns.length > 0) expect(said.length, name).toBeGreaterThan(0);
    }
  });
});
