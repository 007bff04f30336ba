import { expect, test } from 'vitest';
import { executeDueRuns } from '../../workers/run-loops.ts';
import { startApp, type TestOrg } from '../../../../../test/support/harness.ts';
import { callOk, postDetection } from '../../../../../test/support/detection/detection-factory.ts';
import { startModelStandIn } from '../../../../../test/support/models/model-stand-in.ts';
import { createScriptedModels, delimitedBlocks } from '../../../../../test/support/models/scripted-models.ts';

const dayMs = 86_400_000;
const now = new Date('2026-03-31T00:00:00Z');
const day = (n: number): Date => new Date(now.getTime() - n * dayMs);

type Cite = Record<string, string>;
let citeFor: (rowId: string) => Cite = () => ({ fact: 'recurredDays' });
const stand = await startModelStandIn('anthropic', ({ turns }) => {
  const [row] = JSON.parse(delimitedBlocks(turns[0]!.text)[1]!) as { rowId: string }[];
  const claim = { text: 'It is usual here.', kind: 'fact', cites: [citeFor(row!.rowId)] };
  const input = { verdict: 'dismiss', confidence: 90, severity: 'none', headline: 'A sign-in', claims: [claim] };
  return { calls: [{ name: 'submit_verdict', input }] };
});
const { deps, newOrg } = await startApp({ clock: () => now, deps: { models: createScriptedModels({ m: stand.url }) } });

const signIn = (user: string, time: Date, more: object = {}) => ({ time, user, office: 'north', room: user, ...more });
async function newCase(detectionQuery: string, entityField = 'user'): Promise<{ org: TestOrg; id: string }> {
  const org = await newOrg();
  const more = { detectionCategory: 'custom', detectionQuery, entityField, planningMode: 'never' };
  const { id } = await postDetection(org, more);
  return { org, id };
}

async function run(org: TestOrg, id: string, from: Date): Promise<void> {
  await callOk(org, 'POST', `/api/detections/${id}/run`, { from, to: new Date(from.getTime() + dayMs) });
  await executeDueRuns(deps, now);
}

const listHits = async (org: TestOrg): Promise<{ entity: string; verdict: string }[]> =>
  (await callOk(org, 'GET', '/api/hits?limit=100')).hits;

test.each([
  ['', 'office', 'room', `SELECT _id, _time, "user", office, room FROM auth WHERE "user" = 'eve'`],
  [
    ' whatever the query calls it',
    'room',
    'office',
    `WITH a AS (SELECT _id, _time, _event, room, "user" AS actor FROM auth) SELECT _id, _time, actor, _event->>'$.office' AS room, room AS office FROM a WHERE actor = 'eve'`,
  ],
])(
  'a value of the log store that many others had for long proves a dismissal, and one of the entity alone does not%s',
  async (_, common, own, query) => {
    const { org, id } = await newCase(query, query.includes('actor') ? 'actor' : 'user');
    const others = ['a', 'b', 'c', 'd', 'e'].flatMap((user) =>
      Array.from({ length: 9 }, (_, n) => signIn(user, day(n + 10))),
    );
    await callOk(org, 'POST', '/api/logs/auth?history=true', [...others, signIn('eve', day(2)), signIn('eve', day(1))]);
    await callOk(org, 'PUT', `/api/detections/${id}`, { modelAlias: 'm' });
    citeFor = (rowId) => ({ observation: 'rows', rowId, field: common, value: 'north' });
    await run(org, id, day(2));
    expect(await listHits(org)).toEqual([]);
    // The verifier cannot see that from the cell.
    expect(stand.checked.some(({ turns }) => turns[0]!.text.includes('Many others have had this value'))).toBe(true);
    citeFor = (rowId) => ({ observation: 'rows', rowId, field: own, value: 'eve' });
    await run(org, id, day(1));
    expect(await listHits(org)).toMatchObject([{ entity: 'eve' }]);
  },
);

test.each([
  ['', 'eve'],
  [' under all names of the entity', 'eve@own.example'],
])('counts earlier findings of a detection as recurrence, but no milder ones%s', async (_, other) => {
  const { org, id } = await newCase(`SELECT _id, _time, "user", severity FROM auth`);
  await callOk(org, 'PUT', '/api/value-lists/own-domains', { values: ['own.example'] });
  const past = Array.from({ length: 8 }, (__, n) =>
    signIn(n % 2 === 0 ? 'eve' : other, day(n + 10), { severity: 'low' }),
  );
  await callOk(org, 'POST', '/api/logs/auth?history=true', [
    ...past,
    signIn('eve', day(2), { severity: 'low' }),
    signIn('eve', day(1), { severity: 'medium' }),
  ]);
  for (let n = 10; n < 18; n += 1) await run(org, id, day(n));
  await callOk(org, 'PUT', `/api/detections/${id}`, { modelAlias: 'm' });
  const before = (await listHits(org)).length;
  citeFor = () => ({ fact: 'recurredDays' });
  await run(org, id, day(2));
  expect(await listHits(org)).toHaveLength(before);
  await run(org, id, day(1));
  expect(await listHits(org)).toHaveLength(before + 1);
});
