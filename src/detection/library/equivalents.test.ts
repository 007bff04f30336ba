import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { dataDir } from '../../../test/support/data.ts';
import { createTestFolder } from '../../../test/support/detection/log-store.ts';
import { createEngine } from '../log-engine/process/engine.ts';
import { openFixtureStore, type FixtureEvent } from '../log-query/search/fixture-store.ts';
import { groupByDataset } from '../testing/run-test-case.ts';
import { getLibraryEntry, loadLibrary } from './load-library.ts';

const folder = resolve(import.meta.dirname, '../../../quality/equivalents');
const Ways = z.record(z.string(), z.array(z.unknown()).min(1));

/** Ways to do the same, which every one of the detections must find. `{{name}}` in an event stands for each of the values of `ways`. */
const Row = z.strictObject({
  detections: z.array(z.string()).min(1),
  title: z.string(),
  benign: z.boolean().optional(),
  repeat: z.int().optional(),
  forms: z.boolean().default(true).describe('Whether the forms of the table apply to the events.'),
  event: z.union([z.record(z.string(), z.unknown()), z.string()]),
  ways: Ways.default({}),
});
const Texts = z.record(z.string(), z.string());
const Form = z.strictObject({
  title: z.string(),
  from: z.record(z.string(), z.unknown()).optional(),
  set: z.record(z.string(), z.unknown()).optional(),
  within: z.string().optional(),
  rename: Texts,
});
const Spelling = z.strictObject({
  title: z.string(),
  find: z.string(),
  replace: z.string().optional(),
  upper: z.boolean().optional(),
});
const Table = z.strictObject({
  dataset: z.string(),
  ways: Ways.optional(),
  forms: z.array(Form).default([]),
  spellings: z.array(Spelling).default([]),
  none: Texts.default({}).describe('Why a detection has no equivalents, by its ID.'),
  rows: z.array(Row),
});
type Row = z.infer<typeof Row>;
type Form = z.infer<typeof Form>;
type Spelling = z.infer<typeof Spelling>;

const tables = readdirSync(folder).map((name) =>
  Table.parse(parse(readFileSync(join(folder, name), 'utf8'), { merge: true })),
);

const root = createTestFolder();
const engine = createEngine({ directoryOf: () => root });
afterAll(() => engine.close());
const organization = '11111111-1111-4111-8111-111111111111';
const bounds = { from: new Date('2000-01-01'), to: new Date('2090-01-01') };
const limits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 60_000 };

/** Returns the entities that a detection finds in events. */
async function findEntities(id: string, events: Record<string, readonly FixtureEvent[]>): Promise<Set<string>> {
  const { body } = getLibraryEntry(id);
  const deps = { engine, segmentStore: { folderOf: () => root }, organization };
  const undatedMicros = Date.parse('2030-01-07T10:00:00Z') * 1000;
  const store = await openFixtureStore(deps, { events, fields: new Map(), undatedMicros });
  try {
    const { rows } = await store.searchAll(body.detectionQuery, bounds, limits, AbortSignal.timeout(limits.timeoutMs));
    return new Set(rows.map((row) => String(row[body.entityField!])));
  } finally {
    await store.close();
  }
}

/** A choice of a value for each name so far. */
type Choice = Readonly<Record<string, unknown>>;

/** Returns a value with each combination of the ways that it names, directly or in another way. */
function expand(value: unknown, ways: Row['ways'], choice: Choice = {}): { value: unknown; choice: Choice }[] {
  if (Array.isArray(value))
    return value.reduce<{ value: unknown[]; choice: Choice }[]>(
      (all, item) =>
        all.flatMap((before) =>
          expand(item, ways, before.choice).map((one) => ({ value: [...before.value, one.value], choice: one.choice })),
        ),
      [{ value: [], choice }],
    );
  if (value !== null && typeof value === 'object')
    return Object.entries(value).reduce<{ value: Record<string, unknown>; choice: Choice }[]>(
      (all, [key, item]) =>
        all.flatMap((before) =>
          expand(item, ways, before.choice).map((one) => ({
            value: { ...before.value, [key]: one.value },
            choice: one.choice,
          })),
        ),
      [{ value: {}, choice }],
    );
  const match = typeof value === 'string' ? /\{\{(\w+)(?:\.(\w+))?\}\}/.exec(value) : null;
  const [placeholder, name = '', key] = match ?? [];
  if (!placeholder || !Object.hasOwn(ways, name)) return [{ value, choice }];
  const chosen = Object.hasOwn(choice, name) ? [choice[name]] : ways[name]!;
  return chosen.flatMap((one) => {
    const part = key === undefined ? one : (one as Record<string, unknown>)[key];
    const text = String(value);
    const next = text === placeholder ? part : text.replace(placeholder, String(part));
    return expand(next, ways, { ...choice, [name]: one });
  });
}

/** Sets the value at a dotted path. */
function setPath(event: FixtureEvent, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop()!;
  const parent = keys.reduce<FixtureEvent>((object, key) => (object[key] ??= {}) as FixtureEvent, event);
  parent[last] = value;
}

function toForm(event: FixtureEvent, { from = {}, set = {}, within, rename }: Form): FixtureEvent {
  if (Object.entries(from).some(([key, value]) => Number(event[key]) !== value)) return event;
  const result: FixtureEvent = {};
  for (const [key, value] of Object.entries({ ...event, ...set })) {
    const isTime = key === '@timestamp';
    setPath(result, rename[key] ?? (within && !isTime ? `${within}.${key}` : key), value);
  }
  return result;
}

function respell(event: FixtureEvent, { find, replace, upper }: Spelling): FixtureEvent {
  const command = event['CommandLine'];
  if (typeof command !== 'string') return event;
  const pattern = new RegExp(find, 'g');
  const spelled = upper
    ? command.replaceAll(pattern, (word) => word.toUpperCase())
    : command.replaceAll(pattern, replace!);
  return { ...event, CommandLine: spelled };
}

const rows = tables.flatMap(({ dataset, forms, rows }) =>
  rows.flatMap((row) => row.detections.map((id) => ({ id, dataset, row, forms: row.forms ? forms : [] }))),
);

test.each(rows.map((one) => [one.id, one.row.title, one] as const))(
  '%s covers %s',
  async (id, _title, { dataset, row, forms }) => {
    const ways = expand(row.event, row.ways).flatMap(({ value }) => [
      value,
      ...forms.map((form) => toForm(value as FixtureEvent, form)),
    ]);
    const generated = ways.map((value, index) => {
      const entity = `way-${index + 1}`;
      const events = Array.from(
        { length: row.repeat ?? 1 },
        (_, n) =>
          JSON.parse(
            JSON.stringify(value).replaceAll('{{entity}}', entity).replaceAll('{{n}}', String(n)),
          ) as FixtureEvent,
      );
      return { entity, events };
    });
    const found = await findEntities(id, { [dataset]: generated.flatMap(({ events }) => events) });
    const wrong = generated.filter(({ entity }) => found.has(entity) === (row.benign ?? false));
    expect(wrong.map(({ events }) => JSON.stringify(events[0]))).toEqual([]);
  },
);

const windows = tables.find(({ dataset }) => dataset === 'windows')!;
const changes = [
  ...windows.forms.map((form) => ({
    title: form.title,
    keepsBenign: true,
    change: (event: FixtureEvent) => ('EventID' in event ? toForm(event, form) : event),
  })),
  ...windows.spellings.map((one) => ({
    title: one.title,
    keepsBenign: false,
    change: (event: FixtureEvent) => respell(event, one),
  })),
];
test('every shipped detection has a row, the forms and spellings of its table, or a reason for having no equivalents', () => {
  const inRows = tables.flatMap(({ rows }) => rows.flatMap(({ detections }) => detections));
  const reasons = tables.flatMap(({ none }) => Object.keys(none));
  const ids = [...loadLibrary().values()].map(({ id }) => id);
  const covered = new Set([...inRows, ...reasons, ...windowsIds]);
  expect(ids.filter((id) => !covered.has(id))).toEqual([]);
  expect([...covered].filter((id) => !ids.includes(id))).toEqual([]);
  expect(reasons.filter((id) => inRows.includes(id) || windowsIds.includes(id))).toEqual([]);
});

const windowsIds = [...loadLibrary().values()].filter(({ datasets }) => 'windows' in datasets).map(({ id }) => id);

/** Returns a value in which the texts that are entities have a suffix. */
function markEntities(value: unknown, entities: ReadonlySet<unknown>, suffix: string): unknown {
  if (entities.has(value)) return `${String(value)}${suffix}`;
  if (Array.isArray(value)) return value.map((one) => markEntities(one, entities, suffix));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, markEntities(one, entities, suffix)]));
}

test.each(windowsIds)('%s finds the events of its tests in every form and spelling', async (id) => {
  const { tests, datasets } = getLibraryEntry(id);
  for (const { events, expect: expected } of tests.tests) {
    const original = groupByDataset(events, Object.keys(datasets));
    const entities = new Set<unknown>(expected);
    const changed: Record<string, FixtureEvent[]> = {};
    const wanted: string[] = [];
    for (const [index, { keepsBenign, change }] of changes.entries()) {
      const suffix = `.${index}`;
      const lists = Object.entries(original).map(([name, list]) => [name, list.map(change)] as const);
      if (JSON.stringify(Object.fromEntries(lists)) === JSON.stringify(original)) continue;
      if (entities.size === 0 && !keepsBenign) continue;
      for (const [name, list] of lists)
        (changed[name] ??= []).push(...list.map((event) => markEntities(event, entities, suffix) as FixtureEvent));
      wanted.push(...[...entities].map((entity) => `${String(entity)}${suffix}`));
    }
    if (Object.keys(changed).length === 0) continue;
    const found = await findEntities(id, changed);
    const describe = (name: string): string => `${name}: ${changes[Number(name.split('.').at(-1))]?.title}`;
    expect(wanted.filter((name) => !found.has(name)).map(describe)).toEqual([]);
    if (entities.size === 0) expect([...found]).toEqual([]);
  }
});

const recorded = dataDir();

test.skipIf(!recorded)('finds recorded pods whose privileged container is in another list', async () => {
  const lines = readFileSync(join(recorded!, 'cases/kubernetes-pods.ndjson'), 'utf8').trim().split('\n');
  const events = lines.map((line) => JSON.parse(line) as FixtureEvent & { user: { username: string } });
  const found = await findEntities('kubernetes-host-access-pod', { kubernetes: events });
  expect([...found].toSorted()).toEqual(
    events
      .map(({ user }) => user.username)
      .filter((name) => name !== 'benign')
      .toSorted(),
  );
});
