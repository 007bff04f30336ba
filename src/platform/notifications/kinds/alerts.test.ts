import { expect, test } from 'vitest';
import { inOrg } from '../../db/db.ts';
import type { TestOrg } from '../../../../test/support/harness.ts';
import { startDestinationTests } from '../../../../test/support/platform/destination-tests.ts';
import type { Received, ReceiverReply } from '../../../../test/support/platform/webhook-receiver.ts';
import { deliverDue } from '../deliver.ts';
import { emitEvents } from '../emit-events.ts';
import type { AlertSeverity } from './destination-kind.ts';

const { deps, newOrg, newDestination, receiver } = await startDestinationTests();

const incident = '0199aaaa-0000-7000-8000-000000000001';
let revision = 0;

/** Emits a change of an incident and delivers it. */
async function change(
  org: TestOrg,
  fields: { severity?: AlertSeverity; [field: string]: unknown },
  next: { revision?: number; deliver?: boolean } = {},
) {
  revision = next.revision ?? revision + 1;
  const data = {
    id: incident,
    title: 'ada and 2 others',
    severity: 'high' as const,
    url: `/console/incidents/${incident}`,
    ...fields,
  };
  await inOrg(deps.db, org.id, (tx) =>
    emitEvents(tx, [org.id], ['incident.created', 'incident.updated'], () => [
      {
        orgId: org.id,
        type: revision === 1 ? 'incident.created' : 'incident.updated',
        resourceId: incident,
        revision,
        severity: data.severity,
        data,
      },
    ]),
  );
  if (next.deliver !== false) while ((await deliverDue(deps)) > 0);
}

type Alert = Record<string, unknown> & { status: string };

/** Events API v2 as PagerDuty documents it: alerts by `dedup_key`, 202 for what it accepts, 400 with the errors for the rest. */
function answerAsPagerduty(alerts: Map<string, Alert>, { body }: Received): ReceiverReply {
  const { routing_key: routingKey, event_action: action, dedup_key: key, payload } = JSON.parse(body);
  const errors = [
    ...(/^\w{32}$/.test(routingKey) ? [] : ["'routing_key' is invalid"]),
    ...(['trigger', 'acknowledge', 'resolve'].includes(action) ? [] : ["'event_action' is invalid"]),
    ...(key.length <= 255 ? [] : ["'dedup_key' is too long"]),
    ...(action !== 'trigger' || (payload?.summary && payload.summary.length <= 1024 && payload.source)
      ? []
      : ["'payload' is invalid"]),
    ...(action !== 'trigger' || ['critical', 'error', 'warning', 'info'].includes(payload?.severity)
      ? []
      : ["'payload.severity' is invalid"]),
  ];
  if (errors.length > 0)
    return {
      status: 400,
      body: JSON.stringify({ status: 'invalid event', message: 'Event object is invalid', errors }),
    };
  const old = alerts.get(key);
  const isOpen = old !== undefined && old.status !== 'resolved';
  if (action === 'trigger')
    alerts.set(
      key,
      isOpen ? { ...old, log: [...(old['log'] as unknown[]), payload] } : { status: 'triggered', log: [payload] },
    );
  else if (isOpen) alerts.set(key, { ...old, status: action === 'resolve' ? 'resolved' : 'acknowledged' });
  return { status: 202, body: JSON.stringify({ status: 'success', message: 'Event processed', dedup_key: key }) };
}

test('keeps one PagerDuty alert per incident, which is acknowledged and resolved with it', async () => {
  const alerts = new Map<string, Alert>();
  receiver.reply((one) => answerAsPagerduty(alerts, one));
  const org = await newOrg();
  const routingKey = 'r'.repeat(32);
  const { id } = await newDestination(org, {
    kind: 'pagerduty',
    credentials: { routingKey },
    settings: { component: 'SOC' },
  });
  const shown = (await org.call('GET', `/api/destinations/${id}`)).body;
  expect(shown).toMatchObject({ kind: 'pagerduty', settings: { component: 'SOC' } });
  expect(JSON.stringify([shown, (await org.call('GET', '/api/audit')).body])).not.toContain(routingKey);
  revision = 0;
  await change(org, { state: 'open' });
  expect([...alerts.values()]).toMatchObject([
    {
      status: 'triggered',
      log: [{ summary: 'ada and 2 others', severity: 'error', component: 'SOC', class: 'incident.created' }],
    },
  ]);
  await change(org, { state: 'in_progress' });
  await change(org, { state: 'closed', resolution: 'true_positive' });
  // A colleague's earlier change arrives late.
  await change(org, { state: 'open' }, { revision: 2 });
  expect([...alerts.values()]).toMatchObject([{ status: 'resolved' }]);
  await change(org, { state: 'in_progress' }, { revision: 4 });
  expect([...alerts.values()]).toMatchObject([{ status: 'acknowledged' }]);
  // Two changes while the service cannot send: the later one waits for the earlier one.
  await change(org, { state: 'open' }, { deliver: false });
  await change(org, { state: 'closed' }, { deliver: false });
  receiver.received.length = 0;
  expect(await deliverDue(deps)).toBe(2);
  expect(receiver.received.map(({ body }) => JSON.parse(body).event_action)).toEqual(['trigger', 'resolve']);
  expect(alerts.size).toBe(1);
  const sent = (await org.call('POST', `/api/destinations/${id}/test`)).body;
  expect([sent.state, sent.lastStatus, alerts.size]).toEqual(['delivered', 202, 2]);
});

/** The Alert API as Opsgenie documents it: one open alert per alias, 202 for every valid request, 422 for an invalid one. */
function answerAsOpsgenie(alerts: Alert[], { method, path, headers, body }: Received): ReceiverReply {
  if (headers.authorization !== 'GenieKey eb243592')
    return { status: 401, body: '{"message":"Key format is not valid!"}' };
  const content = JSON.parse(body);
  const url = new URL(path, 'http://localhost');
  const [, , alias, action] = url.pathname.split('/');
  const accepted = { status: 202, body: '{"result":"Request will be processed","took":0.1,"requestId":"r"}' };
  if (alias !== undefined && url.searchParams.get('identifierType') !== 'alias')
    return { status: 422, body: '{"message":"no ID"}' };
  const open = alerts.find((one) => one['alias'] === (alias ?? content.alias) && one.status !== 'closed');
  if (method === 'POST' && alias === undefined) {
    if (!content.message || content.message.length > 130 || !/^P[1-5]$/.test(content.priority))
      return { status: 422, body: '{"message":"invalid"}' };
    if (open) open['count'] = Number(open['count']) + 1;
    else alerts.push({ ...content, status: 'open', count: 1 });
  } else if (open && action === 'close') open.status = 'closed';
  else if (open && action === 'acknowledge') open.status = 'acknowledged';
  else if (open && method === 'PUT') open[action!] = content[action!];
  return accepted;
}

test('keeps one Opsgenie alert per incident and updates it, and reports a wrong key', async () => {
  const alerts: Alert[] = [];
  receiver.reply((one) => answerAsOpsgenie(alerts, one));
  const org = await newOrg();
  const { id } = await newDestination(org, {
    kind: 'opsgenie',
    credentials: { apiKey: 'eb243592' },
    eventTypes: ['incident.created', 'incident.updated'],
    minSeverity: 'medium',
  });
  revision = 0;
  await change(org, { state: 'open' });
  await change(org, { state: 'open', title: 'ada and 5 others', severity: 'critical' });
  await change(org, { state: 'in_progress', title: 'ada and 5 others', severity: 'critical' });
  expect(alerts).toMatchObject([
    { status: 'acknowledged', count: 1, message: 'ada and 5 others', priority: 'P1', source: 'Tocsin' },
  ]);
  // An open alert is closed even if the severity of its incident is not sent any more.
  await change(org, { state: 'closed', severity: 'low' });
  await change(org, { state: 'open', severity: 'low' });
  expect(alerts.map(({ status }) => status)).toEqual(['closed']);
  await change(org, { state: 'open' });
  expect(alerts.map(({ status }) => status)).toEqual(['closed', 'open']);
  const put = (body: object) => org.call('PUT', `/api/destinations/${id}`, body);
  expect((await put({ url: 'https://other.example/v2/alerts' })).body.errors[0]).toMatchObject({
    pointer: '/credentials',
  });
  expect(
    (await put({ credentials: { token: 'x' } })).body.errors.map((one: { pointer: string }) => one.pointer),
  ).toEqual(['/credentials/apiKey', '/credentials/token']);
  await put({ credentials: { apiKey: 'wrong' } });
  expect((await org.call('POST', `/api/destinations/${id}/test`)).body).toMatchObject({
    state: 'failed',
    lastStatus: 401,
  });
});

test('uses the address and the events of the kind unless others are given', async () => {
  const org = await newOrg();
  const create = (body: object) => org.call('POST', '/api/destinations', { name: 'On call', ...body });
  expect((await create({ kind: 'pagerduty', credentials: { routingKey: 'x' } })).body).toMatchObject({
    url: 'https://events.pagerduty.com/v2/enqueue',
    eventTypes: ['incident.created', 'incident.updated'],
  });
  expect((await create({ kind: 'pagerduty' })).body.errors[0]).toMatchObject({ pointer: '/credentials/routingKey' });
  expect((await create({ kind: 'webhook' })).body.errors[0]).toMatchObject({ pointer: '/url', code: 'required' });
});
