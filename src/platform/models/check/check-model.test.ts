import { expect, test } from 'vitest';
import { atFileEnd } from '../../../../test/support/at-file-end.ts';
import { startApp } from '../../../../test/support/harness.ts';
import { serveModelStandIn, type ModelBrain } from '../../../../test/support/models/model-server.ts';
import { answerProbes, probeAnswer, serverOf } from '../../../../test/support/models/provider-servers.ts';
import { readModelSettings } from '../model-settings.ts';
import { createModels } from '../models.ts';

const models = createModels({});
const { deps, newOrg, newKey } = await startApp({ deps: { models } });

async function start(name: string, brain: ModelBrain, more: Record<string, unknown> = {}) {
  const { close, ...stand } = await serveModelStandIn(serverOf(name).protocol, brain);
  atFileEnd(close);
  const price = { inputPerMillion: 10, outputPerMillion: 50 };
  const entry = { model: 'a-model', maxRetries: 0, price, ...serverOf(name).entry(stand.url), ...more };
  const settings = readModelSettings(JSON.stringify({ [`m${stand.url.replace(/\D/g, '')}`]: entry }), {});
  const [alias] = Object.keys(settings) as [string];
  Object.assign(models, createModels(settings, deps.db));
  const org = await newOrg();
  const check = async () => (await org.call('POST', `/api/models/${alias}/check`)).body;
  return { alias, settings, stand, org, check };
}

const failedOf = (report: { checks: { ok: boolean; name: string; detail: string; remedy: string }[] }) =>
  report.checks.filter(({ ok }) => !ok).map(({ name, detail, remedy }) => [name, detail, remedy]);

test.each(['anthropic', 'openai, responses', 'google', 'bedrock', 'vLLM'])('%s passes every check', async (name) => {
  const { org, alias, check } = await start(name, answerProbes(serverOf(name)));
  const report = await check();
  expect(failedOf(report)).toEqual([]);
  expect(report).toMatchObject({ ok: true, callsTools: true, answersBy: 'tool', latencyMs: expect.any(Number) });
  expect(report.costUsd).toBeGreaterThan(0);
  const { body } = await org.call('GET', '/api/models');
  expect(body.models.find((one: { alias: string }) => one.alias === alias).check).toEqual(report);
  const [usage] = (await org.call('GET', '/api/overview')).body.budgets;
  expect(usage).toMatchObject({ alias, costUsd: expect.closeTo(report.costUsd, 6) });
});

test('finds that a server ignores tools while its schema holds, and every process uses the schema from then on', async () => {
  const server = serverOf('llama.cpp');
  const { alias, settings, stand, check } = await start(
    'llama.cpp',
    answerProbes(server, { tools: { text: 'A7 is a key.' } }),
  );
  const report = await check();
  expect(report).toMatchObject({ ok: false, callsTools: false, answersBy: 'schema' });
  expect(failedOf(report)).toEqual([['tools', expect.any(String), expect.stringContaining('--jinja')]]);
  const elsewhere = createModels(settings, deps.db).find(alias)!;
  const before = stand.asked.length;
  const { signal } = new AbortController();
  const tool = { name: 'submit', description: 'Submits.', inputSchema: { type: 'object', required: ['count'] } };
  const other = { ...tool, name: 'lookup' };
  const messages = [{ role: 'user' as const, content: 'Submit the severity.' }];
  const { text } = await elsewhere.call({ system: 's', messages, tools: [other, tool], answerTool: 'submit', signal });
  expect(JSON.parse(text)).toEqual(probeAnswer);
  expect(stand.asked.slice(before).map(({ tools, body }) => [tools, 'response_format' in body])).toEqual([[[], true]]);
});

test('a call that shows that the alias does not fit is listed until the next check', async () => {
  const { alias, settings, org, check } = await start('vLLM', answerProbes(serverOf('vLLM')));
  const misfitOf = async () =>
    (await org.call('GET', '/api/models')).body.models.find((one: { alias: string }) => one.alias === alias).misfit;
  const request = { system: 's', messages: [], tools: [], signal: new AbortController().signal };
  const model = createModels(settings, deps.db).find(alias)!;
  await expect(model.call({ ...request, system: 'a secret of the logs '.repeat(40_000) })).rejects.toThrow(
    'contextTokens',
  );
  await expect.poll(misfitOf).toEqual({
    kind: 'model_context_too_small',
    at: expect.any(String),
    remedy: expect.stringContaining('contextTokens'),
  });
  await check();
  expect(await misfitOf()).toBeNull();
});

test('forgets what it found when the settings of the alias change', async () => {
  const { alias, settings, org, check } = await start('vLLM', answerProbes(serverOf('vLLM')));
  await check();
  const checkOf = async () =>
    (await org.call('GET', '/api/models')).body.models.find((one: { alias: string }) => one.alias === alias).check;
  expect(await checkOf()).toMatchObject({ ok: true });
  Object.assign(models, createModels({ [alias]: { ...settings[alias]!, model: 'another' } }, deps.db));
  expect(await checkOf()).toBeNull();
});

test.each<[string, string, Parameters<typeof answerProbes>[1], string, string]>([
  [
    'a prompt that is cut silently',
    'Ollama',
    { long: { text: 'ok', usage: { input: 4096, output: 2 } } },
    'longInput',
    'OLLAMA_CONTEXT_LENGTH',
  ],
  ['a prompt that is too long', 'llama.cpp', { long: serverOf('llama.cpp').tooLong! }, 'longInput', 'contextTokens'],
  ['a cut that is not reported', 'vLLM', { cut: { text: '1, 2, 3' } }, 'truncation', 'length'],
  ['no tools', 'Ollama', { tools: serverOf('Ollama').noTools! }, 'tools', 'supports tool calls'],
  [
    'a refused request',
    'vLLM',
    { long: { status: 413, body: { message: 'Too large' } } },
    'longInput',
    'settings of the alias',
  ],
])('reports %s with its remedy', async (_name, server, quirks, failedCheck, remedy) => {
  const { check } = await start(server, answerProbes(serverOf(server), quirks));
  const report = await check();
  expect(report.ok).toBe(false);
  expect(failedOf(report)).toEqual([[failedCheck, expect.any(String), expect.stringContaining(remedy)]]);
});

test.each([
  ['rejects the key', { status: 401 }, 'key of the alias'],
  ['does not know the model', { status: 404 }, '`model` and `baseUrl`'],
  ['is down', { cut: 'before' as const }, 'Start the server'],
  ['has no credit', { status: 429, body: { error: { code: 'insufficient_quota', message: 'x' } } }, 'credit'],
])('fails every check with the remedy if the server %s', async (_name, reply, remedy) => {
  const { check } = await start('vLLM', () => reply);
  const report = await check();
  expect(report).toMatchObject({ ok: false, answersBy: null, latencyMs: null });
  expect(failedOf(report).map(([name, , advice]) => [name, advice!.includes(remedy)])).toEqual(
    ['tools', 'structuredOutput', 'longInput', 'truncation'].map((name) => [name, true]),
  );
});

test('fails a context that has no room for the prompts of a detection, without a call', async () => {
  const { check, stand } = await start('vLLM', answerProbes(serverOf('vLLM')), {
    contextTokens: 8_000,
    maxOutputTokens: 4_000,
  });
  const report = await check();
  expect(failedOf(report)).toEqual([['longInput', expect.stringContaining('leaves 4000 tokens'), expect.any(String)]]);
  expect(stand.asked.some(({ raw }) => raw.includes('walnut'))).toBe(false);
});

test('needs the scope of connections, an alias with a model, and room in its budgets', async () => {
  const { alias, org, check } = await start('vLLM', answerProbes(serverOf('vLLM')), {
    budgets: { usdPerDetectionDay: 0.0001 },
  });
  const reader = await newKey(org, ['detections:read']);
  expect((await reader.call('POST', `/api/models/${alias}/check`)).status).toBe(403);
  for (const unknown of ['analyst', 'nothing']) {
    const { status, body } = await org.call('POST', `/api/models/${unknown}/check`);
    expect([status, body.detail]).toEqual([404, expect.stringContaining(unknown)]);
  }
  const last = failedOf(await check()).at(-1)!;
  expect(last).toEqual(['truncation', expect.stringContaining('budget'), expect.stringContaining('Raise the budget')]);
});
