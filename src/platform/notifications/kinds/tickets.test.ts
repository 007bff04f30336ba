import { expect, test } from 'vitest';
import { inOrg } from '../../db/db.ts';
import type { TestOrg } from '../../../../test/support/harness.ts';
import { startDestinationTests } from '../../../../test/support/platform/destination-tests.ts';
import { checked, exampleOf, expectDocument } from '../../../../test/support/platform/published-schemas.ts';
import type { Received, ReceiverReply } from '../../../../test/support/platform/webhook-receiver.ts';
import { sql } from 'kysely';
import { deliverDue } from '../deliver.ts';
import { emitEvents } from '../emit-events.ts';

const { deps, newOrg, newDestination, receiver } = await startDestinationTests();

const incident = '0199aaaa-0000-7000-8000-000000000001';
const title = 'ada and 2 others';
// A log line may contain anything.
const summary = 'See [here](https://evil.example) @octocat ```\n![x](https://evil.example/x.png)';

async function change(org: TestOrg, revision: number, state: string): Promise<void> {
  const type = revision === 1 ? 'incident.created' : 'incident.updated';
  const data = { id: incident, title, summary, severity: 'high', state };
  await inOrg(deps.db, org.id, (tx) =>
    emitEvents(tx, [org.id], [type], () => [{ orgId: org.id, type, resourceId: incident, revision, data }]),
  );
  while ((await deliverDue(deps)) > 0);
}

type Json = ReturnType<typeof JSON.parse>;
const reply = (status: number, body?: object): ReceiverReply => ({
  status,
  ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
});

/** A system of tickets with its own protocol. `shown` is what a person sees of each ticket. */
type System = {
  path: string;
  kind: string;
  settings: object;
  credentials: object;
  answer: (tickets: Json[], received: Received) => ReceiverReply;
  shown: (ticket: Json) => { title: string; state: string; text: string };
  /** Statuses of a refused event and of missing rights. */
  invalid: number;
};

/** Jira Cloud: a workflow with its own names of statuses, documents for texts, and an error object with its fields. */
const jira: System = {
  kind: 'jira',
  path: '',
  settings: { project: 'SEC' },
  credentials: { user: 'soc@example.com', apiToken: 'token' },
  invalid: 400,
  shown: ({ fields, status }) => ({
    title: fields.summary,
    state: status,
    text: fields.description.content.map((one: Json) => one.content.map(({ text }: Json) => text).join('')).join('\n'),
  }),
  answer: (tickets, { method, path, headers, body }) => {
    if (headers.authorization !== `Basic ${Buffer.from('soc@example.com:token').toString('base64')}`)
      return reply(401, { errorMessages: ['Client must be authenticated to access this resource.'] });
    const content = body === '' ? {} : JSON.parse(body);
    const [, rest = ''] = /^\/rest\/api\/3\/(.*)$/.exec(path) ?? [];
    if (rest === 'search/jql') {
      const [, label] = /^project = "SEC" AND labels = "([\w-]+)" ORDER BY created ASC$/.exec(content.jql)!;
      const issues = tickets.filter(({ fields }) => fields.labels.includes(label)).map(({ id, key }) => ({ id, key }));
      return reply(200, { issues, isLast: true });
    }
    if (content.fields?.description) expectDocument('documents', content.fields.description);
    if (content.fields?.summary?.includes('\n'))
      return reply(400, { errorMessages: [], errors: { summary: 'The summary is invalid' } });
    if (method === 'POST' && rest === 'issue') {
      const id = `1000${tickets.length}`;
      tickets.push({ id, key: `SEC-${tickets.length + 1}`, status: 'Backlog', fields: content.fields });
      return reply(201, { id, key: tickets.at(-1).key, self: `https://soc.example/rest/api/3/issue/${id}` });
    }
    const [, key, action] = /^issue\/([^/]+)(\/transitions)?$/.exec(rest) ?? [];
    const issue = tickets.find((one) => one.key === key);
    if (!issue) return reply(404, { errorMessages: ['Issue does not exist or you do not have permission to see it.'] });
    const transitions = [
      { id: '11', name: 'Back', to: { name: 'Backlog', statusCategory: { key: 'new' } } },
      { id: '21', name: 'Start', to: { name: 'In Arbeit', statusCategory: { key: 'indeterminate' } } },
      { id: '31', name: 'Finish', to: { name: 'Erledigt', statusCategory: { key: 'done' } } },
    ];
    if (action && method === 'GET') return reply(200, { transitions });
    if (action) issue.status = transitions.find(({ id }) => id === content.transition.id)!.to.name;
    else Object.assign(issue.fields, content.fields);
    return reply(204);
  },
};

/** ServiceNow: texts for numbers, a data policy that resolved incidents need a code and notes, and results below `result`. */
const servicenow: System = {
  kind: 'servicenow',
  path: '',
  settings: { closeCode: 'Resolved by caller' },
  credentials: { user: 'soc', password: 'secret' },
  invalid: 400,
  shown: ({ short_description: shortDescription, state, description }) => ({
    title: shortDescription,
    state: { 1: 'Backlog', 2: 'In Arbeit', 6: 'Erledigt' }[state as 1]!,
    text: description,
  }),
  answer: (tickets, { method, path, headers, body }) => {
    if (headers.authorization !== `Basic ${Buffer.from('soc:secret').toString('base64')}`)
      return reply(401, {
        error: { message: 'User Not Authenticated', detail: 'Required to provide Auth information' },
      });
    const url = new URL(path, 'http://localhost');
    const [, id] = /^\/api\/now\/table\/incident(?:\/(\w+))?$/.exec(url.pathname)!;
    if (method === 'GET') {
      const [, key] = /^correlation_id=([\w-]+)$/.exec(url.searchParams.get('sysparm_query')!)!;
      return reply(200, { result: tickets.filter((one) => one.correlation_id === key) });
    }
    const content = JSON.parse(body);
    if (content.state === '6' && !(content.close_code === 'Resolved by caller' && content.close_notes))
      return reply(403, { error: { message: 'Operation Failed', detail: 'Data Policy Exception' }, status: 'failure' });
    if (method === 'POST') tickets.push({ sys_id: `${tickets.length}`.padStart(32, 'a'), state: '1', ...content });
    const record = method === 'POST' ? tickets.at(-1) : tickets.find((one) => one.sys_id === id);
    if (!record) return reply(404, { error: { message: 'No Record found' }, status: 'failure' });
    Object.assign(record, content);
    return reply(method === 'POST' ? 201 : 200, { result: { sys_id: record.sys_id, number: 'INC0010001' } });
  },
};

/** GitHub: issues by number, a search that knows them a while later, and 422 with the invalid fields. */
const github: System = {
  kind: 'github',
  path: '/repos/acme/incidents',
  settings: {},
  credentials: { token: 'ghp_1' },
  invalid: 422,
  shown: ({ title: name, state, body }) => ({
    title: name,
    state: state === 'closed' ? 'Erledigt' : 'Backlog',
    text: body,
  }),
  answer: (tickets, { method, path, headers, body }) => {
    if (headers.authorization !== 'Bearer ghp_1' || !headers['user-agent'])
      return reply(401, { message: 'Bad credentials' });
    const toIssue = (example: Json, { labels, ...fields }: Json) => ({
      ...example,
      ...fields,
      labels: labels.map((name: string) => ({ name })),
    });
    const url = new URL(path, 'http://localhost');
    if (url.pathname === '/search/issues') {
      const [, key = ''] = /^repo:acme\/incidents is:issue in:body ([\w-]+)$/.exec(url.searchParams.get('q')!)!;
      const found = exampleOf('github', 'GET /search/issues');
      const items = tickets.filter((one) => one.body.includes(key)).map((one) => toIssue(found.items[0], one));
      return reply(200, { ...found, search_type: 'lexical', total_count: items.length, items });
    }
    const [, number] = /^\/repos\/acme\/incidents\/issues(?:\/(\d+))?$/.exec(url.pathname)!;
    const content = JSON.parse(body);
    if (!content.title || content.body.length > 65_536)
      return reply(422, { message: 'Validation Failed', documentation_url: 'https://docs.github.com' });
    if (method === 'POST') tickets.push({ number: tickets.length + 1, state: 'open', ...content });
    const issue = method === 'POST' ? tickets.at(-1) : tickets.find((one) => String(one.number) === number);
    if (!issue) return reply(404, { message: 'Not Found' });
    Object.assign(issue, content);
    return reply(
      method === 'POST' ? 201 : 200,
      toIssue(exampleOf('github', 'POST /repos/{owner}/{repo}/issues'), issue),
    );
  },
};

test.each([jira, servicenow, github])('keeps one ticket per incident in $kind', async (system) => {
  const { kind, settings, credentials, answer, shown, path, invalid } = system;
  const tickets: Json[] = [];
  const standIn = (one: Received) => answer(tickets, one);
  receiver.reply(kind === 'servicenow' ? standIn : checked(kind as 'jira' | 'github', standIn));
  const org = await newOrg();
  const url = `${new URL(receiver.url).origin}${path}`;
  const { id } = await newDestination(org, {
    kind,
    url,
    settings,
    credentials,
    eventTypes: ['incident.created', 'incident.updated'],
  });
  const states = () => tickets.map((ticket) => shown(ticket).state);
  await change(org, 1, 'open');
  const { title: name, text } = shown(tickets[0]);
  expect(name).toBe(title);
  expect(text).toContain('@octocat');
  expect(text).toMatch(/tocsin-[0-9a-f]{32}/);
  // What people could follow by mistake is text in a block that it does not end.
  if (kind === 'github') expect(text).toMatch(/^````text\n[^]*\n````$/);
  await change(org, 2, 'in_progress');
  expect(states()).toEqual([kind === 'github' ? 'Backlog' : 'In Arbeit']);
  await change(org, 3, 'closed');
  expect(states()).toEqual(['Erledigt']);
  await change(org, 4, 'open');
  expect(states()).not.toContain('Erledigt');

  // The service stopped after it created the ticket and before it stored that.
  await inOrg(deps.db, org.id, (tx) => sql`delete from tickets`.execute(tx));
  await change(org, 5, 'closed');
  expect(states()).toEqual(['Erledigt']);

  // A person deleted the ticket there.
  tickets.length = 0;
  await change(org, 6, 'closed');
  expect(tickets).toEqual([]);
  await change(org, 7, 'open');
  expect(states()).toEqual(['Backlog']);

  const [latest] = (await org.call('GET', `/api/destinations/${id}/deliveries`)).body.deliveries;
  expect(latest).toMatchObject({ state: 'delivered', tries: 1 });
  receiver.reply(() => reply(invalid, { message: 'no' }));
  await change(org, 8, 'open');
  receiver.reply(() => ({ status: 429, headers: { 'retry-after': '900' } }));
  const before = Date.now();
  await change(org, 9, 'open');
  const { deliveries } = (await org.call('GET', `/api/destinations/${id}/deliveries?limit=2`)).body;
  expect(deliveries.map((one: Json) => [one.state, one.lastStatus])).toEqual([
    ['pending', 429],
    ['failed', invalid],
  ]);
  expect(new Date(deliveries[0].nextTryAt).getTime()).toBeGreaterThan(before + 890_000);

  // The same status says nothing about the event while the service looks for its ticket.
  await inOrg(deps.db, org.id, async (tx) => {
    await sql`delete from tickets`.execute(tx);
    await sql`delete from deliveries`.execute(tx);
  });
  receiver.reply(() => reply(invalid, { message: 'no' }));
  await change(org, 10, 'open');
  const [refused] = (await org.call('GET', `/api/destinations/${id}/deliveries`)).body.deliveries;
  expect(refused).toMatchObject({ state: 'pending', lastStatus: invalid });
});

test('rejects an address that is no repository', async () => {
  const org = await newOrg();
  const body = { kind: 'github', name: 'x', url: 'https://github.com/acme/incidents', credentials: { token: 't' } };
  expect((await org.call('POST', '/api/destinations', body)).body.errors[0]).toMatchObject({
    pointer: '/url',
    code: 'invalid_url',
  });
});
