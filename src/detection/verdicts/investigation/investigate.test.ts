import { expect, test } from 'vitest';
import type { ModelBrain } from '../../../../test/support/models/model-stand-in.ts';
import type { BoundTool } from '../../tools/tool-definition.ts';
import type { Observation } from '../observation.ts';
import { createResult, toRow } from '../../tools/tool-result.ts';
import { investigate } from './investigate.ts';
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
  expect(await investigate(task)).toMatchObject({
    submission: { ...verdict, claims: [{ text: 'root signed in from NO.' }] },
    checks: [{ claim: { status: 'cited' } }],
    // Rows of the case are cited as `rows`.
    observations: [],
    trace: { questions: [], hasTools: true, isRepaired: false, toolCalls: 2, wasted: 0, submitted: 'raise' },
  });
  expect(stand.asked).toHaveLength(2);
  expect(stand.asked[0]!.tools).toEqual(['get_rows', 'submit_verdict']);
  expect(stand.asked[0]!.system).toContain('Judge it.');
  expect(stand.asked[1]!.raw).toContain('ConsoleLogin');
  expect(steps.map(({ kind }) => kind)).toEqual(['call', 'tool', 'tool', 'call']);
  expect(steps[0]).toMatchObject({ tokens: { input: 100, output: 20 }, costUsd: 0.002, text: 'I look.' });
  expect(steps[1]!.tool!.output).toContain('ConsoleLogin');
  expect(steps[1]!.tool!.output).toContain('"observation":"rows"');
});

test.each(protocols)('%s: asks once to repair an invalid verdict and fails on the second', async (protocol) => {
  const { confidence: _, ...partial } = verdict;
  const good = await startJudging(protocol, inTurn(submit(partial)));
  expect(await investigate(good.task)).toMatchObject({ submission: { confidence: 80 }, trace: { isRepaired: true } });
  expect(good.stand.asked[1]!.forced).toBe('submit_verdict');
  expect(good.stand.asked[1]!.raw).toContain('confidence');
  const bad = await startJudging(protocol, () => submit(partial));
  const failure = { kind: 'invalid_verdict', blame: 'upstream', retryable: false };
  expect(await failureOf(investigate(bad.task))).toMatchObject(failure);
  expect(bad.stand.asked).toHaveLength(2);
});

test.each(protocols)('%s: reports malformed arguments to the model and repairs bad verdicts', async (protocol) => {
  const brain = inTurn(
    { calls: [{ name: 'get_rows', input: null, raw: '{"limit": 5' }] },
    { calls: [{ name: 'submit_verdict', input: null, raw: '{"entity": "ro' }] },
  );
  const { task, stand } = await startJudging(protocol, brain, { tools: ['get_rows'] });
  const expected = { submission: { verdict: 'raise' }, trace: { isRepaired: true, wasted: 1 } };
  expect(await investigate(task)).toMatchObject(expected);
  expect(stand.asked).toHaveLength(3);
});

test.each(protocols)('%s: reports a failure with the right blame', async (protocol) => {
  const { stand, task } = await startJudging(protocol, () => ({ status: 500 }), { timeoutSeconds: 1 });
  const upstream = { blame: 'upstream', retryable: true };
  const cases: [ModelBrain, Record<string, unknown>][] = [
    [() => ({ status: 500 }), { ...upstream, kind: 'model_unavailable' }],
    [() => ({ status: 429, headers: { 'retry-after': '1' } }), { ...upstream, kind: 'model_rate_limited' }],
    [() => ({ status: 401 }), { kind: 'model_refused_key', blame: 'upstream', retryable: false }],
    [() => ({ status: 404 }), { kind: 'model_unknown', retryable: false }],
    [() => ({ status: 400 }), { kind: 'model_bad_request', retryable: false }],
    [() => ({ refuse: true }), { kind: 'model_refused', blame: 'upstream', retryable: false }],
    [() => ({ cut: 'before' }), { kind: 'model_unavailable', retryable: true }],
    [() => ({ cut: 'within' }), { kind: 'model_unavailable', retryable: true }],
    [() => ({ garbage: true }), { kind: 'model_unavailable', retryable: true }],
    [() => ({ hang: true }), { ...upstream, kind: 'model_timeout' }],
    [() => ({ status: 307, headers: { location: 'http://127.0.0.1:9/steal' } }), { kind: 'model_unavailable' }],
  ];
  for (const [brain, expected] of cases) {
    stand.think(brain);
    const failure = await failureOf(investigate(task));
    expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure)).not.toContain('secret-key');
    expect(JSON.stringify(failure)).not.toContain('ConsoleLogin');
  }
});

test.each(protocols)('%s: asks for the reasoning before the conclusion, and keeps that order', async (protocol) => {
  const reasoned = { reasoning: 'It signed in at night.', ...verdict };
  const { task, stand } = await startJudging(protocol, () => submit(reasoned));
  expect((await investigate(task)).submission).not.toHaveProperty('reasoning');
  const schema = stand.asked[0]!.raw.slice(stand.asked[0]!.raw.indexOf('"reasoning"'));
  const order = ['reasoning', 'claims', 'verdict', 'severity', 'confidence'];
  const positions = order.map((name) => schema.indexOf(`"${name}":{`));
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  expect(positions.every((position) => position >= 0)).toBe(true);
});

test('keeps the delimiter, the entity and the instructions of the run out of the system prompt', async () => {
  const { task, stand } = await startJudging('anthropic', () => submit(), { customInstructions: 'Look twice.' });
  await investigate(task);
  await investigate(task);
  const [first, second] = stand.asked;
  expect(first!.system).toBe(second!.system);
  expect(first!.system).not.toMatch(/data-[0-9a-f]+|Look twice|root signed|e1/);
  expect(first!.turns[0]!.text).toMatch(/^In this case, text between <data-[0-9a-f]+>[\s\S]*Look twice\./);
  expect(first!.body['system']).toMatchObject([{ cache_control: { type: 'ephemeral' } }]);
});

test('accepts a verdict in the text and estimates tokens that the provider does not report', async () => {
  const text = `Here it is:\n\`\`\`json\n${JSON.stringify(verdict)}\n\`\`\``;
  const { task, steps } = await startJudging('compatible', () => ({ text, usage: null }));
  expect((await investigate(task)).submission).toMatchObject({ verdict: 'raise' });
  expect(steps[0]!.tokens.input).toBeGreaterThan(100);
});

test('refuses tools that the detection does not list', async () => {
  const calls = [...call('search_siem', { query: 'everything' }).calls, ...call('http_get', { values: {} }).calls];
  const { task, steps } = await startJudging('anthropic', inTurn({ calls }), { tools: ['get_rows'] });
  expect(await investigate(task)).toMatchObject({ observations: [], trace: { toolCalls: 2, wasted: 2 } });
  const refused = { failed: true, output: 'This tool is not allowed.' };
  expect(steps.flatMap(({ tool }) => tool ?? [])).toMatchObject([refused, refused]);
});

const questions = [
  { question: 'Who else came from NO?', data: 'sign-ins' },
  { question: 'Was it a service?', data: 'processes' },
  { question: 'Who owns it?', data: 'nothing' },
];
const answers = [
  ...questions.map(({ question }, n) => ({ question, observation: `o${n + 1}` })),
  { question: 'A question of no plan', observation: 'o1' },
];

test('records a plan first in mode always, and which of its questions an observation answered', async () => {
  const brain = inTurn(call('write_plan', { questions }), look(1, 2), submit({ ...verdict, answers }));
  const { task, stand, steps } = await startJudging('openai-chat', brain, { planningMode: 'always' });
  const run = (n: number) => Promise.resolve({ rows: n === 1 ? [toRow('r1', { n })] : [] });
  const { trace, observations } = await investigate({ ...task, tools: [lookingTool(run)] });
  expect(stand.asked[0]).toMatchObject({ tools: ['write_plan'], forced: 'write_plan' });
  expect(stand.asked[1]!.tools).toEqual(['look', 'submit_verdict']);
  expect(steps.map(({ kind }) => kind)).toEqual(['plan', 'call', 'tool', 'tool', 'call']);
  expect(observations.map(({ id, total }) => `${id} ${total}`)).toEqual(['o1 1', 'o2 0']);
  // An empty result answers nothing where nobody knows whether there were data.
  expect(trace.questions.map(({ observation }) => observation)).toEqual(['o1', null, null]);
});

test.each([
  [true, 'o1'],
  [null, null],
])('counts a result without rows as an answer only where data are known to exist: %s', async (hasEvents, answered) => {
  const plan = call('write_plan', { questions: questions.slice(0, 1) });
  const brain = inTurn(plan, look(1), submit({ ...verdict, answers }));
  const { task } = await startJudging('anthropic', brain, { planningMode: 'always' });
  const tools = [lookingTool(() => Promise.resolve({ rows: [], hasEvents }))];
  expect((await investigate({ ...task, tools })).trace.questions).toMatchObject([{ observation: answered }]);
});

test('lets the model plan in mode auto, and never offers a plan in mode never', async () => {
  const brain = inTurn(call('write_plan', { questions }), submit({ ...verdict, answers }));
  const auto = await startJudging('anthropic', brain, { planningMode: 'auto' });
  expect((await investigate(auto.task)).trace.questions).toHaveLength(3);
  expect(auto.stand.asked[0]!.tools).toEqual(['submit_verdict', 'write_plan']);
  expect(auto.steps.map(({ kind }) => kind)).toEqual(['call', 'call']);
  const never = await startJudging('anthropic', inTurn(submit()), { planningMode: 'never' });
  await investigate(never.task);
  expect(never.stand.asked[0]!.tools).toEqual(['submit_verdict']);
});

/** A tool that takes a number. */
const lookingTool = (run: (n: number) => Promise<Record<string, unknown>>): BoundTool => ({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
  effect: 'read',
  source: 'events',
  isTrusted: false,
  parse: (input) => ({ input }),
  run: async (input) => {
    const found = await run((input as { n: number }).n);
    return createResult('rows' in found ? found : { rows: [toRow('1', found)] });
  },
});
const listFound = (observations: readonly Observation[]): string[] =>
  observations.map(({ id, rows }) => `${id} ${rows[0]!.fields['n']}`);
const look = (...numbers: number[]) => ({ calls: numbers.map((n) => ({ name: 'look', input: { n } })) });

test('runs the calls of a step side by side, lets more than five wait, and numbers observations like the calls', async () => {
  const { task, stand } = await startJudging('anthropic', inTurn(look(1, 2, 3, 4, 5, 6, 7)));
  let active = 0;
  let mostActive = 0;
  const run = async (n: number) => {
    mostActive = Math.max(mostActive, ++active);
    // Later ones answer sooner.
    for (let i = 10 - n; i > 0; i--) await new Promise(setImmediate);
    active -= 1;
    return { n: n * 11 };
  };
  const { observations, trace } = await investigate({ ...task, tools: [lookingTool(run)] });
  expect(mostActive).toBe(5);
  expect(listFound(observations)).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => `o${n} ${n * 11}`));
  expect(trace).toMatchObject({ toolCalls: 7, wasted: 0 });
  expect(stand.asked[1]!.raw).toContain('77');
});

test('gives every observation its own ID, also after calls that found nothing', async () => {
  const { task } = await startJudging('anthropic', inTurn(look(0, 1), look(2)));
  const run = (n: number) => (n === 0 ? Promise.reject(new Error('nothing there')) : Promise.resolve({ n }));
  const { observations } = await investigate({ ...task, tools: [lookingTool(run)] });
  expect(listFound(observations)).toEqual(['o2 1', 'o3 2']);
});

test('counts repeated and refused calls as wasted, failed ones not', async () => {
  const again = { calls: [...look(1, 2).calls, ...call('steal', {}).calls] };
  const { task, steps } = await startJudging('anthropic', inTurn(look(1), again));
  const run = (n: number) => (n === 2 ? Promise.reject(new Error('no such column')) : Promise.resolve({ n }));
  expect((await investigate({ ...task, tools: [lookingTool(run)] })).trace).toMatchObject({ toolCalls: 4, wasted: 2 });
  const failed = steps.flatMap(({ tool }) => (tool?.failed === true ? [tool.output] : []));
  expect(failed).toEqual([expect.stringContaining('failed: no such column'), 'This tool is not allowed.']);
});

const unproven = { ...verdict, claims: [{ text: 'root deleted the trail.', kind: 'fact', cites: [] }] };

test('sends a raise without proof back once, with cells that can be cited', async () => {
  const repaired = await startJudging('anthropic', inTurn(submit(unproven)));
  expect(await investigate(repaired.task)).toMatchObject({
    checks: [{ claim: { status: 'cited' } }],
    trace: { isRepaired: true, submitted: 'raise' },
  });
  const { turns, forced } = repaired.stand.asked[1]!;
  expect(forced).toBe('submit_verdict');
  expect(turns.at(-1)!.text).toMatch(/No claim[\s\S]*it cites nothing[\s\S]*"field":"action","value":"ConsoleLogin"/);

  const stays = await startJudging('anthropic', () => submit(unproven));
  expect(await investigate(stays.task)).toMatchObject({ checks: [{ claim: { status: 'unproven' } }] });
  expect(stays.stand.asked).toHaveLength(2);
});

test.each(['dismiss', 'undecided'])('asks for no repair of a verdict %s without proof', async (conclusion) => {
  const { task, stand } = await startJudging('anthropic', () => submit({ ...unproven, verdict: conclusion }));
  const trace = { isRepaired: false, submitted: conclusion };
  expect(await investigate(task)).toMatchObject({ submission: { verdict: conclusion }, trace });
  expect(stand.asked).toHaveLength(1);
});

test('lets a verifier see each claim with its cited cells alone', async () => {
  const second = { text: 'The sign-in came from NO.', kind: 'fact', cites: [verdict.claims[0]!.cites[1]] };
  const both = { ...verdict, claims: [...verdict.claims, second] };
  const { task, stand } = await startJudging('anthropic', () => submit(both), { isVerifierOn: true });
  const answerTo = (text: string): string => (text.includes('ConsoleLogin') ? 'supported' : 'contradicted');
  stand.check(({ raw }) => call('answer', { reason: 'Not so.', answer: answerTo(raw) }));
  const { checks } = await investigate(task);
  const refuted = { status: 'unproven', reason: 'what it cites says otherwise: Not so.' };
  expect(checks).toMatchObject([{ claim: { status: 'supported', reason: null } }, { claim: refuted }]);
  expect(stand.checked).toHaveLength(2);
  for (const { raw, turns } of stand.checked) {
    expect(turns).toHaveLength(1);
    expect(raw).not.toContain('Judge it.');
  }
});

test('simulates sending tools in the sandbox', async () => {
  const brain = inTurn(call('http_get', { values: { entity: 'root' } }));
  const { task, steps } = await startJudging('openai-chat', brain, { tools: ['http_get'], mode: 'sandbox' });
  await investigate(task);
  expect(steps[1]!.tool).toMatchObject({ simulated: true, failed: false });
});

test('forces a verdict in the last step and fails when the step budget is used up', async () => {
  const limits = { tools: ['get_rows'], stepsMax: 3 };
  const { task, stand } = await startJudging('openai-chat', () => call('get_rows', {}), limits);
  expect(await failureOf(investigate(task))).toMatchObject({ kind: 'too_many_steps', retryable: false });
  expect(stand.asked.slice(0, 3).map(({ forced }) => forced)).toEqual([undefined, undefined, 'submit_verdict']);
});

test('aborts a hanging call with the reason of the signal', async () => {
  const { task, controller } = await startJudging('anthropic', () => ({ hang: true }));
  const judging = investigate(task);
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
  const brain: ModelBrain = (_asked, nth) => submit({ verdict, output: { 'x-level': nth === 1 ? 'high' : 3 } });
  const { task, stand } = await startJudging('openai-chat', brain, { own });
  expect((await investigate(task)).submission).toMatchObject({ verdict: 'raise', output: { 'x-level': 3 } });
  expect(stand.asked[0]!.raw).not.toMatch(/x-widget|x-order/);
  expect(stand.asked[0]!.raw).toContain('"x-level"');
});
