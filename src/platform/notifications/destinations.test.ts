import { expect, test } from 'vitest';
import { createSecretbox } from '../lib/secretbox.ts';
import { sealOutputSecrets } from './destinations.ts';
import type { OutputKind } from './outputs.schema.ts';
import { attemptDelivery } from './delivery-attempt.ts';
import type { ClaimedDelivery } from './deliveries.store.ts';

const secrets = createSecretbox({
  secretKey: 'k'.repeat(32),
  previousSecretKey: undefined,
  dataDir: '',
  databaseUrl: undefined,
});
const config = { fetchAllow: ['127.0.0.1'], publicUrl: null };
const output = { organization_id: 'o', id: 'output' };

const deliver = (kind: string, sealed = sealOutputSecrets(secrets, output, { url: 'http://127.0.0.1:9/', secret: null })) =>
  attemptDelivery({ secrets, config }, {
    organization_id: 'o',
    id: 'd',
    output_id: 'output',
    kind: kind as OutputKind,
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
