import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { checkDataDir, checkPort, checkSampleKeys } from './start-checks.ts';

const sample = { apiKey: 'choose-a-long-random-key', adminKey: 'choose-another-long-random-key-here' };
const own = { apiKey: 'a-key-of-the-operator', adminKey: 'another-key-of-the-operator-of-32' };

test.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('accepts the sample keys on %s', (host) => {
  expect(() => checkSampleKeys({ ...sample, host })).not.toThrow();
});

test.each(['0.0.0.0', '::', '192.0.2.1', 'tocsin.example'])('refuses the sample keys on %s', (host) => {
  expect(() => checkSampleKeys({ ...own, apiKey: sample.apiKey, host })).toThrow(
    /^TOCSIN_API_KEY is the sample key.*Choose another key/,
  );
  expect(() => checkSampleKeys({ ...own, adminKey: sample.adminKey, host })).toThrow(
    /^TOCSIN_ADMIN_KEY is the sample key.*Choose another key/,
  );
  expect(() => checkSampleKeys({ ...own, host })).not.toThrow();
  expect(() => checkSampleKeys({ apiKey: undefined, adminKey: undefined, host })).not.toThrow();
});

test('reports a port that is in use and an address of another machine', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await expect(checkPort({ port, host: '127.0.0.1' })).rejects.toThrow(`Port ${port} is in use. Set PORT`);
  server.close();
  await once(server, 'close');
  await checkPort({ port, host: '127.0.0.1' });
  await expect(checkPort({ port: 0, host: '192.0.2.1' })).rejects.toThrow('HOST 192.0.2.1 is not an address');
});

test('names the setting of a data directory that cannot be created', () => {
  expect(() => checkDataDir({ dataDir: `${import.meta.dirname}/not/yet` })).not.toThrow();
  expect(() => checkDataDir({ dataDir: `${import.meta.filename}/data` })).toThrow(
    /^TOCSIN_DATA_DIR .* is a file\. Choose another folder/,
  );
});
