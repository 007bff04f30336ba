import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { hour } from '../../../test/support/detection/scripted-runs.ts';
import { startHits, type RaisedHit } from '../../../test/support/detection/raised-hits.ts';
import { startApp } from '../../../test/support/harness.ts';

const app = await startApp();

/** Starts an organization with the API whose hits the test raises. */
async function start() {
  const org = await app.newOrg();
  const hits = await startHits(app.deps.db, org.id);
  const raise = async (list: readonly RaisedHit[]): Promise<string[]> => {
    const ids = await hits.raise(list);
    await hits.place();
    return ids;
  };
  return { org, raise, place: hits.place, select: hits.select };
}
const hit = (name: string, at: number, entity: string, more: Partial<RaisedHit> = {}): RaisedHit => ({
  name,
  at,
  entity,
  ...more,
});
const intrusion = [
  hit('a', 0, 'ada', { techniques: ['T1078'], fields: { src_ip: '198.51.100.7' } }),
  hit('b', 2, 'ada', { techniques: ['T1098'], severity: 'high' }),
  hit('c', 3, 'bob', { techniques: ['T1567'], fields: { src_ip: '198.51.100.7' } }),
];

test('weak hits become an incident by the risk of their entity, to which dismissed and closed ones do not count', async () => {
  const { org, raise, select } = await start();
  // Each adds eight points.
  const weak = (at: number, from: number, to: number): RaisedHit[] =>
    Array.from({ length: to - from }, (_, n) => hit(`w${from + n}`, at, 'ada', { severity: 'low' }));
  const list = async () => (await callOk(org, 'GET', '/api/incidents')).incidents;
  const [first] = await raise([...weak(10, 0, 13), hit('other', 10, 'bob', { severity: 'low' })]);
  await select`update hits set status = 'benign' where id = ${first!}`;
  await raise([]);
  expect(await list()).toEqual([]);
  await raise(weak(10, 13, 14));
  const [incident, ...others] = await list();
  expect(others).toEqual([]);
  expect(incident).toMatchObject({ severity: 'low', hits: 14 });
  const { risks } = await callOk(org, 'GET', `/api/incidents/${incident.id}`);
  expect(risks).toEqual([{ type: 'user', value: 'ada', score: 104, at: hour(10), hits: 13 }]);
  await callOk(org, 'PATCH', `/api/incidents/${incident.id}`, { state: 'closed', resolution: 'true_positive' });
  await raise(weak(300, 20, 32));
  expect(await list()).toHaveLength(1);
  await raise(weak(300, 32, 33));
  expect(await list()).toHaveLength(2);
});

test('returns an incident with stages in order of time, entities, and reasons with their cells', async () => {
  const { org, raise } = await start();
  const [a, b, c] = await raise(intrusion);
  const { incidents, nextCursor } = await callOk(org, 'GET', '/api/incidents');
  expect([incidents.length, nextCursor]).toEqual([1, null]);
  expect(incidents[0]).toMatchObject({
    severity: 'high',
    state: 'open',
    hits: 3,
    openHits: 3,
    owner: null,
    touched: false,
  });
  const incident = await callOk(org, 'GET', `/api/incidents/${incidents[0].id}`);
  expect(incident.stages.map(({ tactic }: { tactic: string }) => tactic)).toEqual([
    'initial-access',
    'persistence',
    'exfiltration',
  ]);
  expect(incident.reasons).toEqual([
    {
      kind: 'entity',
      type: 'ip',
      value: '198.51.100.7',
      hits: 2,
      hitIds: [a, c],
      cells: [a, c].map((hitId) => ({ hitId, rowId: 'r1', field: 'src_ip' })),
    },
    {
      kind: 'entity',
      type: 'user',
      value: 'ada',
      hits: 2,
      hitIds: [a, b],
      cells: [a, b].flatMap((hitId) => [
        { hitId, rowId: null, field: null },
        { hitId, rowId: 'r1', field: 'user' },
      ]),
    },
  ]);
  const page = await callOk(org, 'GET', `/api/hits?incident=${incident.id}`);
  expect(page.hits.map(({ incidentId }: { incidentId: string }) => incidentId)).toEqual(
    [1, 2, 3].map(() => incident.id),
  );
});

test('filters and pages incidents in every order', async () => {
  const { org, raise } = await start();
  await raise(
    ['ada', 'bob', 'cyd'].flatMap((user, n) => [
      hit(`${user}-1`, n * 10, user, { severity: n === 1 ? 'critical' : 'low' }),
      hit(`${user}-2`, n * 10 + 1, user),
    ]),
  );
  const list = async (query: string): Promise<string[]> => {
    const titles: string[] = [];
    for (let cursor = ''; ;) {
      const page = await callOk(org, 'GET', `/api/incidents?limit=1&${query}${cursor}`);
      titles.push(...page.incidents.map(({ title }: { title: string }) => title.split(':')[0]!));
      if (page.nextCursor === null) return titles;
      cursor = `&cursor=${page.nextCursor}`;
    }
  };
  expect(await list('')).toEqual(['cyd', 'bob', 'ada']);
  expect((await list('sort=severity'))[0]).toBe('bob');
  expect((await list('sort=due')).toSorted()).toEqual(['ada', 'bob', 'cyd']);
  expect(await list('severity=critical')).toEqual(['bob']);
  expect(await list('entity=BOB')).toEqual(['bob']);
  expect(await list('q=cy')).toEqual(['cyd']);
  expect(await list('state=closed')).toEqual([]);
  expect((await list('owner=')).length).toBe(3);
  expect((await org.call('GET', '/api/incidents?cursor=x')).status).toBe(400);
});

test('closing judges the open hits, and opening again takes it back', async () => {
  const { org, raise } = await start();
  const [a] = await raise(intrusion);
  await callOk(org, 'POST', `/api/hits/${a}/status`, { status: 'benign' });
  const { id } = (await callOk(org, 'GET', '/api/incidents')).incidents[0];
  const statuses = async () =>
    (await callOk(org, 'GET', `/api/hits?incident=${id}`)).hits
      .map(({ status }: { status: string }) => status)
      .toSorted();
  const patch = (body: object) => org.call('PATCH', `/api/incidents/${id}`, body);
  expect((await patch({ state: 'closed' })).body.errors).toMatchObject([{ pointer: '/resolution', code: 'required' }]);
  const closed = await patch({ state: 'closed', resolution: 'true_positive', reason: 'It was an attack.' });
  expect(closed.body).toMatchObject({ state: 'closed', resolution: 'true_positive', openHits: 0, touched: true });
  expect(await statuses()).toEqual(['benign', 'true_positive', 'true_positive']);
  expect((await patch({ resolution: 'false_positive' })).body.resolution).toBe('false_positive');
  expect(await statuses()).toEqual(['benign', 'false_positive', 'false_positive']);
  const opened = await patch({ state: 'open' });
  expect(opened.body).toMatchObject({ state: 'open', resolution: null });
  expect(await statuses()).toEqual(['benign', 'open', 'open']);
});

test('refuses a change of an older revision with what changed', async () => {
  const { org, raise } = await start();
  await raise(intrusion);
  const { id, revision } = (await callOk(org, 'GET', '/api/incidents')).incidents[0];
  const path = `/api/incidents/${id}`;
  const { headers } = await org.call('GET', path);
  expect((await org.call('PATCH', path, { owner: 'ada', expectedRevision: revision })).status).toBe(200);
  const late = await org.call('PATCH', path, { owner: 'bob', expectedRevision: revision });
  expect(late).toMatchObject({
    status: 409,
    body: {
      errors: [{ pointer: '/expectedRevision', code: 'stale_revision' }],
      stale: { current: revision + 1, changes: [{ fields: [{ field: 'owner', before: null, after: 'ada' }] }] },
    },
  });
  const refused = await org.call('PATCH', path, { owner: 'bob' }, { 'if-match': String(headers['etag']) });
  expect([refused.status, refused.body.stale.changes.length]).toEqual([412, 1]);
  const again = await org.call('PATCH', path, { owner: 'bob' }, { 'if-match': refused.body.stale.current });
  expect([again.status, again.body.owner]).toEqual([200, 'bob']);
});

test('what people touched gets links, and joins and reopens only for a hit of higher severity', async () => {
  const { org, raise, select } = await start();
  await raise([hit('a', 0, 'ada'), hit('b', 1, 'ada')]);
  const { id } = (await callOk(org, 'GET', '/api/incidents')).incidents[0];
  await callOk(org, 'PATCH', `/api/incidents/${id}`, { state: 'closed', resolution: 'benign' });
  const [c] = await raise([hit('c', 2, 'ada')]);
  const closed = await callOk(org, 'GET', `/api/incidents/${id}`);
  expect(closed).toMatchObject({
    hits: 2,
    state: 'closed',
    links: [{ hitId: c, incidentId: null, type: 'user', value: 'ada' }],
  });
  await raise([hit('d', 3, 'ada')]);
  const { incidents } = await callOk(org, 'GET', '/api/incidents?state=open');
  expect(incidents).toMatchObject([{ hits: 2 }]);
  expect((await callOk(org, 'GET', `/api/incidents/${incidents[0].id}`)).links).toHaveLength(2);
  await raise([hit('e', 4, 'ada', { severity: 'critical' })]);
  expect(await callOk(org, 'GET', `/api/incidents/${id}`)).toMatchObject({
    hits: 5,
    state: 'open',
    severity: 'critical',
    links: [],
  });
  expect(await callOk(org, 'GET', `/api/incidents/${incidents[0].id}`)).toMatchObject({ id, hits: 5 });
  expect(await select`select action from incident_changes where action = 'incident.reopened'`).toHaveLength(1);
});

test('splits, moves and merges, which later hits do not undo', async () => {
  const { org, raise, place, select } = await start();
  const [a, b, c] = await raise(intrusion);
  const { id } = (await callOk(org, 'GET', '/api/incidents')).incidents[0];
  const path = `/api/incidents/${id}`;
  const split = await callOk(org, 'POST', `${path}/split`, { hitIds: [c] });
  expect(split).toMatchObject({ hits: 1, touched: true });
  await select`update hits set last_seen_at = last_seen_at + interval '1 hour'`;
  await place();
  expect(await callOk(org, 'GET', path)).toMatchObject({ hits: 2 });
  expect((await org.call('POST', `${path}/split`, { hitIds: [c] })).body.errors[0]).toMatchObject({
    code: 'not_in_incident',
  });
  await callOk(org, 'POST', `${path}/merge`, { incidentIds: [split.id] });
  expect(await callOk(org, 'GET', `/api/incidents/${split.id}`)).toMatchObject({ id, hits: 3 });
  expect(await callOk(org, 'POST', `${path}/hits`, { remove: [a, b] })).toMatchObject({ hits: 1 });
  await raise([hit('d', 4, 'ada')]);
  expect((await callOk(org, 'GET', `/api/hits/${a}`)).incidentId).toBe(null);
  expect(await callOk(org, 'POST', `${path}/hits`, { add: [a] })).toMatchObject({ hits: 2 });
  const unknown = '00000000-0000-7000-8000-000000000009';
  expect((await org.call('POST', '/api/incidents', { hitIds: [unknown] })).body.errors[0]).toMatchObject({
    code: 'not_found',
  });
});

test('comments and changes are on the time line with their authors', async () => {
  const { org, raise } = await start();
  await raise(intrusion);
  const { id } = (await callOk(org, 'GET', '/api/incidents')).incidents[0];
  const path = `/api/incidents/${id}`;
  await callOk(org, 'POST', `${path}/comments`, { body: '**Ada** is on leave.' });
  await callOk(org, 'PATCH', path, { owner: 'bob', state: 'in_progress' });
  expect((await callOk(org, 'GET', `${path}/comments`)).comments).toMatchObject([
    { body: '**Ada** is on leave.', incidentId: id },
  ]);
  const first = await callOk(org, 'GET', `${path}/timeline?limit=2`);
  const rest = await callOk(org, 'GET', `${path}/timeline?cursor=${first.nextCursor}`);
  const entries = [...first.entries, ...rest.entries];
  const kinds = entries.map(({ kind }: { kind: string }) => kind);
  expect(kinds.slice(0, 2)).toEqual(['change', 'comment']);
  expect(kinds.slice(2).toSorted()).toEqual(['change', 'hit', 'hit', 'hit']);
  expect(entries[0].fields).toEqual([
    { field: 'state', before: 'open', after: 'in_progress' },
    { field: 'owner', before: null, after: 'bob' },
  ]);
  expect(entries[0].keyId).toEqual(expect.any(String));
});

test('announces incidents to listening clients', async () => {
  const { org, raise } = await start();
  await callOk(org, 'GET', '/api/events');
  await raise(intrusion);
  const { events } = await callOk(org, 'GET', '/api/events');
  expect(events.filter(({ type }: { type: string }) => type.startsWith('incident.'))).toMatchObject([
    { type: 'incident.created', data: { hits: 3, severity: 'high' } },
  ]);
});
