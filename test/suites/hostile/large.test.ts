import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { stixBundle } from '../../support/feed/stix-documents.ts';
import { startHostile } from './hostile.ts';

const { org, pullFrom } = await startHostile();
const notes = Array.from({ length: 8_000 }, (_, n) => ({
  id: `note--${n}`,
  type: 'note',
  created: '2024-01-01T00:00:00Z',
  text: 'x'.repeat(6_500),
}));
const bundle = stixBundle(['a.example']);
const document = JSON.stringify({ ...bundle, objects: [...(bundle['objects'] as object[]), ...notes] });

test('reads a compressed bundle of 50 MB', async () => {
  expect(document.length).toBeGreaterThan(50_000_000);
  const packed = gzipSync(document, { level: 1 });
  const { error, added, skipped } = await pullFrom('stix', (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
  );
  expect(error).toBeUndefined();
  expect([added, skipped.length]).toEqual([1, 8_000]);
});

test('the API rejects bodies of 50 MB', async () => {
  const body = `{"text":"${'x'.repeat(50_000_000)}"}`;
  for (const path of ['/api/feed/items', '/api/feed/sources', '/api/indicators/lookup'])
    expect((await org.call('POST', path, body)).status, path).toBe(413);
});
