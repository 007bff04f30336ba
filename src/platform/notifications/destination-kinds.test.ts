import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createSecretbox } from '../lib/secretbox.ts';
import { kindNames, kindOf, showUrl, type DestinationKind } from './destination-kinds.ts';
import { eventLabels, type EventBody } from './event-types.ts';
import { sealSecrets } from './destination-secrets.ts';
import { attemptDelivery } from './delivery-attempt.ts';
import type { ClaimedDelivery } from './deliveries.store.ts';
import { describeFields } from '../lib/kind-fields.ts';
import { alertKey, readAlert, type KindRequest, type Ticket } from './kinds/destination-kind.ts';

const secrets = createSecretbox({
  secretKey: 'k'.repeat(32),
  previousSecretKey: undefined,
  dataDir: '',
  databaseUrl: undefined,
});
const config = { fetchAllow: ['127.0.0.1'], publicUrl: null };
const destination = { organization_id: 'o', id: 'destination' };

const deliver = (kind: string, sealed = sealSecrets(secrets, destination, { url: 'http://127.0.0.1:9/', secret: null })) =>
  attemptDelivery({ secrets, config }, {
    organization_id: 'o',
    id: 'd',
    destination_id: 'destination',
    kind: kind as DestinationKind,
    settings: {},
    sealed,
    event_id: 'e',
    event_type: 'hit.created',
    resource_id: 'r',
    ticket: null,
    tries: 1,
    tries_max: 10,
    body: JSON.stringify({ id: 'e', type: 'hit.created', timestamp: '', data: {} }),
  } as ClaimedDelivery); // prettier-ignore

const ours = { state: 'pending', counted: false, error: expect.stringContaining('internal error of the service') };

test.each(['pager', 'constructor'])('sends nothing to a destination of the unknown kind %s', async (kind) => {
  const result = await deliver(kind);
  expect(result).toMatchObject({ ...ours, fault: expect.objectContaining({ message: expect.stringContaining(kind) }) });
});

test('does not count a secret that cannot be decrypted against the destination', async () => {
  expect(await deliver('slack', Buffer.from('other key'))).toMatchObject(ours);
});

test('counts a destination that does not answer', async () => {
  const result = await deliver('slack');
  expect(result).toMatchObject({
    state: 'pending',
    counted: true,
    error: expect.stringContaining('cannot be reached'),
  });
  expect(result).not.toHaveProperty('fault');
});

const base = { id: 'e', timestamp: '2026-01-05T09:00:00.000Z', organizationId: 'o', revision: 1 };
const data = { headline: 'Sign-in from a new country', name: 'SOC', severity: 'high', summary: 'x'.repeat(5000) };

/** Credentials of each kind, so that a kind without an example does not compile. */
const examples: Record<DestinationKind, { url: string; settings?: object; credentials?: object }> = {
  webhook: { url: 'https://hooks.example/path' },
  slack: { url: 'https://hooks.example/path' },
  teams: { url: 'https://hooks.example/path' },
  pagerduty: { url: 'https://events.pagerduty.com/v2/enqueue', credentials: { routingKey: 'r3FPuDvN' } },
  opsgenie: { url: 'https://api.opsgenie.com/v2/alerts', credentials: { apiKey: 'r3FPuDvN' } },
  jira: {
    url: 'https://company.atlassian.net',
    settings: { project: 'SEC' },
    credentials: { user: 'soc@example.com', apiToken: 'r3FPuDvN' },
  },
  servicenow: { url: 'https://company.service-now.com', credentials: { user: 'soc', password: 'r3FPuDvN' } },
  github: { url: 'https://api.github.com/repos/acme/incidents', credentials: { token: 'r3FPuDvN' } },
  splunk: { url: 'https://splunk.example:8088/services/collector/event', credentials: { token: 'r3FPuDvN' } },
  elasticsearch: { url: 'https://elastic.example:9200', credentials: { apiKey: 'r3FPuDvN' } },
  otlp: { url: 'https://otlp.example:4318/v1/logs', credentials: { headerValue: 'Bearer r3FPuDvN' } },
  syslog: { url: 'tls://syslog.example:6514' },
  email: {
    url: 'smtp://mail.example:587',
    settings: { from: 'tocsin@company.example', to: ['soc@company.example'] },
    credentials: { user: 'tocsin', password: 'r3FPuDvN' },
  },
};

/** Returns the requests that an event of a resource leads to, while the other system accepts all. */
async function requestsOf(kind: DestinationKind, event: EventBody, ticket: Ticket | null = null) {
  const definition = kindOf(kind);
  const { url, settings = {}, credentials = {} } = examples[kind];
  const requests: KindRequest[] = [];
  const response = await definition.send(structuredClone(event), {
    url,
    settings: definition.settings.parse(settings),
    credentials: definition.credentials.parse(credentials),
    key: alertKey(event, 'r'),
    ticket,
    sign: () => ({}),
    request: async (request) => {
      requests.push(request);
      const text = JSON.stringify({ key: 'SOC-1', number: 'SOC-1', result: { sys_id: 'SOC-1' } });
      return { status: 202, text, retryAfterMs: undefined };
    },
    write: async (address, bytes) => void requests.push({ url: address, body: bytes.toString() }),
    mail: async ({ address }, message) => {
      requests.push({ url: address, body: message });
      return null;
    },
  });
  expect([202, 200, null]).toContain(response.status);
  expect(response.problem).toBeUndefined();
  return requests;
}

test.each(kindNames)('%s keeps what every kind of destination promises', async (kind) => {
  const { label, urlHint, defaultUrl, isUrlSecret, isSigned, keepsTickets, ...definition } = kindOf(kind);
  expect(label).toMatch(/^[A-Z]/);
  expect(urlHint).toMatch(/^[A-Z].*\.$/s);
  if (defaultUrl !== null) expect(new URL(defaultUrl).protocol).toBe('https:');
  for (const field of Object.values((describeFields(definition.credentials)['properties'] ?? {}) as object))
    expect(field).toMatchObject({ description: expect.stringMatching(/^[A-Z].*\.$/s) });
  for (const type of [...Object.keys(eventLabels), 'destination.test']) {
    const event: EventBody = { ...base, type, data };
    const requests = await requestsOf(kind, event);
    expect(await requestsOf(kind, event), type).toEqual(requests);
    if (readAlert(event).state !== 'closed') expect(JSON.stringify(requests)).toContain('Sign-in from a new country');
    // Other systems reject long messages, and a signature protects what nobody reads.
    if (!isSigned) expect(JSON.stringify(requests).length).toBeLessThan(28_000);
    for (const secret of Object.values(examples[kind].credentials ?? {}))
      for (const { url } of requests) expect(url).not.toContain(secret);
  }
  expect(showUrl(kind, 'https://hooks.example/path').includes('path')).toBe(!isUrlSecret);
  expect(readFileSync('docs/guide/destinations.md', 'utf8').includes(`\`kind: ${kind}\``)).toBe(true);
  if (!keepsTickets) return;
  // Every request about a resource identifies it, in every state.
  const known = { reference: 'SOC-1', state: 'open' } as const;
  for (const state of ['open', 'in_progress', 'closed'])
    for (const ticket of [null, known, { ...known, state: 'acknowledged' }, { ...known, state: 'closed' }] as const) {
      const event: EventBody = { ...base, type: 'incident.updated', data: { ...data, state } };
      for (const request of await requestsOf(kind, event, ticket))
        expect(JSON.stringify(request)).toMatch(new RegExp(`${alertKey(event, 'r')}|SOC-1`));
    }
});

test.each([
  ['incident.updated', { state: 'in_progress' }, 'acknowledged'],
  ['incident.updated', { state: 'closed' }, 'closed'],
  ['hit.updated', { status: 'open' }, 'open'],
  ['hit.updated', { status: 'benign' }, 'closed'],
  ['hit.updated', { status: 'benign', group: { statuses: { open: 1, benign: 2 } } }, 'open'],
  ['hit.updated', { status: 'open', group: { statuses: { benign: 2 } } }, 'closed'],
  ['connection.paused', {}, 'open'],
  ['connection.resumed', {}, 'closed'],
  ['run.failed', { status: 'failed' }, 'open'],
])('reads the state of %s with %j as %s', (type, content, state) => {
  expect(readAlert({ ...base, type, data: content }).state).toBe(state);
});

test('the guide lists every event type', () => {
  const guide = readFileSync('docs/guide/destinations.md', 'utf8');
  const rows = [...guide.matchAll(/^\| (`.+?) \|/gm)].map(([, cell]) => cell!);
  const listed = rows.flatMap((cell) => {
    const [first = '', ...others] = [...cell.matchAll(/`([^`]+)`/g)].map(([, type]) => type!);
    return [first, ...others.map((type) => (type.startsWith('.') ? first.replace(/\.\w+$/, type) : type))];
  });
  expect(listed.toSorted()).toEqual(Object.keys(eventLabels).toSorted());
});
