import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createSecretbox } from '../lib/secretbox.ts';
import { kindNames, kindOf, showUrl, type DestinationKind } from './destination-kinds.ts';
import { eventLabels, type EventBody } from './event-types.ts';
import { sealSecrets } from './destination-secrets.ts';
import { attemptDelivery } from './delivery-attempt.ts';
import type { ClaimedDelivery } from './deliveries.store.ts';

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
    sealed,
    event_id: 'e',
    event_type: 'hit.created',
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
const data = { headline: 'Sign-in from a new country', name: 'SOC', severity: 'high', summary: 'x'.repeat(50_000) };

test.each(kindNames)('%s keeps what every kind of destination promises', (kind) => {
  const { label, urlHint, isUrlSecret, isSigned, renderBody, reportsFailure } = kindOf(kind);
  expect(label).toMatch(/^[A-Z]/);
  expect(urlHint).toMatch(/^[A-Z].*\.$/);
  for (const type of [...Object.keys(eventLabels), 'destination.test']) {
    const event: EventBody = { ...base, type, data };
    expect(renderBody(structuredClone(event)), type).toEqual(renderBody(event));
    expect(JSON.stringify(renderBody(event))).toContain('Sign-in from a new country');
    // Chats reject long messages, and a signature protects what nobody reads.
    if (!isSigned) expect(JSON.stringify(renderBody(event)).length).toBeLessThan(28_000);
  }
  expect(reportsFailure('')).toBe(false);
  expect(showUrl(kind, 'https://hooks.example/path').includes('path')).toBe(!isUrlSecret);
  expect(readFileSync('docs/guide/destinations.md', 'utf8')).toContain(`\`kind: ${kind}\``);
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
