import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startHits } from '../../../test/support/detection/raised-hits.ts';
import { startApp } from '../../../test/support/harness.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { listMentions } from './discuss-incident.ts';

const { app, deps, newOrg, newKey } = await startApp();

/** An organization with two incidents of a person each, and a hit without company. */
async function start() {
  const org = await newOrg();
  const hits = await startHits(deps.db, org.id);
  const ids = await hits.raise([
    ...['ada', 'bob'].flatMap((entity) => [
      { name: `${entity} signs in`, at: 0, entity, severity: 'high' as const },
      { name: `${entity} exports`, at: 2, entity },
    ]),
    { name: 'sleeps', at: 2, entity: 'zoe' },
  ]);
  await hits.place();
  const { incidents } = await callOk(org, 'GET', '/api/incidents');
  const [ada, bob] = ['ada', 'bob'].map((name) =>
    incidents.find(({ title }: { title: string }) => title.startsWith(name)),
  );
  return { org, hits: ids, ada, bob };
}

type Body = { status: number; [field: string]: unknown };

/** Invites a person, who signs in. Returns the ID and a function that calls the API with the session. */
async function invite(org: Parameters<typeof callOk>[0], name: string, role = 'analyst') {
  const { id, link } = await callOk(org, 'POST', '/api/persons', { name, role });
  const opened = await app.inject({ method: 'POST', url: '/api/session/link', payload: { token: link.split('#')[1] } });
  const headers = { cookie: String(opened.headers['set-cookie']).split(';')[0]!, 'x-tocsin-console': '1' };
  const call = async (method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object): Promise<Body> => {
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) });
    return { status: response.statusCode, ...response.json() };
  };
  return { id, call, inbox: () => call('GET', '/api/incident-inbox') };
}

test('a comment makes people watch whom it mentions, until they stop, and opening the incident reads the mention', async () => {
  const { org, ada: incident, hits } = await start();
  const ada = await invite(org, 'Ada@example.com');
  const bob = await invite(org, 'Bob Lee', 'viewer');
  const gone = await invite(org, 'gone');
  await callOk(org, 'PATCH', `/api/persons/${gone.id}`, { disabled: true });
  const path = `/api/incidents/${incident.id}`;
  await callOk(org, 'GET', '/api/events');
  const comment = { body: '@ada, is this `@gone` of @"bob lee"? @gone @nobody' };
  expect(await ada.call('POST', `${path}/comments`, comment)).toMatchObject({ status: 200, personId: ada.id });
  expect((await callOk(org, 'GET', path)).watchers).toEqual([
    { personId: ada.id, name: 'Ada@example.com' },
    { personId: bob.id, name: 'Bob Lee' },
  ]);
  // The event says who is mentioned besides the author, and leaves the text where it can be erased.
  const { events } = await callOk(org, 'GET', '/api/events?types=incident.mentioned');
  expect(events).toMatchObject([{ data: { id: incident.id, author: 'Ada@example.com', mentioned: ['Bob Lee'] } }]);
  expect(JSON.stringify(events)).not.toContain('is this');
  // A person who mentions themselves has read the comment.
  expect(await ada.inbox()).toMatchObject({ mine: 0, mentioned: 0, watching: 1, unowned: 2 });
  expect(await bob.inbox()).toMatchObject({ mentioned: 1, watching: 1 });
  // What happened to an incident that became part of another one stays.
  const { id } = await callOk(org, 'POST', '/api/incidents', { hitIds: [hits.at(-1)] });
  await callOk(org, 'POST', `/api/incidents/${id}/merge`, { incidentIds: [incident.id] });
  const list = async (query: string) => (await bob.call('GET', `/api/incidents?${query}`))['incidents'];
  expect(await list('inbox=mentioned')).toMatchObject([{ id }]);
  expect(await list(`watcher=${ada.id}`)).toMatchObject([{ id }]);
  expect(await bob.call('POST', `/api/incidents/${id}/read`)).toMatchObject({ status: 200, mentioned: 0, watching: 1 });
  expect(await bob.call('POST', `${path}/watch`, { watching: false })).toMatchObject({
    watchers: [{ personId: ada.id }],
  });
  expect(await list('inbox=watching')).toEqual([]);
  // A viewer decides only what the viewer watches.
  expect((await bob.call('POST', `${path}/watch`, { watching: false, personId: ada.id }))['status']).toBe(403);
  expect((await org.call('POST', `${path}/watch`, { watching: true })).status).toBe(400);
  const stranger = await invite(await newOrg(), 'stranger');
  expect((await org.call('POST', `${path}/watch`, { watching: true, personId: stranger.id })).status).toBe(400);
  expect((await stranger.call('POST', `${path}/read`))['status']).toBe(404);
});

test('changes several incidents, each for itself, and undoes that with what they were', async () => {
  const { org, ada: first, bob: second, hits } = await start();
  const ada = await invite(org, 'ada@example.com');
  const bulk = async (incidents: object[]) =>
    (await ada.call('POST', '/api/incidents/bulk', { incidents }))['results'] as { incident: { revision: number } }[];
  await callOk(org, 'PATCH', `/api/incidents/${second.id}`, { severity: 'critical' });
  const unknown = { id: '00000000-0000-7000-8000-000000000009' };
  const close = { state: 'closed', resolution: 'benign', owner: 'ada@example.com', watching: true };
  const results = await bulk([
    { id: first.id, expectedRevision: first.revision, ...close },
    { id: second.id, expectedRevision: second.revision, ...close },
    { ...unknown, owner: 'x' },
    { id: second.id, state: 'closed' },
  ]);
  expect(results).toMatchObject([
    { outcome: 'changed', incident: { state: 'closed', resolution: 'benign', ownerId: ada.id }, code: null },
    { outcome: 'failed', incident: null, code: 'stale_revision', stale: { current: second.revision + 1 } },
    { outcome: 'failed', code: 'not_found' },
    { outcome: 'failed', code: 'required', detail: expect.stringContaining('resolution is required') },
  ]);
  const { status, history } = await callOk(org, 'GET', `/api/hits/${hits[0]}`);
  expect([status, history[0]]).toMatchObject(['benign', { actor: 'ada@example.com', personId: ada.id, to: 'benign' }]);
  expect(await callOk(org, 'GET', `/api/incidents/${second.id}`)).toMatchObject({ state: 'open', watchers: [] });
  const undo = { id: first.id, state: 'open', owner: null, watching: false };
  expect(await bulk([{ ...undo, expectedRevision: results[0]!.incident.revision }])).toMatchObject([
    { outcome: 'changed', incident: { state: 'open', resolution: null, owner: null, openHits: 2 } },
  ]);
  // Watching alone is no change of the incident.
  const { revision } = await callOk(org, 'GET', `/api/incidents/${first.id}`);
  expect(await bulk([{ id: first.id, watching: true }])).toMatchObject([{ incident: { revision } }]);
  expect(await ada.inbox()).toMatchObject({ mine: 0, watching: 1, unowned: 2, late: 2 });
  await bulk([{ id: first.id, owner: 'ada@example.com' }]);
  expect(await ada.inbox()).toMatchObject({ mine: 1, unowned: 1 });
  expect((await ada.call('GET', '/api/incidents?inbox=mine'))['incidents']).toMatchObject([{ id: first.id }]);
  // Somebody who gets another name at the identity provider stays the same person, also in what happened before.
  await ada.call('PATCH', `/api/incidents/${first.id}`, { severity: 'low' });
  await selectIn(deps.db, org.id)`update persons set name = 'ada@new.example' where id = ${ada.id} returning id`;
  const renamed = await callOk(org, 'GET', `/api/incidents/${first.id}`);
  expect(renamed).toMatchObject({ owner: 'ada@new.example', ownerId: ada.id });
  const judged = await callOk(org, 'GET', `/api/hits/${hits[0]}`);
  expect(judged.history.map(({ actor }: { actor: string }) => actor)).toEqual(['ada@new.example', 'ada@new.example']);
  const { entries } = await callOk(org, 'GET', `/api/incidents/${first.id}/timeline`);
  const changes = entries.filter(({ kind }: { kind: string }) => kind === 'change');
  expect(changes.slice(0, 2)).toMatchObject([
    { actor: 'ada@new.example', fields: [{ field: 'severity' }] },
    { actor: 'ada@new.example', fields: [{ field: 'owner', before: null, after: 'ada@new.example' }] },
  ]);
  const claimed = await callOk(org, 'PATCH', `/api/incidents/${first.id}`, { owner: 'ada@new.example' });
  const again = await callOk(org, 'GET', `/api/incidents/${first.id}/timeline`);
  expect([claimed.owner, again.entries[0].fields]).toEqual(['ada@new.example', []]);
  // A key has no inbox of its own.
  expect(await callOk(org, 'GET', '/api/incident-inbox')).toMatchObject({ mine: 0, watching: 0, unowned: 1 });
  expect(await callOk(org, 'POST', '/api/incidents/bulk', { incidents: [undo] })).toMatchObject({
    results: [{ code: 'not_allowed', detail: expect.stringContaining('/watching') }],
  });
  const reader = await newKey(org, ['hits:read']);
  expect((await reader.call('POST', '/api/incidents/bulk', { incidents: [undo] })).status).toBe(403);
});

test('the comments on a hit and its history are of persons', async () => {
  const { org, hits } = await start();
  const ada = await invite(org, 'ada@example.com');
  const path = `/api/hits/${hits[0]}`;
  await ada.call('POST', `${path}/comments`, { body: 'On leave.' });
  await callOk(org, 'POST', `${path}/comments`, { body: 'Thanks.' });
  const author = { actor: 'ada@example.com', personId: ada.id, keyId: null };
  expect((await callOk(org, 'GET', `${path}/comments`)).comments).toMatchObject([{ personId: null }, author]);
  expect(await ada.call('POST', `${path}/status`, { status: 'benign' })).toMatchObject({ history: [author] });
});

test.each([
  ['@ada please look', ['ada']],
  ['Ask @Ada@example.com, and @bob.', ['ada@example.com', 'bob']],
  ['(@ada) **@bob-lee** @ada', ['ada', 'bob-lee']],
  ['@"Ada Lovelace" and @jörg', ['ada lovelace', 'jörg']],
  ['mail to ada@example.com, see https://example.com/@ada', []],
  ['`@ada` and\n```\n@bob\n```\n@zoe', ['zoe']],
  ['```\n@ada', []],
  ['~~~\n@ada\n~~~\n@bob', ['bob']],
  ['@ @@ada', []],
])('finds the mentions in %j', (body, names) => {
  expect(listMentions(body)).toEqual(names);
});
