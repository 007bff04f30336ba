import { expect, test } from 'vitest';
import { renderDelivery } from './delivery-attempt.ts';

const secrets = { url: 'https://hooks.example/x', secret: null };
const bodyOf = (data: object, publicUrl: string | null) => {
  const event = JSON.stringify({ id: 'e', type: 'hit.created', data });
  const { body } = renderDelivery({ kind: 'webhook', secrets, publicUrl }, event, new Date(0));
  return (JSON.parse(body) as { data: unknown }).data;
};

test.each([
  ['https://soc.example/tocsin', { url: '/console/hits/1' }, { url: 'https://soc.example/tocsin/console/hits/1' }],
  [null, { url: '/console/hits/1' }, { url: null }],
  ['https://soc.example', { url: 'https://other.example/x' }, { url: 'https://other.example/x' }],
  [
    'https://soc.example',
    { url: 5, rows: [{ url: '/console/hits/1' }] },
    { url: 5, rows: [{ url: '/console/hits/1' }] },
  ],
  ['https://soc.example', {}, {}],
])('resolves the link of an event at %s: %j', (publicUrl, data, expected) => {
  expect(bodyOf(data, publicUrl)).toEqual(expected);
});
