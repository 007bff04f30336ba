import { buckets } from '../../../src/feed/model/vocabulary.ts';
import type { SourceRecord } from '../../../src/feed/model/source-record.ts';
import { stix } from '../../../src/feed/formats/stix/stix.ts';

/** Parses documents as the files of one source. */
export const parseStix = (...documents: unknown[]) =>
  stix.parse(
    documents.map((document, index) => ({ name: `part-${index}.json`, bytes: Buffer.from(JSON.stringify(document)) })),
    { reliability: 0.6 },
  );
export const bundle = (...objects: unknown[]) => ({
  type: 'bundle',
  id: 'bundle--11111111-1111-4111-8111-111111111111',
  objects,
});

export const time = { created: '2024-01-01T00:00:00.000Z', modified: '2024-01-02T00:00:00.000Z' };
export const indicator = (name: string, pattern: string, more: object = {}) => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--${name}`,
  ...time,
  pattern,
  pattern_type: 'stix',
  valid_from: '2024-01-01T00:00:00Z',
  ...more,
});
export const report = (refs: string[], more: object = {}) => ({
  type: 'report',
  spec_version: '2.1',
  id: 'report--r',
  ...time,
  name: 'A report',
  published: '2024-01-03T00:00:00Z',
  object_refs: refs,
  ...more,
});
/** Returns a relationship, by default `indicates`. */
export const related = (name: string, source: string, target: string, kind = 'indicates') => ({
  type: 'relationship',
  id: `relationship--${name}`,
  ...time,
  relationship_type: kind,
  source_ref: source,
  target_ref: target,
});
/** Returns an attack pattern with an ATT&CK id. */
export const technique = (name: string, id: string, more: object = {}) => ({
  type: 'attack-pattern',
  id: `attack-pattern--${name}`,
  ...time,
  name: `What ${name} is`,
  external_references: [{ source_name: 'mitre-attack', external_id: id }],
  ...more,
});
export const indicatorsOf = (record: SourceRecord | undefined) =>
  buckets.flatMap((bucket) => record?.iocs[bucket] ?? []);
