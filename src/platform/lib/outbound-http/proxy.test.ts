import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { certificate, privateKey } from '../../../../test/support/detection/siem/tls-certificate.ts';
import { closeServer, listen } from '../../../../test/support/listen.ts';
import { startForwardProxy } from '../../../../test/support/platform/forward-proxy.ts';
import { openS3Client } from '../storage/s3-client.ts';
import { outboundFetch, findProxy } from './proxy.ts';
import { sendRequest } from './send-request.ts';

const server = createServer((request, response) => response.end(`plain ${request.method} ${request.url}`));
const tlsServer = createTlsServer({ cert: certificate, key: privateKey }, (request, response) =>
  response.end(`secret ${request.url}`),
);
const port = new URL(await listen(server)).port;
const tlsPort = new URL(await listen(tlsServer)).port;
afterAll(() => Promise.all([closeServer(server), closeServer(tlsServer)]));

function useProxy(url: string, noProxy = ''): void {
  vi.stubEnv('HTTPS_PROXY', url);
  vi.stubEnv('HTTP_PROXY', url);
  vi.stubEnv('NO_PROXY', noProxy);
}
afterEach(() => void vi.unstubAllEnvs());

const never = new AbortController().signal;
const get = async (url: string, allow: string[] = []): Promise<string> =>
  text(await sendRequest(new URL(url), { method: 'GET', headers: {}, allow, ca: certificate }, never));

test('sends requests through the proxy, which resolves the name, and verifies the certificate of the host behind it', async () => {
  const proxy = await startForwardProxy('user:p@ss');
  useProxy(proxy.url.replace('p@ss', 'p%40ss'));
  expect(await get(`http://feed.example:${port}/list?a=1`)).toBe('plain GET /list?a=1');
  await expect(get(`https://feed.example:${tlsPort}/`)).rejects.toThrow(/feed\.example.*through the proxy.*altnames/i);
  expect(proxy.requests).toEqual([`http://feed.example:${port}/list?a=1`, `CONNECT feed.example:${tlsPort}`]);
});

test('requests to addresses in the settings use the proxy as well', async () => {
  const proxy = await startForwardProxy();
  useProxy(proxy.url);
  const response = await outboundFetch(`http://model.example:${port}/v1/chat`, { method: 'POST', body: '{}' });
  expect(await response.text()).toBe('plain POST /v1/chat');
  await expect(outboundFetch(`https://model.example:${tlsPort}/`)).rejects.toThrow('fetch failed');
  expect(proxy.requests).toEqual([`http://model.example:${port}/v1/chat`, `CONNECT model.example:${tlsPort}`]);
});

test('requests to object storage use the proxy as well', async () => {
  const proxy = await startForwardProxy();
  useProxy(proxy.url);
  const client = openS3Client(
    { bucket: 'logs', prefix: '', endpoint: `http://s3.example:${port}`, region: 'us-east-1' },
    1,
  );
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'logs', Key: 'a' }));
  expect(await Body!.transformToString()).toMatch(/^plain GET \/logs\/a/);
  expect(proxy.requests).toEqual([expect.stringContaining(`http://s3.example:${port}/logs/a`)]);
  client.destroy();
});

test('refuses private addresses in the URL, and never sends requests to this machine through the proxy', async () => {
  const proxy = await startForwardProxy();
  useProxy(proxy.url);
  for (const host of ['10.1.2.3', '169.254.169.254', '[fd00::1]', '2886729729'])
    await expect(get(`http://${host}/`)).rejects.toThrow('is not a public address');
  await expect(get(`http://127.0.0.1:${port}/`)).rejects.toThrow('is not a public address');
  expect(await get(`http://127.0.0.1:${port}/own`, ['127.0.0.1'])).toBe('plain GET /own');
  expect(await (await outboundFetch(`http://127.0.0.1:${port}/own`)).text()).toBe('plain GET /own');
  expect(proxy.requests).toEqual([]);
});

test('says that the proxy refused or does not respond, without its password', async () => {
  const proxy = await startForwardProxy('user:secret');
  useProxy(`http://user:wrong@${proxy.host}`);
  await expect(get('https://feed.example/')).rejects.toThrow(
    `feed.example cannot be reached through the proxy ${proxy.host}: status 407`,
  );
  useProxy('http://user:secret@127.0.0.1:9');
  const failure = await get('https://feed.example/').catch((error: Error) => error.message);
  expect(failure).toMatch(/through the proxy 127\.0\.0\.1:9: .*ECONNREFUSED/);
  expect(failure).not.toContain('secret');
});

test.each([
  ['https://feed.example/', '', true],
  ['https://feed.example/', '*', false],
  ['https://feed.example/', 'corp.example, feed.example', false],
  ['https://a.feed.example/', 'FEED.example', false],
  ['https://a.feed.example/', '.feed.example', false],
  ['https://a.feed.example/', '*.feed.example', false],
  ['https://feed.example/', '.feed.example', true],
  ['https://myfeed.example/', 'feed.example', true],
  ['https://feed.example/', 'feed.example:443', false],
  ['https://feed.example:8443/', 'feed.example:443', true],
  ['http://10.1.2.3/', '10.0.0.0/8', false],
  ['http://11.1.2.3/', '10.0.0.0/8', true],
  ['http://[2001:db8::1]:9200/', '[2001:db8::1]:9200', false],
  ['http://[2001:db8::1]/', '2001:db8::/32', false],
  ['http://localhost:8080/', '', false],
  ['http://127.1.2.3/', '', false],
  ['http://[::1]/', '', false],
])('for %s with NO_PROXY=%s the proxy is used: %s', (url, noProxy, isUsed) => {
  useProxy('proxy.example:3128', noProxy);
  expect(findProxy(new URL(url))?.href).toBe(isUsed ? 'http://proxy.example:3128/' : undefined);
});

test('lower case wins, and each protocol has its own variable', () => {
  vi.stubEnv('HTTPS_PROXY', 'http://upper.example');
  vi.stubEnv('https_proxy', 'http://lower.example');
  expect(findProxy(new URL('https://feed.example'))?.host).toBe('lower.example');
  expect(findProxy(new URL('http://feed.example'))).toBeUndefined();
});
