import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { startRuns } from '../../../test/support/detection/scripted-runs.ts';
import { getEntityProfile, getHitContext } from '../../agents/context/read-context.ts';
import { inOrg } from '../../platform/db/db.ts';
import { getEntities } from '../hits/list-entities.ts';
import { getHits } from '../hits/read-hits.ts';
import { putValueList } from '../value-lists/value-lists.ts';
import { joinAlias, separateAlias } from './entity-aliases.ts';
import { eraseFromEntityNotes } from './entities.store.ts';
import { getEntityNotes, putEntityNotes } from './entity-notes.ts';

const testDb = await testDatabase();
const arn = 'arn:aws:iam::111122223333:user/staff/tomas.rehn';
const users = [
  'tomas.rehn',
  'HALDEN\\Tomas.Rehn',
  'tomas.rehn@halden.example',
  arn,
  'trn',
  'tomas.rehn@partner.example',
];

/** Starts an organization with a hit for each user. */
async function startOrg() {
  const t = await startRuns(testDb, () => users.map((user) => ({ _id: user, user })));
  await t.newDetection({});
  await t.runAt(new Date(Date.UTC(2026, 2, 2, 1)).toISOString());
  const clock = () => new Date(Date.UTC(2026, 2, 2, 1));
  const deps = {
    db: t.deps.db,
    clock,
    connectionFor: t.deps.connectionFor,
    config: { incidents: { risk: { halfLifeMs: 7 * 86_400_000, threshold: 100 } } },
  };
  await putValueList(deps, t.caller, 'own-domains', { description: '', values: ['halden.example', '111122223333'] });
  const tomas = { type: 'user', name: 'tomas.rehn' } as const;
  return {
    deps,
    caller: t.caller,
    tomas,
    select: t.select,
    join: (alias: string) => joinAlias(deps, t.caller, tomas, { alias, reason: 'His second account.' }),
    separate: (alias: string) => separateAlias(deps, t.caller, { ...tomas, alias }, {}),
    list: async (q?: string) =>
      (await getEntities(deps, t.caller, q === undefined ? {} : { q })).entities
        .map(({ entity, hits, open, names }) => ({ entity, hits, open, names: names.toSorted() }))
        .toSorted((a, b) => b.hits - a.hits || (a.entity < b.entity ? -1 : 1)),
    hitsOf: async (entity: string) =>
      (await getHits(deps, t.caller, { entity })).hits.map((hit) => hit.entity).toSorted(),
  };
}

const joined = users.slice(0, 4).toSorted();

test('hits under all names of an entity are one group, and every name finds them', async () => {
  const t = await startOrg();
  expect(await t.list()).toEqual([
    { entity: 'tomas.rehn', hits: 4, open: 4, names: joined },
    { entity: 'tomas.rehn@partner.example', hits: 1, open: 1, names: ['tomas.rehn@partner.example'] },
    { entity: 'trn', hits: 1, open: 1, names: ['trn'] },
  ]);
  for (const name of [...joined, 'halden\\TOMAS.REHN', 'arn:aws:iam::111122223333:user/tomas.rehn'])
    expect(await t.hitsOf(name)).toEqual(joined);
  expect(await t.hitsOf('tomas.rehn@partner.example')).toEqual(['tomas.rehn@partner.example']);
  expect((await t.list('HALDEN\\tomas.rehn')).map(({ entity }) => entity)).toEqual(['tomas.rehn']);
  expect((await t.list('@halden')).map(({ entity }) => entity)).toEqual(['tomas.rehn']);
});

test('a person joins and separates, and a separation outlasts every rule until somebody joins again', async () => {
  const t = await startOrg();
  const { aliases } = await t.join('trn');
  expect(aliases).toContainEqual(
    expect.objectContaining({ name: 'trn', hits: 1, why: expect.stringContaining('His second account.') }),
  );
  expect(await t.hitsOf('trn')).toEqual([...joined, 'trn'].toSorted());
  const after = await t.separate('halden\\tomas.rehn');
  expect(after.aliases.map(({ name }) => name)).not.toContain('HALDEN\\Tomas.Rehn');
  expect(await t.hitsOf('HALDEN\\Tomas.Rehn')).toEqual(['HALDEN\\Tomas.Rehn']);
  expect(await t.hitsOf('tomas.rehn')).toEqual([...joined.filter((name) => !name.startsWith('HALDEN')), 'trn']);
  await t.join('HALDEN\\Tomas.Rehn');
  expect(await t.hitsOf('trn')).toEqual([...joined, 'trn'].toSorted());
  await t.separate('trn');
  expect(await t.hitsOf('trn')).toEqual(['trn']);
  const audit = await t.select`select action from audit where action like 'entity.%' order by sequence`;
  expect(audit.map((entry) => (entry as { action: string }).action)).toEqual([
    'entity.joined',
    'entity.separated',
    'entity.joined',
    'entity.separated',
  ]);
});

test('separating rejects the own name of the entity and names that it does not have', async () => {
  const t = await startOrg();
  await expect(t.separate('Tomas.Rehn')).rejects.toMatchObject({ status: 400 });
  await expect(t.separate('trn')).rejects.toMatchObject({ status: 404 });
});

test('the profile has aliases, hits and notes of every name', async () => {
  const t = await startOrg();
  await putEntityNotes(t.deps, t.caller, {
    notes: [{ entity: 'tomas.rehn@halden.example', entityType: 'user', note: 'Cloud engineer.' }],
  });
  const profile = await getEntityProfile(t.deps, t.caller, { type: 'user', name: 'HALDEN\\tomas.rehn' });
  expect(profile).toMatchObject({ key: 'user:tomas.rehn', hitsTotal: 4, notes: [{ note: 'Cloud engineer.' }] });
  expect(profile.risk.causes).toHaveLength(4);
  expect(profile.risk.score).toBeCloseTo(
    profile.risk.causes.reduce((sum, { points }) => sum + points, 0),
    0,
  );
  expect(profile.risk.score).toBeGreaterThan(0);
  expect(profile.hits.map(({ entity }) => entity).toSorted()).toEqual(joined);
  expect(profile.aliases.find(({ name }) => name === arn)!.why).toContain('own account 111122223333');
  expect((await getEntityNotes(t.deps, t.caller, { entity: 'tomas.rehn' })).notes).toHaveLength(1);
  const hit = (await getHits(t.deps, t.caller, { entity: 'tomas.rehn' })).hits[0]!;
  expect((await getHitContext(t.deps, t.caller, hit.id)).entityHits).toHaveLength(3);
});

test('lines of the value list entity-aliases join, and a person separates what they join', async () => {
  const t = await startOrg();
  await putValueList(t.deps, t.caller, 'entity-aliases', { description: '', values: ['user, tomas.rehn, trn'] });
  expect(await t.hitsOf('trn')).toHaveLength(5);
  await t.separate('trn');
  expect(await t.hitsOf('trn')).toEqual(['trn']);
  expect(await t.hitsOf('tomas.rehn')).toEqual(joined);
});

test('an organization sees no decision of another, and an erasure deletes its decisions', async () => {
  const [t, other] = [await startOrg(), await startOrg()];
  await t.join('trn');
  expect(await other.hitsOf('trn')).toEqual(['trn']);
  await inOrg(t.deps.db, t.caller.orgId, (tx) => eraseFromEntityNotes(tx, t.caller.orgId, 'TRN', t.caller));
  expect(await t.hitsOf('trn')).toEqual(['trn']);
});
