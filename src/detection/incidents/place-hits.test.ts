import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinAlias, separateAlias } from '../entities/entity-aliases.ts';
import { findEntity, listSpellings } from '../entities/resolve-entities.ts';
import { inOrg } from '../../platform/db/db.ts';
import { testDatabase } from '../../../test/support/database.ts';
import { startHits, type RaisedHit } from '../../../test/support/detection/raised-hits.ts';
import { putValueList, removeValueList } from '../value-lists/value-lists.ts';
import { placeWaitingHits } from './place-hits.ts';

const { db } = await testDatabase();
const hit = (name: string, at: number, entity: string, fields: Record<string, string> = {}): RaisedHit => ({
  name,
  at,
  entity,
  fields,
});

test('two hits with an entity in common become an incident, a third joins it, and one without company stays alone', async () => {
  const t = await startHits(db);
  await t.raise([hit('a', 0, 'ada', { src_ip: '198.51.100.7' }), hit('z', 0, 'zoe')]);
  await t.place();
  expect(await t.incidents()).toEqual([]);
  await t.raise([hit('b', 5, 'bob', { src_ip: '198.51.100.7' })]);
  await t.place();
  expect(await t.incidents()).toEqual([['a', 'b']]);
  await t.raise([{ ...hit('c', 50, 'BOB'), severity: 'high' }]);
  await t.place();
  expect(await t.incidents()).toEqual([['a', 'b', 'c']]);
  expect(await t.select`select title, severity, state, touched from incidents`).toEqual([
    { title: 'bob and 1 more: 3 hits of 1 detection', severity: 'high', state: 'open', touched: false },
  ]);
});

test('hits that cannot be placed delay those of no other organization', async () => {
  const broken = await startHits(db);
  const [hitId] = await broken.raise([hit('a', 0, 'ada'), hit('b', 1, 'ada')]);
  await broken.select`update hits set rows = '{' where id = ${hitId}`;
  const other = await startHits(db);
  await other.raise([hit('a', 0, 'ada'), hit('b', 1, 'ada')]);
  const failed = new Map();
  while (await placeWaitingHits(other.deps, { failed }));
  expect([...failed.keys()]).toEqual([broken.orgId]);
  expect(await other.incidents()).toEqual([['a', 'b']]);
  await broken.select`delete from incident_queue`;
});

test('a late hit that connects two incidents makes them one, and both IDs stay valid', async () => {
  const t = await startHits(db);
  const ids = await t.raise([hit('a', 0, 'ada'), hit('b', 1, 'ada'), hit('c', 2, 'bob'), hit('d', 3, 'bob')]);
  await t.place();
  expect(await t.incidents()).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  await t.raise([hit('e', 4, 'ada', { target_user: 'bob' })]);
  await t.place();
  expect(await t.incidents()).toEqual([['a', 'b', 'c', 'd', 'e']]);
  const [merged] = await t.select<{ into: string }>`
    select merged_into as into from incidents where merged_into is not null`;
  expect(await t.select`select distinct incident_id as into from incident_hits where hit_id = ${ids[0]}`).toEqual([
    merged,
  ]);
});

test('an address that many others had before joins nothing, and one that an attack brought joins its victims', async () => {
  const t = await startHits(db);
  const nat = { src_ip: '203.0.113.1' };
  await t.raise(['a', 'b', 'c', 'd'].map((user, n) => hit(`old-${user}`, n * 60, user, nat)));
  await t.raise([hit('new-e', 400, 'eve', nat), hit('new-f', 401, 'fay', nat)]);
  const spray = { src_ip: '198.51.100.9' };
  await t.raise(Array.from({ length: 30 }, (_, n) => hit(`spray-${n}`, 400 + n, `user-${n}`, spray)));
  await t.place();
  const incidents = await t.incidents();
  expect(incidents).toHaveLength(1);
  expect(incidents[0]).toHaveLength(30);
});

test('a hit that is found again joins what happens then', async () => {
  const t = await startHits(db);
  await t.raise([hit('a', 0, 'ada')]);
  await t.place();
  await t.raise([hit('b', 300, 'ada')]);
  await t.place();
  expect(await t.incidents()).toEqual([]);
  await t.select`update hits set last_seen_at = ${new Date(Date.UTC(2026, 2, 2) + 290 * 3_600_000)} where key = 'a'`;
  await t.place();
  expect(await t.incidents()).toEqual([['a', 'b']]);
});

test('hits of names that a person joins become an incident, and part again when the person separates them', async () => {
  const t = await startHits(db);
  await t.raise([hit('a', 0, 'ada'), hit('b', 1, 'lovelace')]);
  await t.place();
  expect(await t.incidents()).toEqual([]);
  const names = { type: 'user', name: 'ada' } as const;
  await joinAlias(t.deps, t.caller, names, { alias: 'lovelace' });
  await t.place();
  expect(await t.incidents()).toEqual([['a', 'b']]);
  await separateAlias(t.deps, t.caller, { ...names, alias: 'lovelace' }, {});
  await t.place();
  expect(await t.incidents()).toEqual([]);
});

test('hits are placed again when people list the own domains, and names that are one entity', async () => {
  const t = await startHits(db);
  const deps = { ...t.deps, connectionFor: () => Promise.reject(new Error('A list without a query opened one.')) };
  await t.raise([hit('a', 0, 'ada'), hit('b', 1, 'ada@own.example'), hit('c', 2, 'lovelace')]);
  await t.place();
  expect(await t.incidents()).toEqual([]);
  await putValueList(deps, t.caller, 'own-domains', { description: '', values: ['own.example'] });
  await t.place();
  expect(await t.incidents()).toEqual([['a', 'b']]);
  await putValueList(deps, t.caller, 'entity-aliases', { description: '', values: ['user, ada, lovelace'] });
  await t.place();
  expect(await t.incidents()).toEqual([['a', 'b', 'c']]);
  await removeValueList(t.deps, t.caller, 'own-domains');
  await t.place();
  expect(await t.incidents()).toEqual([['a', 'c']]);
});

test('a log that states two names of a user joins the hits of both, also earlier ones', async () => {
  const t = await startHits(db);
  await t.raise([hit('a', 0, 'trn'), hit('b', 1, 'tomas.rehn@one.example')]);
  await t.place();
  expect(await t.incidents()).toEqual([]);
  const stated = (email: string) => ({ 'target.user.name': 'trn', 'target.user.email': email });
  await t.raise([hit('c', 300, 'eve', stated('tomas.rehn@one.example'))]);
  await t.place();
  expect(await t.incidents()).toEqual([['a', 'b']]);
  const entity = await inOrg(db, t.orgId, (tx) => findEntity(tx, t.orgId, { type: 'user', value: 'trn' }));
  expect(entity.names.map(({ name, why }) => [name, why.replace(/hit \S+/, 'hit …')]).toSorted()).toEqual([
    ['tomas.rehn@one.example', 'A row of hit … has both, in `target.user.email` and `target.user.name`.'],
    ['trn', 'It is the name of the entity.'],
  ]);
  // An attacker can write into logs, so that this proves nothing to a judge.
  const raw = { type: 'user', value: 'trn' };
  expect(await inOrg(db, t.orgId, (tx) => listSpellings(tx, t.orgId, raw, { isProof: true }))).toEqual(['trn']);
  // The account has a second address, so that it may belong to two people.
  await t.raise([hit('d', 600, 'eve', stated('someone@two.example'))]);
  await t.place();
  expect(await t.incidents()).toEqual([]);
});

const arbitraryHits = fc
  .array(
    fc.record({
      at: fc.integer({ min: 0, max: 400 }),
      entity: fc.constantFrom('ada', 'bob', 'cyd', 'dan', 'eve', 'fay'),
      severity: fc.constantFrom('low' as const, 'low' as const, 'medium' as const),
      ip: fc.option(fc.constantFrom('198.51.100.1', '198.51.100.2', '198.51.100.3'), { nil: undefined }),
    }),
    { minLength: 2, maxLength: 14 },
  )
  .map((list) =>
    list.map(({ at, entity, severity, ip }, n) => ({
      ...hit(`h${String(n).padStart(2, '0')}`, at, entity, ip === undefined ? {} : { src_ip: ip }),
      severity,
    })),
  );

test('the same hits give the same incidents in any order, one by one and in batches', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryHits.chain((hits) =>
        fc.tuple(
          fc.constant(hits),
          fc.shuffledSubarray(hits, { minLength: hits.length }),
          fc.integer({ min: 1, max: 6 }),
        ),
      ),
      async ([hits, shuffled, batch]) => {
        const together = await startHits(db);
        await together.raise(hits);
        await together.place();
        const oneByOne = await startHits(db);
        for (const one of shuffled) {
          await oneByOne.raise([one]);
          await oneByOne.place();
        }
        const inBatches = await startHits(db);
        for (let at = 0; at < shuffled.length; at += batch) await inBatches.raise(shuffled.slice(at, at + batch));
        await inBatches.place(batch);
        const expected = await together.incidents();
        expect(await oneByOne.incidents()).toEqual(expected);
        expect(await inBatches.incidents()).toEqual(expected);
      },
    ),
    { numRuns: 12 },
  );
});

test('two workers that place hits at the same time do not race', async () => {
  const t = await startHits(db);
  await t.raise(Array.from({ length: 40 }, (_, n) => hit(`h${n}`, n, 'ada')));
  await Promise.all([t.place(3), t.place(3), t.place(5)]);
  expect((await t.incidents()).map(({ length }) => length)).toEqual([40]);
  expect(await t.select`select count(*)::int as n from incidents where merged_into is null`).toEqual([{ n: 1 }]);
});
