import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runAtOnce } from '../../../platform/lib/concurrency/slices.ts';
import { newAgentId } from '../../../../test/support/models/agent-steps.ts';
import { newOrgId, testDatabase } from '../../../../test/support/database.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { deleteOldMemoryAcrossOrgs } from '../../runs/run-retention.store.ts';
import { prepareWindow } from '../analyze-window.ts';
import { definitionOf, hour, hourMs } from '../../../../test/support/detection/analysis-examples.ts';
import { isRemembered, recallMemory, writeMemory, countEarlierWindows, listRevisitCandidates } from './memory.store.ts';
import type { MemoryEntry, MemoryQuery, MemoryScope } from './memory.ts';
import { recallFromWindows, type WindowMemory } from './recall.ts';

const { db } = await testDatabase();
const orgId = await newOrgId(db);

async function newScope(of = orgId): Promise<MemoryScope> {
  return { orgId: of, detectionId: await newAgentId(db, of), generation: 'g1' };
}

async function write(scope: MemoryScope, memory: readonly WindowMemory[]): Promise<void> {
  await inOrg(db, scope.orgId, async (tx) => {
    for (const window of memory) await writeMemory(tx, scope, window, window.entries);
  });
}

const entry = (
  key: string,
  entity: string,
  number: number | null = null,
  value: string | null = null,
): MemoryEntry => ({ key, entity, number, value });

const name = fc.constantFrom('a', 'b', 'ä', "o'x", '');
const entries = fc.uniqueArray(
  fc.record({
    key: name,
    entity: name,
    number: fc.constantFrom(null, 0, 1.5, -2e9),
    value: fc.constantFrom(null, '7', '{"x":1}', '"ü"'),
  }),
  { maxLength: 6, selector: ({ key, entity }) => JSON.stringify([key, entity]) },
);
const memory = fc
  .uniqueArray(fc.record({ index: fc.nat(30), entries }), { maxLength: 14, selector: ({ index }) => index })
  .map((windows) =>
    windows.map(({ index, entries: own }): WindowMemory => ({
      from: hour(index).from,
      to: hour(index).to,
      entries: own,
    })),
  );
const since = fc.nat(20).map((index) => hour(index).from);
const query: fc.Arbitrary<MemoryQuery> = fc.oneof(
  fc.record({ want: fc.constant('nothing' as const), since }),
  fc.record({
    want: fc.constant('known' as const),
    since,
    pairs: fc.uniqueArray(fc.record({ key: name, entity: name }), {
      selector: (pair) => JSON.stringify(pair),
      maxLength: 5,
    }),
    summaryKey: fc.constant('a'),
  }),
  fc.record({
    want: fc.constantFrom('samples' as const, 'values' as const),
    since,
    valuesSince: since,
    entities: fc.uniqueArray(name, { maxLength: 4 }),
    summaryKey: name,
  }),
);

test('the database returns the same result as in-process memory', async () => {
  await fc.assert(
    fc.asyncProperty(memory, fc.integer({ min: 15, max: 31 }), query, async (windows, at, memoryQuery) => {
      const scope = await newScope();
      await write(scope, windows);
      // Memory of another generation must not appear.
      await write({ ...scope, generation: 'g2' }, [{ ...hour(1), entries: [entry('a', 'a', 1, '1')] }]);
      const past = await inOrg(db, orgId, (tx) => recallMemory(tx, scope, hour(at), memoryQuery));
      const expected = runAtOnce(recallFromWindows(windows, hour(at), memoryQuery));
      expect(past).toEqual(memoryQuery.want === 'nothing' ? { ...expected, windows: [] } : expected);
    }),
    { numRuns: 60 },
  );
});

test('rewriting a window replaces its memory, and an empty window still counts', async () => {
  const scope = await newScope();
  await write(scope, [
    { ...hour(1), entries: [entry('number', 'a', 5), entry('number', 'b', 6)] },
    { ...hour(2), entries: [] },
  ]);
  await write(scope, [{ ...hour(1), entries: [entry('number', 'a', 7)] }]);
  const past = await inOrg(db, orgId, (tx) =>
    recallMemory(tx, scope, hour(5), { want: 'samples', since: hour(0).from, entities: ['a', 'b'], summaryKey: '' }),
  );
  expect(past.samples).toEqual(new Map([['a', [{ at: hour(1).from.getTime(), number: 7 }]]]));
  expect(past.windowsEver).toBe(2);
  expect(await inOrg(db, orgId, (tx) => listRevisitCandidates(tx, scope, hour(1), 0))).toEqual(
    [hour(1), hour(2)].map(({ from, to }) => ({ from, to, examined: true })),
  );
});

test('a window is remembered once it is examined, with or without entries', async () => {
  const scope = await newScope();
  const isKnown = (index: number, own: MemoryEntry[]): Promise<boolean> =>
    inOrg(db, orgId, (tx) => isRemembered(tx, scope, hour(index), own));
  expect([await isKnown(1, []), await isKnown(2, [])]).toEqual([false, false]);
  await write(scope, [
    { ...hour(1), entries: [] },
    { ...hour(2), entries: [entry('number', 'a', 5)] },
  ]);
  await inOrg(db, orgId, (tx) => writeMemory(tx, scope, { ...hour(3), examined: false }, []));
  expect([await isKnown(1, []), await isKnown(2, [entry('number', 'a', 5)]), await isKnown(3, [])]).toEqual([true, true, false]); // prettier-ignore
  expect([await isKnown(1, [entry('number', 'a', 5)]), await isKnown(2, [])]).toEqual([false, false]);
});

test('deletes old entries but keeps the windows', async () => {
  const scope = await newScope(await newOrgId(db));
  await write(scope, [
    { ...hour(1), entries: [entry('number', 'a', 5)] },
    { ...hour(2), entries: [entry('number', 'a', 6)] },
  ]);
  expect(await inOrg(db, scope.orgId, (tx) => deleteOldMemoryAcrossOrgs(tx, hour(2).from, 10))).toBe(1);
  expect(await inOrg(db, scope.orgId, (tx) => countEarlierWindows(tx, scope, hour(9).from))).toBe(2);
});

test('returns nothing to another organization', async () => {
  const scope = await newScope();
  await write(scope, [{ ...hour(1), entries: [entry('number', 'a', 5)] }]);
  const foreign = await newOrgId(db);
  const past = await inOrg(db, foreign, (tx) =>
    recallMemory(tx, scope, hour(5), { want: 'samples', since: hour(0).from, entities: ['a'], summaryKey: '' }),
  );
  expect(past).toMatchObject({ windows: [], windowsEver: 0 });
});

test('writes 10,000 entries, recalls eight weeks of hours and samples 10,000 entities', async () => {
  const scope = await newScope();
  const many = Array.from({ length: 10_000 }, (_, n) => ({ user: `user${n}`, app: `app${n % 7}`, _id: `${n}` }));
  const prepared = runAtOnce(prepareWindow(many, hour(1_400), definitionOf('first_occurrence')));
  const weeks = Array.from({ length: 1_344 }, (_, index) => ({
    ...hour(index),
    entries: Array.from({ length: 5 }, (__, n) => entry('number', `user${n}`, index % 9)),
  }));
  await write(scope, [...weeks, { ...hour(1_400), entries: prepared.memory }]);
  const entities = Array.from({ length: 5 }, (_, n) => `user${n}`);
  const past = await inOrg(db, orgId, (tx) =>
    recallMemory(tx, scope, hour(1_401), {
      want: 'samples',
      since: new Date(hour(1_400).from.getTime() - 1_400 * hourMs),
      entities,
      summaryKey: '',
    }),
  );
  expect(past.samples.get('user3')).toHaveLength(1_344);
  const known = await inOrg(db, orgId, (tx) => recallMemory(tx, scope, hour(1_401), prepared.query));
  expect(known.known.size).toBe(10_000);
  const others = runAtOnce(
    prepareWindow([{ user: 'user1', app: 'new' }], hour(1_401), definitionOf('first_occurrence')),
  );
  const unknown = await inOrg(db, orgId, (tx) => recallMemory(tx, scope, hour(1_401), others.query));
  expect(unknown.sampleWeight).toBe(10_000 / 300);
});
