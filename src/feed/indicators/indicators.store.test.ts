import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { readLookup, readStatusCounts, type StatusCounts } from './indicators.store.ts';
import type { IndicatorLookup } from './indicators.schema.ts';

let now = new Date('2024-01-05T10:20:30.000Z');
const hour = Date.parse('2024-01-05T10:00:00.000Z');
const [rare, frequent] = ['rare.example', 'frequent.example'];
const app = await startApp({ clock: () => now });

type ReportOptions = { published?: string; indicator?: object; report?: object };

/** The statements of reports about the values: active, expired, revoked and harmless, and the same in retracted reports. */
const statements: ReportOptions[] = [
  {},
  { published: '2020-01-01T00:00:00Z' },
  { indicator: { revoked: true } },
  { indicator: { indicator_types: ['benign'] } },
  { report: { revoked: true } },
  { report: { revoked: true }, indicator: { indicator_types: ['benign'] } },
];
/** What an organization can say about each of them. */
const overrides = [
  undefined,
  { status: 'retracted' },
  ...['active', 'expired', 'revoked', 'false_positive'].map((status) => ({
    indicators: [rare, frequent].map((value) => ({ type: 'domain', value, status })),
  })),
];

const uuidOf = (kind: number, number: number): string =>
  `00000000-0000-4000-8000-${String(kind * 100_000 + number).padStart(12, '0')}`;

function reportObjects(values: string[], number: number, { published, indicator, report }: ReportOptions): object[] {
  const common = { spec_version: '2.1', created: '2020-01-01T00:00:00.000Z', modified: '2024-01-01T00:00:00.000Z' };
  const indicators = values.map((value, index) => ({
    type: 'indicator',
    id: `indicator--${uuidOf(index + 1, number)}`,
    ...common,
    pattern: `[domain-name:value = '${value}']`,
    pattern_type: 'stix',
    valid_from: published ?? '2024-01-01T00:00:00Z',
    ...indicator,
  }));
  return [
    {
      type: 'report',
      id: `report--${uuidOf(0, number)}`,
      ...common,
      name: `Report ${number}`,
      published: published ?? '2024-01-01T00:00:00Z',
      object_refs: indicators.map(({ id }) => id),
      ...report,
    },
    ...indicators,
  ];
}

async function pullReports(org: TestOrg, visibility: 'shared' | 'private', objects: object[]): Promise<void> {
  const source = await fileSource(app, org, { kind: 'stix', visibility, tlp: 'CLEAR' });
  now = new Date(now.getTime() + 1_000);
  const result = await source.pull({ type: 'bundle', id: `bundle--${uuidOf(0, 0)}`, objects });
  expect([result.error, result.skipped]).toEqual([undefined, []]);
}

const repeated = (count: number, toObjects: (index: number) => object[]): object[] =>
  Array.from({ length: count }, (_, index) => toObjects(index)).flat();

const readCounts = (org: TestOrg, ...values: string[]) =>
  inOrg(app.deps.db, org.id, async (tx) => {
    const forms = values.map((value) => ({ form: value, term: value }));
    const { counts, docs } = await readLookup(tx, { forms, hour, limit: 45 });
    const countsByForm = await readStatusCounts(tx, forms, hour);
    expect(countsByForm.get(values.at(-1)!)).toEqual(counts);
    return { counts, ids: docs.map((doc) => (JSON.parse(doc) as FeedItem).id) };
  });

const numberOf = (title: string): number => Number(title.split(' ').at(-1));

type ListedItems = IndicatorLookup['items'];

async function overrideItems(org: TestOrg, items: ListedItems, toIndex: (number: number) => number): Promise<void> {
  for (const { itemId, title } of items) {
    const override = overrides[toIndex(numberOf(title)) % overrides.length];
    if (override) expect((await org.call('PUT', `/api/feed/items/${itemId}/override`, override)).status).toBe(200);
  }
}

/** Retracts two items of the first kind for everyone. */
async function retractActive(org: TestOrg, items: ListedItems): Promise<void> {
  for (const { itemId } of items.filter(({ title }) => numberOf(title) % statements.length === 0).slice(-2))
    expect((await org.call('POST', `/api/feed/items/${itemId}/retract`)).status).toBe(200);
}

test('counts the statements about a frequent value as it does those about a rare one, and as the documents state', async () => {
  const [owner, one, two, three] = [await app.newOrg(), await app.newOrg(), await app.newOrg(), await app.newOrg()];
  const fillers = 1_001;
  await pullReports(
    owner,
    'shared',
    repeated(fillers, (index) => reportObjects([frequent], 1_000 + index, {})),
  );
  const both = (index: number): object[] =>
    reportObjects([rare, frequent], index, statements[index % statements.length]!);
  const reports = repeated(statements.length * overrides.length, both);
  await pullReports(owner, 'shared', reports);
  await pullReports(
    one,
    'private',
    repeated(statements.length, (index) => both(index + 100 * statements.length)),
  );
  const { items } = (await two.call('GET', `/api/indicators?value=${rare}`)).body as IndicatorLookup;
  expect(items).toHaveLength(36);
  await overrideItems(one, items, (number) => Math.floor(number / statements.length));
  await overrideItems(two, items, (number) => Math.floor(number / statements.length) + (number % 5));
  const { items: own } = (await one.call('GET', `/api/indicators?value=${rare}`)).body as IndicatorLookup;
  await retractActive(owner, items);
  await retractActive(one, own.slice(0, statements.length));
  const seen: StatusCounts[] = [];
  for (const org of [one, two, three]) {
    const { items: listed } = (await org.call('GET', `/api/indicators?value=${rare}`)).body as IndicatorLookup;
    const found = await readCounts(org, rare);
    const stated = { false_positive: 0, active: 0, expired: 0, revoked: 0, harmless_here: 0 };
    for (const { status } of listed) stated[status] += 1;
    expect(found.counts).toEqual(stated);
    expect(found.ids).toEqual(listed.map(({ itemId }) => itemId));
    const { counts, ids } = await readCounts(org, frequent);
    expect(counts).toEqual({ ...stated, active: stated.active + fillers });
    expect(ids.slice(0, found.ids.length)).toEqual(found.ids);
    expect(await readCounts(org, rare, frequent)).toEqual({ counts, ids });
    seen.push(stated);
  }
  expect(seen.map(Object.values)).toEqual([
    [12, 4, 6, 20, 0],
    [9, 5, 4, 18, 0],
    [12, 4, 6, 14, 0],
  ]);
});
