import { expect, test } from 'vitest';
import { buildDemoFeed } from './run-demo.ts';

type StixObject = {
  type: string;
  id: string;
  spec_version: string;
  created: string;
  modified?: string;
  published?: string;
  revoked?: boolean;
  valid_from?: string;
  valid_until?: string;
  created_by_ref?: string;
  object_refs?: string[];
  object_marking_refs?: string[];
  source_ref?: string;
  target_ref?: string;
};
type Catalog = { count: number; catalogVersion: string; vulnerabilities: { cveID: string; dateAdded: string }[] };

const end = new Date('2031-07-09T15:30:00.000Z');
const textOf = (kind: 'kev' | 'stix'): string => buildDemoFeed(end).find((file) => file.kind === kind)!.text;
const objects = (JSON.parse(textOf('stix')) as { objects: StixObject[] }).objects;

test('every STIX object has a valid ID and every reference resolves', () => {
  const ids = new Set(objects.map(({ id }) => id));
  expect(ids.size).toBe(objects.length);
  for (const object of objects) {
    expect(object.id).toMatch(/^[a-z-]+--[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(object.id.startsWith(`${object.type}--`)).toBe(true);
    expect(object.spec_version).toBe('2.1');
    const { object_refs = [], object_marking_refs = [], created_by_ref, source_ref, target_ref } = object;
    const single = [created_by_ref, source_ref, target_ref].filter((ref) => ref !== undefined);
    expect([...object_refs, ...object_marking_refs, ...single].filter((ref) => !ids.has(ref))).toEqual([]);
  }
});

test('shifts dates before the end and keeps their order', () => {
  for (const { type, created, modified = created, published = created, valid_from, valid_until } of objects) {
    expect(created <= modified).toBe(true);
    expect(published < end.toISOString()).toBe(true);
    if (valid_from !== undefined && valid_until !== undefined) expect(valid_from < valid_until).toBe(true);
    expect(created.startsWith('2017') || type === 'marking-definition' || created > '2031-03').toBe(true);
  }
  expect(textOf('stix')).toContain('"2017-01-20T00:00:00.000Z"');
});

test('contains five reports, one of them revoked, and three markings', () => {
  const reports = objects.filter(({ type }) => type === 'report');
  expect(reports).toHaveLength(5);
  expect(reports.filter(({ revoked }) => revoked === true)).toHaveLength(1);
  expect(new Set(reports.flatMap(({ object_marking_refs = [] }) => object_marking_refs)).size).toBe(3);
});

test('the catalog has the declared count and dates before the end, and lists the latest entry on the last day', () => {
  const catalog = JSON.parse(textOf('kev')) as Catalog;
  expect(catalog.vulnerabilities).toHaveLength(catalog.count);
  expect(catalog.catalogVersion).toBe('2031.07.09');
  const dayBefore = buildDemoFeed(end, new Date('2031-07-08T15:30:00.000Z'));
  const earlier = JSON.parse(dayBefore.find(({ kind }) => kind === 'kev')!.text) as Catalog;
  expect([earlier.count, earlier.vulnerabilities.length]).toEqual([catalog.count - 1, catalog.count - 1]);
  expect(
    catalog.vulnerabilities.every(
      ({ cveID, dateAdded }) => /^CVE-2099-\d{5}$/.test(cveID) && dateAdded <= '2031-07-09',
    ),
  ).toBe(true);
});
