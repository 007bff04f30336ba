import { expect, test } from 'vitest';
import { callOk, postDetection } from '../support/detection/detection-factory.ts';
import { hour, startRuns } from '../support/detection/scripted-runs.ts';
import { startApp, type TestOrg } from '../support/harness.ts';
import { getHit, getHitGroups } from '../../src/detection/hits/read-hits.ts';
import { setGroupStatus, setHitStatus } from '../../src/detection/hits/set-status.ts';
import type { HitStatus } from '../../src/detection/hits/hits.schema.ts';
import type { AppError, StaleProblem } from '../../src/platform/lib/errors.ts';

const app = await startApp();
const { deps, url, newOrg } = app;

/** Starts runs that find the same hosts in every window. */
const startHits = (hosts: number) =>
  startRuns({ db: deps.db, url }, ({ window }) =>
    Array.from({ length: hosts }, (_, n) => ({ _id: `${window.from.getTime()}-${n}`, user: `host-${n}`, action: 'x' })),
  );

/** Returns the results and the errors of concurrent attempts. */
async function race<T>(attempts: readonly Promise<T>[]) {
  const settled = await Promise.allSettled(attempts);
  return {
    won: settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    refused: settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as AppError] : [])),
  };
}

test('of several people who judge one hit at once, one wins and the others see what changed', async () => {
  const t = await startHits(3);
  await t.newDetection();
  await t.runAt(hour(1));
  const statuses: HitStatus[] = ['true_positive', 'benign', 'false_positive', 'outdated'];
  for (const { id, revision } of await t.select<{ id: string; revision: number }>`select id, revision from hits`) {
    const { won, refused } = await race(
      statuses.map((status) =>
        setHitStatus(t.deps, { ...t.caller, subject: `analyst of ${status}` }, id, {
          status,
          reason: `It is ${status}.`,
          expectedRevision: revision,
        }),
      ),
    );
    expect([won.length, refused.length]).toEqual([1, 3]);
    const { status } = await getHit(t.deps, t.caller, id);
    for (const error of refused) {
      expect(error).toMatchObject({ status: 409, code: 'conflict', errors: [{ code: 'stale_revision' }] });
      expect(error.stale).toEqual({
        current: revision + 1,
        changes: [
          {
            at: expect.any(String),
            keyId: null,
            actor: `analyst of ${status}`,
            action: 'hit.status_changed',
            subject: won[0]!.entity,
            fields: [
              { field: 'status', before: 'open', after: status },
              { field: 'reason', before: null, after: `It is ${status}.` },
            ],
          },
        ],
      });
    }
  }
  expect(await t.select`select count(*)::int as n from hit_changes`).toEqual([{ n: 3 }]);
});

test('that a hit was seen again is no conflict, a repeated request neither, and a request without a revision applies', async () => {
  const t = await startHits(1);
  await t.newDetection();
  await t.runAt(hour(1));
  const [hit] = await t.select<{ id: string; revision: number }>`select id, revision from hits`;
  await t.runAt(hour(2));
  expect((await getHit(t.deps, t.caller, hit!.id)).revision).toBeGreaterThan(hit!.revision);
  const benign = { status: 'benign', reason: 'A test.', expectedRevision: hit!.revision } as const;
  await setHitStatus(t.deps, t.caller, hit!.id, benign);
  expect((await setHitStatus(t.deps, t.caller, hit!.id, benign)).status).toBe('benign');
  await expect(setHitStatus(t.deps, t.caller, hit!.id, { ...benign, status: 'true_positive' })).rejects.toMatchObject({
    status: 409,
  });
  expect((await setHitStatus(t.deps, t.caller, hit!.id, { status: 'true_positive' })).status).toBe('true_positive');
});

test('a change of a group is refused if a colleague judged one of its hits', async () => {
  const t = await startHits(8);
  await t.newDetection();
  await t.runAt(hour(1));
  const seen = (await getHitGroups(t.deps, t.caller, {})).groups[0]!;
  await setHitStatus(t.deps, t.caller, seen.entities[3]!.hitId, { status: 'benign' });
  await setHitStatus(t.deps, t.caller, seen.entities[4]!.hitId, { status: 'true_positive' });
  const change = { status: 'false_positive', expectedRevision: seen.revision } as const;
  const { refused } = await race([setGroupStatus(t.deps, t.caller, seen.id, change)]);
  expect(refused[0]!.stale!.changes.map(({ subject }) => subject)).toEqual([
    seen.entities[4]!.entity,
    seen.entities[3]!.entity,
  ]);
  const again = { ...change, expectedRevision: refused[0]!.stale!.current as number };
  const { won } = await race([1, 2, 3].map(() => setGroupStatus(t.deps, t.caller, seen.id, again)));
  expect(won).toHaveLength(1);
  expect((await getHitGroups(t.deps, t.caller, {})).groups[0]!.statuses).toEqual({ false_positive: 8 });
});

type Attempt = { status: number; body: { stale?: StaleProblem } };
const statusesOf = (attempts: readonly Attempt[]): number[] => attempts.map(({ status }) => status).toSorted();

test('notes carry their revision, also those that do not exist yet', async () => {
  const org = await newOrg();
  const put = (note: string | null, expectedRevision?: number) =>
    org.call('PUT', '/api/entity-notes', {
      notes: [{ entity: 'FS-02', note, ...(expectedRevision !== undefined && { expectedRevision }) }],
    });
  expect(statusesOf(await Promise.all(['a', 'b', 'c', 'd'].map((note) => put(note, 0))))).toEqual([200, 409, 409, 409]);
  const [stored] = (await callOk(org, 'GET', '/api/entity-notes')).notes;
  const attempts = await Promise.all(['e', 'f', null].map((note) => put(note, stored.revision)));
  expect(statusesOf(attempts)).toEqual([200, 409, 409]);
  const refused = attempts.find(({ status }) => status === 409)!.body;
  expect(refused.errors).toMatchObject([{ pointer: '/notes/0/expectedRevision', code: 'stale_revision' }]);
  expect(refused.stale.changes).toMatchObject([{ subject: 'FS-02', fields: [{ field: 'note' }] }]);
  expect((await put('last', refused.stale.current)).status).toBe(200);
  expect((await put('without a revision')).status).toBe(200);
});

test('value lists carry their version as a revision or as If-Match', async () => {
  const org = await newOrg();
  const path = '/api/value-lists/scanners';
  const put = (value: string, more: object = {}, headers = {}) =>
    org.call('PUT', path, { values: [value], ...more }, headers);
  expect(statusesOf(await Promise.all(['a', 'b', 'c'].map((value) => put(value, { expectedRevision: 0 }))))).toEqual([
    200, 409, 409,
  ]);
  const seen = await callOk(org, 'GET', path);
  const attempts = await Promise.all(['d', 'e', 'f'].map((value) => put(value, { expectedRevision: seen.revision })));
  expect(statusesOf(attempts)).toEqual([200, 409, 409]);
  await put('g', { description: 'Ours' });
  const stale = await put('h', {}, { 'if-match': `"${seen.updatedAt}"` });
  expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
  expect(stale.body.stale.changes).toHaveLength(2);
  expect(stale.body.stale.changes[0]).toMatchObject({
    action: 'value_list.changed',
    fields: [{ field: 'description', before: '', after: 'Ours' }],
  });
  const old = { 'if-match': `"${seen.updatedAt}"` };
  expect((await org.call('DELETE', path, undefined, old)).status).toBe(412);
  expect((await put('h', {}, { 'if-match': stale.body.stale.current })).status).toBe(200);
});

type Edited = { path: string; record: { updatedAt: string }; change: (name: string) => object; field: string };

async function createEdited(org: TestOrg): Promise<Edited[]> {
  const create = async (
    path: string,
    body: object,
  ): Promise<{ path: string; record: { id: string; updatedAt: string } }> => {
    const record = await callOk(org, 'POST', path, body);
    return { path: `${path}/${record.id}`, record };
  };
  const byName = { change: (name: string) => ({ name }), field: 'name' };
  const detection = await postDetection(org);
  const view = { name: 'Mine', page: 'hits', query: 'status=open' };
  const agent = (await callOk(org, 'GET', '/api/agents')).agents.find(
    ({ agentType }: { agentType: string }) => agentType !== 'detection',
  );
  const webhook = { kind: 'webhook', name: 'Chat', url: 'https://hooks.example/x', eventTypes: ['hit.created'] };
  const splunk = {
    kind: 'splunk',
    name: 'Main',
    settings: { url: 'https://splunk.example:8089' },
    credentials: { token: 'x' },
  };
  await callOk(org, 'PUT', '/api/feed/profile', { keywords: ['first'] });
  return [
    { path: `/api/detections/${detection.id}`, record: detection, ...byName },
    {
      path: `/api/agents/${agent.id}`,
      record: agent,
      change: ({ length }) => ({ customCronSchedule: `${length} 3 * * *` }),
      field: 'customCronSchedule',
    },
    { ...(await create('/api/destinations', webhook)), ...byName },
    { ...(await create('/api/connections', splunk)), ...byName },
    {
      ...(await create('/api/mcp-servers', { name: 'intel', url: 'https://mcp.example/mcp' })),
      change: (name) => ({ name: name.toLowerCase() }),
      field: 'name',
    },
    {
      ...(await create('/api/feed/sources', {
        kind: 'rss',
        name: 'Blog',
        url: 'https://blog.example/feed',
        enabled: false,
      })),
      ...byName,
    },
    {
      path: '/api/feed/profile',
      record: await callOk(org, 'GET', '/api/feed/profile'),
      change: (word) => ({ keywords: [word] }),
      field: 'keywords',
    },
    { ...(await create('/api/views', view)), change: (name) => ({ ...view, name }), field: '' },
  ];
}

test('every record with a form refuses a change of an older version and says who changed what', async () => {
  const org = await newOrg();
  for (const { path, record, change, field } of await createEdited(org)) {
    const ifMatch = { 'if-match': `"${record.updatedAt}"` };
    const attempts = await Promise.all(
      ['One', 'Two', 'Three'].map((name) => org.call('PUT', path, change(name), ifMatch)),
    );
    expect([path, ...statusesOf(attempts)]).toEqual([path, 200, 412, 412]);
    const winner = attempts.find(({ status }) => status === 200)!;
    expect(winner.headers['etag']).toBeTruthy();
    const stale = attempts.find(({ status }) => status === 412)!.body.stale;
    if (field !== '') {
      const [changed] = stale.changes;
      expect(changed.fields.map((one: { field: string }) => one.field)).toContain(field);
      expect(changed.keyId).toEqual(expect.any(String));
      // The ETag that the answer names applies, and only once.
      const again = { 'if-match': stale.current };
      expect((await org.call('PUT', path, change('Four'), again)).status).toBe(200);
      expect((await org.call('PUT', path, change('Five'), again)).status).toBe(412);
    }
    expect((await org.call('PUT', path, change('Six'))).status).toBe(200);
  }
});
