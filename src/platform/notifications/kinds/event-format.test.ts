import { expect, test } from 'vitest';
import { startDestinationTests } from '../../../../test/support/platform/destination-tests.ts';
import { expectDocument, expectOcsf } from '../../../../test/support/platform/published-schemas.ts';
import { isSigned } from '../../../../test/support/platform/webhook-receiver.ts';
import { eventLabels, type EventBody } from '../event-types.ts';
import { renderEvent } from './event-format.ts';

const { newOrg, newDestination, receiver } = await startDestinationTests();

const at = '2026-01-05T08:00:00.000Z';
const base = { id: '0199', timestamp: '2026-01-05T09:00:00.000Z', organizationId: 'org', revision: 1_767_603_600_000 };
const data = {
  id: 'r',
  headline: 'ada signed in',
  title: 'ada and 2 others',
  severity: 'high',
  status: 'open',
  state: 'in_progress',
  confidence: 79.6,
  createdAt: at,
  detectionId: 'd',
  detection: { name: 'New country', techniques: ['T1078.004'] },
};
const types = [...Object.keys(eventLabels), 'destination.test'];

test.each(types)('renders %s as its class in OCSF permits', (type) => {
  for (const content of [data, {}]) {
    const event = renderEvent({ ...base, type, data: content }, 'ocsf') as Record<string, number>;
    const { class_uid: uid = -1, category_uid: category, activity_id: activity = -1 } = event;
    expectOcsf(event);
    expect([event['type_uid'], category]).toEqual([uid * 100 + activity, Math.floor(uid / 1000)]);
    expect(event['metadata']).toMatchObject({ version: '1.8.0', product: { name: 'Tocsin' }, uid: '0199' });
  }
});

test('renders hits as detection findings and incidents as incident findings, in every state', () => {
  const render = (type: string, content: object) =>
    renderEvent({ ...base, type, data: { ...data, ...content } } as EventBody, 'ocsf');
  expect(render('hit.created', {})).toMatchObject({
    type_uid: 200_401,
    severity_id: 4,
    status_id: 1,
    is_alert: true,
    confidence_score: 80,
    finding_info: {
      uid: 'r',
      title: 'ada signed in',
      created_time: Date.parse(at),
      analytic: { name: 'New country', uid: 'd', type_id: 1 },
      attacks: [{ technique: { uid: 'T1078.004' } }],
    },
  });
  expect(render('hit.updated', { status: 'benign' })).toMatchObject({
    type_uid: 200_403,
    status_id: 3,
    is_alert: false,
  });
  expect(render('incident.updated', {})).toMatchObject({
    type_uid: 200_502,
    status_id: 2,
    assignee: { name: 'Unassigned' },
  });
  expect(render('incident.updated', { state: 'closed', owner: 'bo' })).toMatchObject({
    type_uid: 200_503,
    status_id: 5,
    assignee: { name: 'bo' },
  });
  expect(render('run.failed', {})).toMatchObject({ type_uid: 99, activity_name: 'run.failed' });
});

test('sends CloudEvents with valid attributes and their media type, signed', async () => {
  const org = await newOrg();
  const { id, secret } = await newDestination(org, { settings: { format: 'cloudevents' } });
  expect((await org.call('POST', `/api/destinations/${id}/test`)).body.state).toBe('delivered');
  const [received] = receiver.received;
  expect(received!.headers['content-type']).toMatch(/^application\/cloudevents\+json/);
  expect(isSigned(received!, secret)).toBe(true);
  expectDocument('cloudevents', JSON.parse(received!.body));
  const { data: content, ...attributes } = JSON.parse(received!.body);
  expect(content).toMatchObject({ id, name: 'SOC' });
  expect(attributes).toMatchObject({ specversion: '1.0', type: 'tocsin.destination.test', subject: id });
  expect(attributes.id).toBe(received!.headers['webhook-id']);
  expect(new URL(attributes.source, 'https://tocsin.example').pathname).toContain(org.id);
  for (const [name, value] of Object.entries(attributes)) {
    expect(name).toMatch(/^[a-z0-9]+$/);
    expect(value).toEqual(expect.stringMatching(/./));
  }
  const wrong = { kind: 'webhook', name: 'x', url: receiver.url, settings: { format: 'cef' } };
  expect((await org.call('POST', '/api/destinations', wrong)).body.errors[0]).toMatchObject({
    pointer: '/settings/format',
  });
});
