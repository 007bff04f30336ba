import { expect, test } from 'vitest';
import type { ModelBrain } from '../../../../test/support/models/model-stand-in.ts';
import { verdictSchema } from '../../detections/record/field-schemas.ts';
import { judgeEntity } from './judge-entity.ts';
import { createVerdictOutput } from './verdict-output.ts';
import {
  call,
  failureOf,
  inTurn,
  protocols,
  startJudging,
  submit,
  verdict,
} from '../../../../test/support/detection/judging-task.ts';

test.each(protocols)('%s: runs streamed tool calls and returns a verdict', async (protocol) => {
  const calls = [{ limit: 5 }, { contains: 'NO' }].map((input) => ({ name: 'get_rows', input }));
  const { stand, steps, task } = await startJudging(protocol, inTurn({ text: 'I look.', calls }), {
    tools: ['get_rows'],
  });
  expect(await judgeEntity(task)).toEqual({
    ...verdict,
    trace: { repaired: false, recited: false, toolCalls: 2, toolFaults: 0, instructions: 0 },
  });
  expect(stand.asked).toHaveLength(2);
  expect(stand.asked[0]!.tools).toEqual(['get_rows', 'submit_verdict']);
  expect(stand.asked[0]!.system).toContain('Judge it.');
  expect(stand.asked[1]!.raw).toContain('ConsoleLogin');
  expect(steps.map(({ kind }) => kind)).toEqual(['call', 'tool', 'tool', 'call']);
  expect(steps[0]).toMatchObject({ tokens: { input: 100, output: 20 }, costUsd: 0.002, text: 'I look.' });
  expect(steps[1]!.tool!.output).toContain('ConsoleLogin');
});

test.each(protocols)('%s: asks once to repair an invalid verdict and fails on the second', async (protocol) => {
  const { confidence: _, ...partial } = verdict;
  const good = await startJudging(protocol, inTurn(submit(partial)));
  expect(await judgeEntity(good.task)).toMatchObject({ confidence: 80, trace: { repaired: true } });
  expect(good.stand.asked[1]!.forced).toBe('submit_verdict');
  expect(good.stand.asked[1]!.raw).toContain('confidence');
  const bad = await startJudging(protocol, () => submit(partial));
  expect(await failureOf(judgeEntity(bad.task))).toMatchObject({
    kind: 'invalid_verdict',
    blame: 'upstream',
    retryable: false,
  });
  expect(bad.stand.asked).toHaveLength(2);
});

test.each(protocols)(
  '%s: reports malformed arguments to the model and repairs malformed verdicts',
  async (protocol) => {
    const brain = inTurn(
      { calls: [{ name: 'get_rows', input: null, raw: '{"limit": 5' }] },
      { calls: [{ name: 'submit_verdict', input: null, raw: '{"entity": "ro' }] },
    );
    const { task, stand } = await startJudging(protocol, brain, { tools: ['get_rows'] });
    expect(await judgeEntity(task)).toMatchObject({ triggered: true, trace: { repaired: true, toolFaults: 1 } });
    expect(stand.asked).toHaveLength(3);
  },
);

test.each(protocols)('%s: reports a failure with the right blame', async (protocol) => {
  const { stand, task } = await startJudging(protocol, () => ({ status: 500 }), { timeoutSeconds: 1 });
  const cases: [ModelBrain, Record<string, unknown>][] = [
    [() => ({ status: 500 }), { kind: 'model_unavailable', blame: 'upstream', retryable: true }],
    [
      () => ({ status: 429, headers: { 'retry-after': '1' } }),
      { kind: 'model_rate_limited', blame: 'upstream', retryable: true },
    ],
    [() => ({ status: 401 }), { kind: 'model_refused_key', blame: 'upstream', retryable: false }],
    [() => ({ status: 404 }), { kind: 'model_unknown', retryable: false }],
    [() => ({ status: 400 }), { kind: 'model_bad_request', retryable: false }],
    [() => ({ refuse: true }), { kind: 'model_refused', blame: 'upstream', retryable: false }],
    [() => ({ cut: 'before' }), { kind: 'model_unavailable', retryable: true }],
    [() => ({ cut: 'within' }), { kind: 'model_unavailable', retryable: true }],
    [() => ({ garbage: true }), { kind: 'model_unavailable', retryable: true }],
    [() => ({ hang: true }), { kind: 'model_timeout', blame: 'upstream', retryable: true }],
    [() => ({ status: 307, headers: { location: 'http://127.0.0.1:9/steal' } }), { kind: 'model_unavailable' }],
  ];
  for (const [brain, expected] of cases) {
    stand.think(brain);
    const failure = await failureOf(judgeEntity(task));
    expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure)).not.toContain('secret-key');
    expect(JSON.stringify(failure)).not.toContain('ConsoleLogin');
  }
});

test.each(protocols)('%s: asks for the reasoning before the conclusion, and keeps that order', async (protocol) => {
  const { task, stand } = await startJudging(protocol, () =>
    submit({ reasoning: 'It signed in at night.', ...verdict }),
  );
  expect(await judgeEntity(task)).not.toHaveProperty('reasoning');
  const schema = stand.asked[0]!.raw.slice(stand.asked[0]!.raw.indexOf('"reasoning"'));
  const order = ['reasoning', 'evidence', 'summary', 'triggered', 'severity', 'confidence'];
  const positions = order.map((name) => schema.indexOf(`"${name}":{`));
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  expect(positions.every((position) => position >= 0)).toBe(true);
});

test('keeps the delimiter, the entity and the instructions of the run out of the system prompt', async () => {
  const { task, stand } = await startJudging('anthropic', () => submit(), { customInstructions: 'Look twice.' });
  await judgeEntity(task);
  await judgeEntity(task);
  const [first, second] = stand.asked;
  expect(first!.system).toBe(second!.system);
  expect(first!.system).not.toMatch(/data-[0-9a-f]+|Look twice|root signed|e1/);
  expect(first!.turns[0]!.text).toMatch(/^In this case, text between <data-[0-9a-f]+>[\s\S]*Look twice\./);
  expect(first!.body['system']).toMatchObject([{ cache_control: { type: 'ephemeral' } }]);
});

test('accepts a verdict in the text and estimates tokens that the provider does not report', async () => {
  const { task, steps } = await startJudging('compatible', () => ({
    text: `Here it is:\n\`\`\`json\n${JSON.stringify(verdict)}\n\`\`\``,
    usage: null,
  }));
  expect(await judgeEntity(task)).toMatchObject({ triggered: true });
  expect(steps[0]!.tokens.input).toBeGreaterThan(100);
});

test('refuses tools that the detection does not list', async () => {
  const calls = [
    { name: 'search_siem', input: { query: 'everything' } },
    { name: 'http_get', input: { values: {} } },
  ];
  const { task, steps } = await startJudging('anthropic', inTurn({ calls }), { tools: ['get_rows'] });
  expect(await judgeEntity(task)).toMatchObject({ trace: { toolCalls: 2, toolFaults: 2 } });
  expect(steps.filter(({ kind }) => kind === 'tool').map(({ tool }) => [tool!.failed, tool!.output])).toEqual([
    [true, 'This tool is not allowed.'],
    [true, 'This tool is not allowed.'],
  ]);
});

test('plans first in mode always, and lets the model plan in mode auto', async () => {
  const always = await startJudging('openai-chat', inTurn({ text: 'First the rows.' }), { planningMode: 'always' });
  await judgeEntity(always.task);
  expect(always.steps.map(({ kind, text }) => [kind, text])).toEqual([
    ['plan', 'First the rows.'],
    ['call', ''],
  ]);
  expect(always.stand.asked[0]!.tools).toEqual([]);
  const auto = await startJudging('anthropic', inTurn(call('write_plan', { plan: 'rows' })), { planningMode: 'auto' });
  await judgeEntity(auto.task);
  expect(auto.steps.map(({ kind }) => kind)).toEqual(['call', 'plan', 'call']);
});

test('simulates sending tools in the sandbox', async () => {
  const brain = inTurn(call('http_get', { values: { entity: 'root' } }));
  const { task, steps } = await startJudging('openai-chat', brain, { tools: ['http_get'], mode: 'sandbox' });
  await judgeEntity(task);
  expect(steps[1]!.tool).toMatchObject({ simulated: true, failed: false });
});

test('forces a verdict in the last step and fails when the step budget is used up', async () => {
  const { task, stand } = await startJudging('openai-chat', () => call('get_rows', {}), {
    tools: ['get_rows'],
    stepsMax: 3,
  });
  expect(await failureOf(judgeEntity(task))).toMatchObject({ kind: 'too_many_steps', retryable: false });
  expect(stand.asked.slice(0, 3).map(({ forced }) => forced)).toEqual([undefined, undefined, 'submit_verdict']);
});

test('aborts a hanging call with the reason of the signal', async () => {
  const { task, controller } = await startJudging('anthropic', () => ({ hang: true }));
  const judging = judgeEntity(task);
  setTimeout(() => controller.abort('cancelled'), 50);
  await expect(judging).rejects.toBe('cancelled');
});

test("requires and validates the author's output beside the verdict, without display keywords", async () => {
  const own = {
    type: 'object',
    'x-order': ['a'],
    properties: { 'x-level': { type: 'integer', 'x-widget': 'slider' } },
    required: ['x-level'],
    additionalProperties: false,
  };
  const { task, stand } = await startJudging(
    'openai-chat',
    (_asked, nth) => submit({ verdict, output: nth === 1 ? { 'x-level': 'high' } : { 'x-level': 3 } }),
    { own },
  );
  expect(await judgeEntity(task)).toMatchObject({ triggered: true, output: { 'x-level': 3 } });
  expect(stand.asked[0]!.raw).not.toContain('x-widget');
  expect(stand.asked[0]!.raw).not.toContain('x-order');
  expect(stand.asked[0]!.raw).toContain('"x-level"');
  expect(() => createVerdictOutput(verdictSchema, { type: 'nonsense' })).toThrow(
    'structuredOutputSchema cannot be used',
  );
});
