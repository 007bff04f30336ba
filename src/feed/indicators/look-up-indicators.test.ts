import { describe, expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { reportSource } from '../../../test/support/feed/report-source.ts';
import { stixBundle, stixIndicator } from '../../../test/support/feed/stix-documents.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { markFalsePositives } from './indicators.store.ts';
import { summarizeStatus } from './look-up-indicators.ts';

let now = new Date('2024-01-05T10:20:30.000Z');
const app = await startApp({ clock: () => now });
const [org, other] = [await app.newOrg(), await app.newOrg()];
await (await reportSource(app, org, { name: 'One' })).write({ 1: { words: 'first' }, 2: { revoked: true } });
await (await reportSource(app, org, { name: 'Two', kind: 'stix' })).write({ 1: { words: 'second', revoked: true } });

const lookUp = async (value: string, on = org) =>
  (await on.call('GET', `/api/indicators?value=${encodeURIComponent(value)}`)).body;

test.each(['r1.example', 'R1.EXAMPLE', 'r1[.]example', ' r1(dot)example. '])(
  'returns the items, status and reason for %s',
  async (value) => {
    const body = await lookUp(value);
    expect(body).toMatchObject({
      value: value.trim(),
      normalizedValue: 'r1.example',
      type: 'domain',
      status: 'active',
      why: 'active in 1 of 2 items',
      total: 2,
    });
    expect(body.items).toHaveLength(2);
    expect(body.items).toMatchObject([
      { status: 'revoked', why: 'its item was retracted', itemStatus: 'retracted', publisher: 'Two' },
      {
        status: 'active',
        why: 'valid until 2024-06-29T00:00:00.000Z, 180 days after it was published',
        itemStatus: 'active',
        publisher: 'One',
      },
    ]);
    for (const { itemId, title, value: printed } of body.items) {
      expect((await org.call('GET', `/items/${itemId}`)).body.event.title).toBe(title);
      expect(printed).toBe('r1.example');
    }
  },
);

test('reports expired at the full hour, revoked if every item is, and unknown if no item contains the value', async () => {
  expect(await lookUp('r2.example')).toMatchObject({ status: 'revoked', why: 'revoked in 1 of 1 item' });
  const before = now;
  now = new Date('2024-06-29T00:00:00.000Z');
  expect(await lookUp('r1.example')).toMatchObject({
    status: 'expired',
    why: 'not active in any item, expired in 1 of 2 items',
  });
  now = before;
  expect(await lookUp('r9.example')).toEqual({
    value: 'r9.example',
    normalizedValue: 'r9.example',
    type: 'domain',
    status: 'unknown',
    why: 'no item contains it',
    total: 0,
    items: [],
    covering: [],
    urls: [],
  });
  expect(await lookUp('HXXP://R9[.]example:80/A#b')).toMatchObject({
    normalizedValue: 'http://r9.example/A',
    type: 'url',
  });
  const unreadable = await lookUp('what is this?');
  expect([unreadable.status, unreadable.type, unreadable.normalizedValue]).toEqual(['unknown', undefined, undefined]);
});

test('returns no items of another organization', async () => {
  expect(await lookUp('r1.example', other)).toMatchObject({ status: 'unknown', total: 0, items: [] });
});

test('applies the overrides of an indicator and of its item for their organization only', async () => {
  const [owner, one, two] = [await app.newOrg(), await app.newOrg(), await app.newOrg()];
  const source = await reportSource(app, owner, { visibility: 'shared', assignedTo: [one.id, two.id] });
  await source.write({ 5: {}, 6: {} });
  const override = async (value: string, body: unknown) => {
    const { itemId } = (await lookUp(value, one)).items[0];
    expect((await one.call('PUT', `/api/feed/items/${itemId}/override`, body)).status).toBe(200);
  };
  await override('r5.example', { indicators: [{ type: 'domain', value: 'r5.example', status: 'false_positive' }] });
  await override('r6.example', { status: 'retracted' });
  expect(await lookUp('r5.example', one)).toMatchObject({
    status: 'false_positive',
    items: [{ status: 'false_positive', why: 'set by the organization', itemStatus: 'active' }],
  });
  expect(await lookUp('r6.example', one)).toMatchObject({
    status: 'revoked',
    items: [{ status: 'revoked', why: 'the organization retracted its item', itemStatus: 'retracted' }],
  });
  const { body } = await one.call('POST', '/api/indicators/lookup', { values: ['r5.example', 'r6.example'] });
  expect(body.indicators.map(({ status }: { status: string }) => status)).toEqual(['false_positive', 'revoked']);
  for (const value of ['r5.example', 'r6.example']) expect((await lookUp(value, two)).status).toBe('active');
});

test('looks several values up in their order', async () => {
  const { status, body } = await org.call('POST', '/api/indicators/lookup', { values: ['r9.example', 'R1[.]example'] });
  expect(status).toBe(200);
  expect(body.indicators.map(({ value, status: one }: Record<string, string>) => [value, one])).toEqual([
    ['r9.example', 'unknown'],
    ['R1[.]example', 'active'],
  ]);
  for (const [values, pointer] of [
    [[], '/values'],
    [Array.from({ length: 101 }, () => 'a.example'), '/values'],
    [['  '], '/values/0'],
  ] as const)
    expect((await org.call('POST', '/api/indicators/lookup', { values })).body.errors[0].pointer).toBe(pointer);
  const misspelt = await org.call('POST', '/api/indicators/lookup', { values: ['r1.example'], asof: 'now' });
  expect([misspelt.status, misspelt.body.errors[0].pointer]).toEqual([400, '/asof']);
});

test.each(['', '?value=', '?value=%20', '?value=a&value=b', '?value=a%00'])(
  'returns 400 for GET /api/indicators%s',
  async (query) => {
    const { status, body } = await org.call('GET', `/api/indicators${query}`);
    expect([status, body.errors[0].pointer]).toEqual([400, 'query/value']);
  },
);

describe('summarizeStatus', () => {
  const cases = [
    [[], 'unknown'],
    [['revoked', 'active', 'false_positive'], 'false_positive'],
    [['revoked', 'expired', 'active'], 'active'],
    [['revoked', 'expired'], 'expired'],
    [['revoked', 'revoked'], 'revoked'],
    [['harmless_here', 'active'], 'active'],
    [['harmless_here', 'revoked'], 'revoked'],
    [['harmless_here'], 'false_positive'],
  ] as const;
  test.each(cases)('summarizes %j as %s', (statuses, expected) => {
    const count = (status: string): number => statuses.filter((one) => one === status).length;
    const counts = {
      false_positive: count('false_positive'),
      active: count('active'),
      expired: count('expired'),
      revoked: count('revoked'),
      harmless_here: count('harmless_here'),
    };
    expect(summarizeStatus(counts).status).toBe(expected);
  });
});

/** A bundle of reports that all contain one domain, oldest first. */
function reportsOf(domain: string, count: number, more: (index: number) => object = () => ({})): object {
  const common = (index: number) => ({
    spec_version: '2.1',
    created: '2024-01-01T00:00:00.000Z',
    modified: '2024-01-01T00:00:00.000Z',
    ...more(index),
  });
  const uuid = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const objects = Array.from({ length: count }, (_, index) => [
    {
      type: 'report',
      id: `report--${uuid(index)}`,
      ...common(index),
      name: `Report ${index}`,
      published: new Date(Date.UTC(2024, 0, 1, index)).toISOString(),
      object_refs: [`indicator--${uuid(index)}`],
    },
    {
      type: 'indicator',
      id: `indicator--${uuid(index)}`,
      ...common(index),
      pattern: `[domain-name:value = '${domain}']`,
      pattern_type: 'stix',
      valid_from: '2024-01-01T00:00:00Z',
    },
  ]);
  return { type: 'bundle', id: `bundle--${uuid(0)}`, objects: objects.flat() };
}

test('derives the status from all items with a value, including overrides, beyond the listed 50', async () => {
  const [owner, one] = [await app.newOrg(), await app.newOrg()];
  const source = await fileSource(app, owner, { kind: 'stix', visibility: 'shared', tlp: 'CLEAR' });
  const reports = ({ revoked }: { revoked: boolean }) =>
    reportsOf('many.example', 60, (index) => ({ revoked: index > 0 || revoked, modified: revoked ? '2024-01-02T00:00:00.000Z' : undefined })); // prettier-ignore
  await source.pull(reports({ revoked: false }));
  expect(await lookUp('many.example', one)).toMatchObject({
    status: 'active',
    why: 'active in 1 of 60 items',
    total: 60,
    items: Array.from({ length: 50 }, () => ({ status: 'revoked' })),
  });
  const { items } = (await one.call('GET', '/items?indicator=many.example&status=active')).body;
  const override = (body: object) => one.call('PUT', `/api/feed/items/${items[0].id}/override`, body);
  const overrideStatus = (status: string) => ({ indicators: [{ type: 'domain', value: 'many.example', status }] });
  for (const [body, expected] of [
    [overrideStatus('false_positive'), 'false_positive'],
    [overrideStatus('expired'), 'expired'],
    [{ indicators: null, status: 'retracted' }, 'revoked'],
    [{ status: null }, 'active'],
  ] as const) {
    expect((await override(body)).status).toBe(200);
    expect(await lookUp('many.example', one)).toMatchObject({ status: expected, total: 60 });
    const several = await one.call('POST', '/api/indicators/lookup', { values: ['MANY[.]example'] });
    expect(several.body.indicators[0]).toMatchObject({ status: expected, total: 60 });
    expect((await lookUp('many.example', owner)).status).toBe('active');
  }
  const before = now;
  now = new Date('2024-07-01T00:00:00.000Z');
  expect(await lookUp('many.example', one)).toMatchObject({
    status: 'expired',
    why: 'not active in any item, expired in 1 of 60 items',
  });
  now = before;
  await source.pull(reports({ revoked: true }));
  expect(await lookUp('many.example', one)).toMatchObject({ status: 'revoked', why: 'revoked in 60 of 60 items' });
});

test('look-ups, block lists and sightings agree on harmless and corrected values', async () => {
  const one = await app.newOrg();
  const hostile = ['zq7.s3.amazonaws.com', '203.0.113.77:8080', 'mixed.example', 'zq7.bad.example'];
  const harmless = ['google.com', '10.0.0.1', 's3.amazonaws.com', 'nodejs.org'];
  const source = await fileSource(app, one, { kind: 'stix' });
  await source.pull(stixBundle([...hostile, ...harmless]));
  const benign = { ...stixIndicator('mixed.example', 'benign'), indicator_types: ['benign'] };
  await (await fileSource(app, one, { kind: 'stix', name: 'Benign' })).pull({ type: 'bundle', id: 'bundle--b2', objects: [benign] }); // prettier-ignore
  const isActive = (value: string): boolean => hostile.includes(value) && value !== 'mixed.example';
  const statuses = await Promise.all([...hostile, ...harmless].map(async (value) => [value, (await lookUp(value, one)).status])); // prettier-ignore
  expect(statuses).toEqual(
    [...hostile, ...harmless].map((value) => [value, isActive(value) ? 'active' : 'false_positive']),
  );
  expect(await lookUp('203.0.113.77:8080', one)).toMatchObject({ normalizedValue: '203.0.113.77', type: 'ipv4' });
  const blocked = await one.call('GET', '/api/feed/export/blocklist?type=ipv4,domain&maxTlp=RED');
  expect(String(blocked.body).trim().split('\n')).toEqual(['203.0.113.77', 'zq7.bad.example', 'zq7.s3.amazonaws.com']);
  const { items } = (await one.call('GET', '/items?indicator=zq7.bad.example')).body as { items: FeedItem[] };
  await inOrg(app.deps.db, one.id, (tx) => markFalsePositives(tx, items));
  const sought = Object.values(items[0]!.iocs)
    .flat()
    .filter(({ status }) => status === 'active');
  expect(sought.map(({ normalizedValue }) => normalizedValue).toSorted()).toEqual([
    '203.0.113.77',
    'zq7.bad.example',
    'zq7.s3.amazonaws.com',
  ]);
  const printed = items[0]!.iocs.ipv4.map(({ value, correction }) => [value, correction]);
  expect(printed).toContainEqual(['203.0.113.77:8080', 'stated as domain, port 8080 removed']);
});
