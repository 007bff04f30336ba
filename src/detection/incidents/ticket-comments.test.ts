import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startHits } from '../../../test/support/detection/raised-hits.ts';
import { startDestinationTests } from '../../../test/support/platform/destination-tests.ts';
import { checked, exampleOf, expectDocument } from '../../../test/support/platform/published-schemas.ts';
import type { TestOrg } from '../../../test/support/harness.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { deliverDue } from '../../platform/notifications/deliver.ts';
import { followDue } from '../../platform/notifications/follow-tickets.ts';
import { addTicketComment } from './discuss-incident.ts';

const { deps, newOrg, newDestination, receiver } = await startDestinationTests();

/** Reads the tickets of all destinations, whose turn it is. */
async function follow(): Promise<void> {
  await acrossOrgs(deps.db, (tx) => sql`update destinations set tickets_due_at = clock_timestamp()`.execute(tx));
  while ((await followDue({ ...deps, addTicketComment })) > 0);
}

/** An organization with an incident and its ticket at a destination. */
async function start(kind: string, url: string, fields: object) {
  const org = await newOrg();
  const hits = await startHits(deps.db, org.id);
  await hits.raise([
    { name: 'signs in', at: 0, entity: 'ada', severity: 'high' },
    { name: 'exports', at: 2, entity: 'ada' },
  ]);
  await hits.place();
  const destination = await newDestination(org, {
    kind,
    url,
    eventTypes: ['incident.created', 'incident.updated'],
    ...fields,
  });
  const [incident] = (await callOk(org, 'GET', '/api/incidents')).incidents;
  const path = `/api/incidents/${incident.id}`;
  const setTicket = (reference: string) =>
    acrossOrgs(deps.db, (tx) =>
      sql`insert into tickets (organization_id, destination_id, resource_id, reference, state, revision, updated_at)
        values (${org.id}, ${destination.id}, ${incident.id}, ${reference}, 'open', 1, clock_timestamp())`.execute(tx),
    );
  return {
    org,
    path,
    destination: `/api/destinations/${destination.id}`,
    setTicket,
    comments: () => listComments(org, path),
  };
}

async function listComments(org: TestOrg, path: string): Promise<string[]> {
  const { comments } = await callOk(org, 'GET', `${path}/comments`);
  return comments.map(({ actor, body }: { actor: string; body: string }) => `${actor}: ${body}`).toReversed();
}

const reply = (body: object, status = 200) => ({ status, body: JSON.stringify(body) });
const inMinutes = (minutes: number): string =>
  new Date(Date.now() + minutes * 60_000).toISOString().replace(/\.\d+/, '');

test('adds what people do with an issue of GitHub to its incident, each comment once, and nothing that the service did itself', async () => {
  const { org, path, destination, setTicket, comments } = await start(
    'github',
    `${new URL(receiver.url).origin}/repos/acme/incidents`,
    { credentials: { token: 'ghp_1' } },
  );
  await setTicket('7');
  await callOk(org, 'POST', '/api/persons', { name: 'ada@example.com', role: 'analyst' });
  const issues = '/repos/{owner}/{repo}/issues';
  const issue = { ...exampleOf('github', `POST ${issues}`), number: 7, state_reason: null, updated_at: inMinutes(0) };
  const [comment] = exampleOf('github', `GET ${issues}/{issue_number}/comments`);
  const remote: object[] = [
    { ...comment, id: 3_000_000_001, body: '@ada <b>Contained</b>\0 ![x](https://evil.example)' },
  ];
  const standIn = checked('github', ({ method, path: address }) => {
    const url = new URL(address, 'http://localhost');
    expect(url.pathname).toMatch(/^\/repos\/acme\/incidents\/issues/);
    if (method === 'PATCH') return reply(issue);
    expect(url.searchParams.get('since')).toMatch(/T\d\d:\d\d:\d\dZ$/);
    const page = Number(url.searchParams.get('page'));
    if (url.pathname.endsWith('/7/comments')) return reply(page === 1 ? remote : []);
    // Pull requests and issues of other people are listed as well, and fill a page.
    const others = Array.from({ length: 50 }, (_, n) => ({ ...issue, number: 100 + n, state: 'closed' }));
    return reply(page === 1 ? others : [issue]);
  });
  receiver.reply(standIn);

  await follow();
  await follow();
  expect(await comments()).toEqual(['octocat (GitHub issues): @ada <b>Contained</b> ![x](https://evil.example)']);
  expect((await callOk(org, 'GET', path)).watchers).toEqual([]);
  const { entries } = await callOk(org, 'GET', '/api/audit?action=incident.commented');
  expect(entries[0]).toMatchObject({ keyId: null, after: { ticket: '7', commentId: 3_000_000_001 } });

  // The comment here updated the ticket there, which is no news. An account may be deleted, and an edited comment is an old one.
  expect(await deliverDue(deps)).toBe(1);
  remote.push({ ...comment, id: 3_000_000_002, user: null, body: 'Second' });
  Object.assign(remote[0]!, { body: 'Edited' });
  Object.assign(issue, { state: 'closed', state_reason: 'not_planned', updated_at: inMinutes(1) });
  await follow();
  expect((await comments()).slice(1)).toEqual([
    'ghost (GitHub issues): Second',
    'GitHub issues: Ticket 7 was closed (not planned).',
  ]);
  expect(await callOk(org, 'GET', path)).toMatchObject({ state: 'open' });
  await deliverDue(deps);
  Object.assign(issue, { state: 'open', state_reason: 'reopened', updated_at: inMinutes(2) });
  await follow();
  expect((await comments()).slice(3)).toEqual(['GitHub issues: Ticket 7 was reopened (reopened).']);
  await deliverDue(deps);

  // What this service is about to do or has done comes back as a change of the ticket.
  await callOk(org, 'PATCH', path, { state: 'closed', resolution: 'true_positive' });
  Object.assign(issue, { state: 'closed', state_reason: 'completed', updated_at: inMinutes(3) });
  await follow();
  await deliverDue(deps);
  await follow();
  await callOk(org, 'PATCH', path, { state: 'open' });
  await deliverDue(deps);
  Object.assign(issue, { state: 'open', state_reason: 'reopened', updated_at: inMinutes(4) });
  await follow();
  expect(await comments()).toHaveLength(4);

  // A refusal waits as long as the other system wants.
  receiver.reply(() => ({ ...reply({ message: 'rate limit' }, 429), headers: { 'retry-after': '900' } }));
  await follow();
  expect((await callOk(org, 'GET', destination)).ticketsError).toContain('status 429');
  const select = sql<{
    s: number;
  }>`select extract(epoch from tickets_due_at - clock_timestamp())::int as s from destinations`;
  expect((await acrossOrgs(deps.db, (tx) => select.execute(tx))).rows[0]!.s).toBeGreaterThan(890);
  receiver.reply(standIn);
  await follow();
  expect((await callOk(org, 'GET', destination)).ticketsError).toBeNull();
  const requests = receiver.received.length;
  await callOk(org, 'PUT', destination, { settings: { ticketComments: 'ignore' } });
  await follow();
  expect(receiver.received).toHaveLength(requests);
});

test('reads the documents of comments in Jira, except those for some people only', async () => {
  const { setTicket, comments } = await start('jira', new URL(receiver.url).origin, {
    settings: { project: 'SEC' },
    credentials: { user: 'soc@example.com', apiToken: 'token' },
  });
  await setTicket('SEC-1');
  const text = (value: string) => ({ type: 'text', text: value });
  const paragraph = (...content: object[]) => ({ type: 'paragraph', content });
  const body = {
    type: 'doc',
    version: 1,
    content: [
      paragraph(
        { type: 'mention', attrs: { id: '1', text: '@Ada' } },
        text(' isolated'),
        { type: 'hardBreak' },
        text('it'),
      ),
      { type: 'bulletList', content: [{ type: 'listItem', content: [paragraph(text('host-1'))] }] },
    ],
  };
  expectDocument('documents', body);
  const author = { displayName: 'Bob\nLee' };
  const pages = [
    Array.from({ length: 50 }, (_, n) => ({
      id: String(10_200 - n),
      author,
      body: { ...body, content: [paragraph(text(`${n}`))] },
      visibility: { type: 'role', value: 'Administrators' },
    })),
    [{ id: '10001', author, body }],
  ];
  const standIn = checked('jira', ({ path, body: sent }) => {
    if (path === '/rest/api/3/search/jql') {
      const { jql, nextPageToken } = JSON.parse(sent);
      expect(jql).toMatch(/^project = "SEC" AND labels = "tocsin" AND updated >= "-\d+m" ORDER BY updated ASC$/);
      if (nextPageToken === undefined) return reply({ issues: [], isLast: false, nextPageToken: 'x' });
      const status = { name: 'Erledigt', statusCategory: { key: 'done' } };
      const updated = inMinutes(0).replace('Z', '.000+0000');
      return reply({ issues: [{ id: '1', key: 'SEC-1', fields: { status, updated } }], isLast: true });
    }
    const [, startAt] = /^\/rest\/api\/3\/issue\/SEC-1\/comment\?orderBy=-created&maxResults=50&startAt=(\d+)$/.exec(
      path,
    )!;
    return reply({ comments: pages[Number(startAt) / 50] ?? [], startAt: Number(startAt), maxResults: 50, total: 51 });
  });
  receiver.reply(standIn);
  await follow();
  expect(await comments()).toEqual([
    'Bob Lee (Jira): @Ada isolated\nit\nhost-1',
    'Jira: Ticket SEC-1 was closed (Erledigt).',
  ]);
});
