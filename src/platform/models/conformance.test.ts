import { describe, expect, test } from 'vitest';
import { atFileEnd } from '../../../test/support/at-file-end.ts';
import { serveModelStandIn, type ModelBrain } from '../../../test/support/models/model-server.ts';
import { providerServers, submitAs, type ProviderServer } from '../../../test/support/models/provider-servers.ts';
import { findAnswer } from './calls/structured-output.ts';
import { readModelSettings } from './model-settings.ts';
import { createModels } from './models.ts';
import { providers } from './providers.ts';
import { toolResult } from './ask-model.ts';

const answer = { reasons: ['known host', 'office {hours}'], severity: 'low', count: 3 };
const tool = {
  name: 'submit',
  description: 'Submits the answer.',
  inputSchema: {
    type: 'object',
    properties: {
      reasons: { type: 'array', items: { type: 'string' } },
      severity: { type: 'string', enum: ['low', 'high'] },
      count: { type: 'integer' },
    },
    required: ['reasons', 'severity', 'count'],
    additionalProperties: false,
  },
};
const lookup = {
  name: 'lookup',
  description: 'Looks up a key.',
  inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
};
const { signal } = new AbortController();
const question = { system: 'Judge.', messages: [{ role: 'user' as const, content: 'Go.' }], signal };
const submit = { ...question, tools: [tool], forcedTool: tool.name };

async function start(server: ProviderServer, brain: ModelBrain, more: Record<string, unknown> = {}) {
  const { close, ...stand } = await serveModelStandIn(server.protocol, brain);
  atFileEnd(close);
  const entry = { model: 'a-model', maxOutputTokens: 500, ...server.entry(stand.url), ...more };
  const model = createModels(readModelSettings(JSON.stringify({ m: entry }), {})).find('m')!;
  return { model, stand };
}

/** Fails as the server does when a request has tools. */
const withoutTools =
  (server: ProviderServer): ModelBrain =>
  (asked) =>
    asked.tools.length > 0 ? server.noTools! : submitAs(server, asked, answer);

test('a server stands for every provider', () => {
  const covered = providerServers.map(({ entry }) => entry('http://127.0.0.1/v1')['provider']);
  expect(new Set(covered)).toEqual(new Set(Object.keys(providers)));
});

describe.each(providerServers)('$name', (server) => {
  test('submits a structured answer in the way that the server supports, and keeps to it', async () => {
    const { model, stand } = await start(server, (asked) => submitAs(server, asked, answer));
    expect(findAnswer(await model.call(submit), tool)).toEqual(answer);
    const first = stand.asked.length;
    expect(findAnswer(await model.call(submit), tool)).toEqual(answer);
    expect(stand.asked.length - first).toBe(1);
  });

  test('calls a tool, reads its result, and submits in the same conversation', async () => {
    const { model, stand } = await start(server, (asked, nth) =>
      nth === 1 ? { calls: [{ name: 'lookup', input: { key: 'A7' } }] } : submitAs(server, asked, answer),
    );
    const request = { ...question, tools: [lookup, tool], answerTool: tool.name };
    const first = await model.call(request);
    expect(first.toolCalls).toMatchObject([{ name: 'lookup', input: { key: 'A7' } }]);
    const { id, name } = first.toolCalls[0]!;
    const messages = [...question.messages, ...first.messages, toolResult(id, name, 'the value is 41')];
    const second = await model.call({ ...request, messages, forcedTool: tool.name });
    expect(findAnswer(second, tool)).toEqual(answer);
    expect(stand.asked.at(-1)!.raw).toContain('the value is 41');
  });

  test.skipIf(!server.noTools)('submits an answer where the model cannot call tools', async () => {
    const { model, stand } = await start(server, withoutTools(server));
    const request = { ...question, tools: [lookup, tool], answerTool: tool.name };
    expect(findAnswer(await model.call(request), tool)).toEqual(answer);
    const first = stand.asked.length;
    await model.call(request);
    expect(stand.asked.length - first).toBe(1);
  });

  test.skipIf(!server.noTools)('says that the model has no tools where nothing else is of use', async () => {
    const { model } = await start(server, () => server.noTools!);
    const request = { ...question, tools: [lookup, { ...lookup, name: 'other' }] };
    await expect(model.call(request)).rejects.toMatchObject({ failure: { kind: 'model_no_tools', retryable: false } });
  });

  test('says which setting helps against an answer that is cut', async () => {
    const cut = JSON.stringify(answer).slice(0, 40);
    const usage = { input: 100, output: 500 };
    const { model } = await start(server, ({ forced, tools }) =>
      forced !== undefined && tools.includes(forced)
        ? { calls: [{ name: forced, input: {}, raw: cut }], end: 'length', usage }
        : { text: cut, end: 'length', usage },
    );
    const message = expect.stringContaining('maxOutputTokens');
    const failure = { failure: { kind: 'model_truncated', message }, tokens: usage };
    await expect(model.call({ ...question, tools: [] })).rejects.toMatchObject(failure);
    // Gemini sends calls whole, so that none is cut.
    if (server.protocol !== 'gemini') await expect(model.call(submit)).rejects.toMatchObject(failure);
    const full = { text: 'no', end: 'length' as const, usage: { input: 4000, output: 96 } };
    const { model: small } = await start(server, () => full);
    await expect(small.call({ ...question, tools: [] })).rejects.toMatchObject({
      failure: { kind: 'model_truncated', message: expect.stringContaining('contextTokens') },
    });
  });

  test('repeats a call that the server is too busy for', async () => {
    const { model, stand } = await start(server, (asked, nth) =>
      nth <= 2 ? server.rateLimited : submitAs(server, asked, answer),
    );
    const { text } = await model.call({ ...question, tools: [] });
    expect(text).not.toBe('');
    expect(stand.asked).toHaveLength(3);
  });

  test.skipIf(!server.tooLong)('recognizes a prompt that is too long, and does not repeat it', async () => {
    const { model, stand } = await start(server, () => server.tooLong!);
    await expect(model.call(submit)).rejects.toMatchObject({
      failure: { kind: 'model_context_too_small', retryable: false, message: expect.stringContaining('contextTokens') },
      pauses: false,
    });
    expect(stand.asked).toHaveLength(1);
  });

  test('recognizes a refusal', async () => {
    const { model } = await start(server, () => ({ refuse: true }));
    await expect(model.call(submit)).rejects.toMatchObject({ failure: { kind: 'model_refused' } });
  });

  test.skipIf(!server.reportsCache)('counts the tokens that the provider read from its cache', async () => {
    const { model } = await start(server, () => ({ text: 'ok', usage: { input: 100, output: 5, cached: 64 } }));
    const { tokens } = await model.call({ ...question, tools: [] });
    expect(tokens).toEqual({ input: 100, output: 5, cached: 64 });
  });

  test.skipIf(server.protocol !== 'openai-chat')('reads responses of a server that does not stream', async () => {
    const { model, stand } = await start(server, (asked) => ({ document: submitAs(server, asked, answer) as object }));
    expect(findAnswer(await model.call(submit), tool)).toEqual(answer);
    const first = stand.asked.length;
    await model.call(submit);
    expect(stand.asked.slice(first).map(({ body }) => body['stream'] ?? false)).toEqual([false]);
  });

  test('sends the reasoning effort of the alias', async () => {
    const { model, stand } = await start(server, () => ({ text: 'ok' }), {
      model:
        { anthropic: 'claude-sonnet-4-5', bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0' }[server.name] ??
        'gpt-5',
      maxOutputTokens: 8000,
      reasoningEffort: 'high',
    });
    await model.call({ ...question, tools: [] });
    expect(stand.asked[0]!.raw).toMatch(/effort|thinking|reasoning/i);
  });
});
