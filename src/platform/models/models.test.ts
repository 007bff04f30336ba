import { createServer, type IncomingHttpHeaders } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { atFileEnd } from '../../../test/support/at-file-end.ts';
import { listen } from '../../../test/support/listen.ts';
import { findExhaustedBudget, Budgets } from './budgets.ts';
import { readModelSettings } from './model-settings.ts';
import { callCostUsd, createModels } from './models.ts';
import { common, providers as registry } from './providers.ts';

type ReceivedRequest = { path: string; headers: IncomingHttpHeaders };
const received: ReceivedRequest[] = [];
const server = createServer((request, response) => {
  received.push({ path: request.url ?? '', headers: request.headers });
  response.writeHead(418).end('{}');
});
const base = await listen(server);
afterAll(() => server.close());

const aws = { region: 'eu-north-1', accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'aws-secret' };
const providers: [string, Record<string, unknown>, string, Record<string, unknown>][] = [
  [
    'openai, responses',
    { provider: 'openai', apiKey: 'k1', baseUrl: `${base}/v1` },
    '/v1/responses',
    { authorization: 'Bearer k1' },
  ],
  [
    'openai, chat',
    { provider: 'openai', api: 'chat', apiKey: 'k1', organization: 'o', baseUrl: `${base}/v1` },
    '/v1/chat/completions',
    { 'openai-organization': 'o' },
  ],
  [
    'anthropic',
    { provider: 'anthropic', apiKeyEnv: 'A_KEY', baseUrl: `${base}/v1` },
    '/v1/messages',
    { 'x-api-key': 'from the environment' },
  ],
  [
    'google',
    { provider: 'google', apiKey: 'k3', baseUrl: `${base}/v1beta` },
    '/v1beta/models/a-model:streamGenerateContent?alt=sse',
    { 'x-goog-api-key': 'k3' },
  ],
  [
    'azure',
    { provider: 'azure', apiKey: 'k4', baseUrl: `${base}/openai`, deploymentUrls: true, apiVersion: '2026-01-01' },
    '/openai/deployments/a-model/chat/completions?api-version=2026-01-01',
    { 'api-key': 'k4' },
  ],
  [
    'bedrock',
    { provider: 'bedrock', ...aws, baseUrl: base },
    '/model/a-model/converse-stream',
    { authorization: expect.stringMatching(/Credential=AKIAEXAMPLE\/\d+\/eu-north-1\/bedrock/) },
  ],
  [
    'bedrock, by key',
    { provider: 'bedrock', region: 'eu-north-1', apiKey: 'k5', baseUrl: base },
    '/model/a-model/converse-stream',
    { authorization: 'Bearer k5' },
  ],
  [
    'openai-compatible',
    { provider: 'openai-compatible', baseUrl: `${base}/v1`, headers: { 'x-team': 'soc' } },
    '/v1/chat/completions',
    { 'x-team': 'soc' },
  ],
];

test.each(providers)('calls %s with the configured address and key', async (...[, entry, path, expectedHeaders]) => {
  const settings = readModelSettings(JSON.stringify({ m: { model: 'a-model', ...entry } }), {
    A_KEY: 'from the environment',
  });
  const model = createModels(settings).find('m')!;
  expect(model.name).toBe(`${String(entry['provider'])}/a-model`);
  const call = model.call({
    system: 's',
    messages: [{ role: 'user', content: 'hello' }],
    tools: [],
    signal: new AbortController().signal,
  });
  await expect(call).rejects.toMatchObject({ failure: { kind: 'model_bad_request' } });
  const { path: requestedPath, headers } = received.at(-1)!;
  expect(requestedPath).toBe(path);
  expect(headers).toMatchObject(expectedHeaders);
});

const openai = { provider: 'openai', model: 'x', apiKey: 'sk-very-secret' };

test('reads settings from a file and lists aliases after default and analyst', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-models-'));
  atFileEnd(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'models.json');
  writeFileSync(file, JSON.stringify({ fast: openai, default: openai }));
  const models = createModels(readModelSettings(file, {}));
  expect(models.aliases).toEqual(['default', 'analyst', 'fast']);
  expect(models.names).toEqual({ fast: 'openai/x', default: 'openai/x' });
  expect(models.find('analyst')).toBeUndefined();
  expect(createModels({}).find('default')).toBeUndefined();
});

test.each([
  ['not JSON', '{"m": {"apiKey": "sk-very-secret"', 'the value is not valid JSON'],
  ['a missing file', '/no/such/models.json', 'does not exist'],
  ['an unknown provider', { m: { ...openai, provider: 'oracle' } }, 'm.provider'],
  ['a mistyped field', { m: { ...openai, baseURL: 'https://x.example' } }, 'baseURL'],
  ['a reserved alias', { analyst: openai }, 'the built-in analyst'],
  ['no key', { m: { provider: 'anthropic', model: 'x' } }, 'm: anthropic needs apiKey'],
  [
    'a variable that is not set',
    { m: { provider: 'anthropic', model: 'x', apiKeyEnv: 'NO_SUCH' } },
    'NO_SUCH is not set',
  ],
  ['azure without an address', { m: { ...openai, provider: 'azure' } }, 'resourceName or baseUrl'],
  ['bedrock without credentials', { m: { provider: 'bedrock', model: 'x', region: 'r' } }, 'bedrock needs'],
  ['an unknown fallback', { m: { ...openai, fallbacks: ['n'] } }, 'm.fallbacks lists "n"'],
  ['the analyst as a fallback', { m: { ...openai, fallbacks: ['analyst'] } }, 'm.fallbacks lists "analyst"'],
  ['an escalation to itself', { m: { ...openai, escalateTo: 'm' } }, 'm.escalateTo is "m"'],
  [
    'an escalation of an escalation',
    { a: { ...openai, escalateTo: 'b' }, b: { ...openai, escalateTo: 'c' }, c: openai },
    'a.escalateTo is "b", which escalates itself',
  ],
  ['a fallback to itself', { m: { ...openai, fallbacks: ['m'] } }, 'm.fallbacks lead back to the alias: m → m'],
  [
    'a cycle of fallbacks',
    { a: { ...openai, fallbacks: ['b'] }, b: { ...openai, fallbacks: ['c'] }, c: { ...openai, fallbacks: ['b'] } },
    'b.fallbacks lead back to the alias: b → c → b',
  ],
  [
    'an answer as long as the context',
    { m: { ...openai, contextTokens: 4000 } },
    'm.maxOutputTokens (4000) must be below',
  ],
  ['an unknown effort', { m: { ...openai, reasoningEffort: 'huge' } }, 'm.reasoningEffort'],
  ['an alias with spaces', { 'my model': openai }, 'my model'],
])('rejects %s', (_name, settings, expected) => {
  const text = typeof settings === 'string' ? settings : JSON.stringify(settings);
  let message = '';
  try {
    readModelSettings(text, {});
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toContain('TOCSIN_MODELS');
  expect(message).toContain(expected);
  expect(message).not.toContain('sk-very-secret');
});

test('sends no prompt that does not fit into the context', async () => {
  const { m } = readModelSettings(JSON.stringify({ m: { ...openai, baseUrl: base, contextTokens: 5_000 } }), {});
  const before = received.length;
  const call = createModels({ m: m! })
    .find('m')!
    .call({ system: 'x'.repeat(8_000), messages: [], tools: [], signal: new AbortController().signal });
  await expect(call).rejects.toMatchObject({
    failure: { kind: 'model_context_too_small', message: expect.stringContaining('`contextTokens` (5000)') },
  });
  expect(received).toHaveLength(before);
});

test('computes cost from the configured price, and allows free calls under a budget of 0 dollars', () => {
  const { m } = readModelSettings(
    JSON.stringify({ m: { ...openai, price: { inputPerMillion: 3, outputPerMillion: 15 } } }),
    {},
  );
  expect(callCostUsd({ entry: m! }, { input: 1_000_000, output: 100_000 })).toBeCloseTo(4.5);
  const unpriced = { entry: { ...m!, price: undefined } };
  expect(callCostUsd(unpriced, { input: 1, output: 0 })).toBeNull();
  expect(callCostUsd(unpriced, { input: 0, output: 0 })).toBe(0);
  const none = { tokens: 0, costUsd: 0 };
  const budgets = Budgets.parse({ usdPerRun: 0 });
  const spent = { run: none, runMs: 0, detectionDay: none, organizationMonth: none, allModels: { day: 0, month: 0 } };
  expect(findExhaustedBudget(budgets, spent)).toBeUndefined();
  expect(findExhaustedBudget(budgets, { ...spent, run: { tokens: 1, costUsd: 0.01 } })).toContain('US dollars per run');
  expect(findExhaustedBudget(budgets, { ...spent, runMs: 901_000 })).toContain('seconds per run');
});

test('every provider is called by a test, and the guide lists its settings', () => {
  const names = Object.keys(registry);
  expect(new Set(providers.map(([, { provider }]) => provider))).toEqual(new Set(names));
  const guide = readFileSync('docs/guide/connect-a-model.md', 'utf8');
  expect(names.filter((name) => !new RegExp(`^\\| .*\`${name}\``, 'm').test(guide))).toEqual([]);
});

test('the reference lists the settings of every alias', () => {
  const reference = readFileSync('docs/reference/models.md', 'utf8');
  expect(Object.keys(common).filter((name) => !reference.includes(`\n| \`${name}\` |`))).toEqual([]);
});
