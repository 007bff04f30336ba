import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { runCommand } from '../../../test/support/run-command.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { createScriptedModels } from '../../../test/support/models/scripted-models.ts';
import { startModelStandIn } from '../../../test/support/models/model-stand-in.ts';
import { raiseHits } from '../../../test/support/browser/raise-hits.ts';
import { executeDueRuns } from '../../detection/runs/workers/run-loops.ts';

const stand = await startModelStandIn('anthropic');
const started = await startApp();
const { app, deps, newOrg } = started;
deps.models = createScriptedModels({ m: stand.url }, { verifyClaims: false });
const service = await app.listen({ port: 0, host: '127.0.0.1' });
const org = await newOrg();
const tocsin = (...args: string[]) => runCommand(args, { TOCSIN_URL: service, TOCSIN_API_KEY: org.key });

/** Executes runs as the workers do, until a command ends. */
async function whileWorking<T>(command: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const ended = command.finally(() => (state.isOver = true));
  while (!state.isOver) await executeDueRuns(deps, deps.clock(), { skipWaiting: true });
  return ended;
}

const submission = {
  claims: [
    {
      text: 'The user is "ada".',
      kind: 'fact',
      cites: [{ observation: 'rows', rowId: 'inputs', field: 'user', value: 'ada' }],
    },
    { text: 'The host is "db-1".', kind: 'fact', cites: [] },
  ],
  techniques: [],
  nextSteps: ['Who asked for it?'],
  headline: 'The user is "ada".',
  verdict: 'undecided',
  severity: 'none',
  confidence: 50,
};

test('lists, adds and updates the agents that ship with the service', async () => {
  const story = 'story: ships with the service, not added\n';
  expect(await tocsin('agents', 'list')).toEqual({
    code: 0,
    out: `${story}triage: ships with the service, not added\n`,
  });
  expect(await tocsin('agents', 'update')).toEqual({ code: 0, out: 'No shipped agent was added.\n' });
  const wrong = await tocsin('agents', 'add', 'triage', '--model', 'gone');
  expect(wrong).toMatchObject({ code: 1, out: expect.stringContaining('"gone"') });
  const limit = await tocsin('agents', 'add', 'triage', '--model', 'm', '--runs-per-hour', '0');
  expect(limit).toMatchObject({ code: 2, out: expect.stringContaining('--runs-per-hour: ') });
  const added = await tocsin('agents', 'add', 'triage', '--model', 'm', '--severity', 'high', '--disabled');
  const [, id] = /^added {2}triage: (\S+)\n$/.exec(added.out)!;
  const { out } = await tocsin('agents', 'list');
  expect(out).toBe(`${id}  Triage  model m  hit.created (disabled)\n${story}triage: added as ${id}\n`);
  const { triggers } = await callOk(org, 'GET', `/api/agents/${id}/triggers`);
  expect(triggers).toMatchObject([{ filter: { severity: 'high' } }]);
  expect(await tocsin('agents', 'update', 'triage')).toEqual({ code: 0, out: 'unchanged  triage\n' });
});

test('runs an agent with inputs of their types, waits, and prints the verdict', async () => {
  stand.think(() => ({ calls: [{ name: 'submit_verdict', input: submission }] }));
  const inputs = [
    { type: 'text', name: 'user', description: '', required: true },
    { type: 'number', name: 'hours', description: '', required: false },
    { type: 'boolean', name: 'strict', description: '', required: false },
  ];
  const agent = { name: 'Look', systemPrompt: 'Look.', modelAlias: 'm', planningMode: 'never', toolNames: [], inputs };
  const { id } = await callOk(org, 'POST', '/api/agents', agent);
  expect(await tocsin('agents', 'run', 'Loo')).toMatchObject({ code: 2, out: expect.stringContaining('mean Look?') });
  for (const [argument, message] of [
    ['hours=2', '--input user: The input "user" is required.'],
    ['user', '--input needs NAME=VALUE'],
    ['nobody=1', '--input nobody: There is no input named "nobody".'],
  ] as const)
    expect(await tocsin('agents', 'run', 'Look', '--input', argument)).toMatchObject({
      code: 2,
      out: expect.stringContaining(message),
    });
  const given = ['--input', 'user=ada', '--input', 'hours=2', '--input', 'strict=true', '--question', 'Who else?'];
  expect(await tocsin('agents', 'run', id, ...given, '--wait', '0')).toEqual({
    code: 0,
    out: expect.stringMatching(/^run \S+: queued\n$/),
  });
  const { code, out } = await whileWorking(tocsin('agents', 'run', 'Look', ...given));
  expect(code).toBe(0);
  expect(out.replace(/^run \S+:/, 'run:')).toMatch(
    /^run: completed, undecided with confidence \d+.*\nThe user is "ada"\.\n {2}cited: The user is "ada"\.\n {2}unproven: The host is "db-1"\. \(.*it cites nothing.*\)\nopen: Who asked for it\?\n$/,
  );
  const { runs } = await callOk(org, 'GET', `/api/agents/${id}/runs`);
  expect(runs.map(({ outcome }: { outcome: { event: object } }) => outcome.event)).toMatchObject([
    { inputs: { user: 'ada', hours: 2, strict: true } },
    { inputs: { user: 'ada', hours: 2, strict: true } },
  ]);
  // A run that fails says why.
  stand.think(() => ({ status: 401 }));
  expect(await whileWorking(tocsin('agents', 'run', 'Look', '--input', 'user=ada'))).toMatchObject({
    code: 1,
    out: expect.stringMatching(/: failed\n.*key/s),
  });
});

test('prints the hits of a severity and a detection as they are raised, until Ctrl-C', async () => {
  const watched = await newOrg();
  const env = { TOCSIN_URL: service, TOCSIN_API_KEY: watched.key };
  const tail = async (untilRead: () => Promise<unknown>, ...args: string[]) => {
    const others = process.listeners('SIGINT');
    const { promise: ended, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof runCommand>>>();
    void runCommand(['tail', ...args], env).then(resolve);
    const select = selectIn(deps.db, watched.id);
    await expect
      .poll(() => select`select 1 from organizations where listening_until > now()`)
      .toEqual([expect.anything()]);
    await raiseHits(started, watched, ['ada']);
    await untilRead();
    // Only what the command itself listens with: a browser of another test in this process would end the process.
    for (const listener of process.listeners('SIGINT')) if (!others.includes(listener)) listener('SIGINT');
    return ended;
  };
  const untilPrinted = () => expect.poll(() => vi.mocked(console.log).mock.calls).toHaveLength(1);
  const { code, out } = await tail(untilPrinted, '--severity', 'high', '--detection', 'Sign-in with a tool');
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^20\S+Z {2}high {2}Sign-in with a tool {2}ada {2}.* {2}\S*\/console\/hits\/\S+\n$/),
  ]);
  expect(await tail(() => setTimeout(1_500), '--severity', 'critical')).toEqual({ code: 0, out: '' });
  const [wrong, refused] = [
    await runCommand(['tail', '--severity', 'huge'], env),
    await runCommand(['tail'], { ...env, TOCSIN_API_KEY: 'x'.repeat(40) }),
  ];
  expect([wrong.code, refused.code]).toEqual([2, 1]);
  expect(wrong.out).toContain('--severity must be one of none, low, medium, high, critical, not "huge".');
  expect(refused.out).toContain('rejects the API key in TOCSIN_API_KEY');
});
