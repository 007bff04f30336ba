import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { judge, startResponses, trigger } from '../../../../test/support/detection/response-runs.ts';
import { hour } from '../../../../test/support/detection/scripted-runs.ts';
import type { ModelTool } from '../../../platform/models/model-request.ts';
import { dismissalOn, runbook, verdictOn } from '../../../../test/support/detection/judged-runs.ts';
import type { ModelBrain } from '../../../../test/support/models/model-stand-in.ts';
import { createTrigger } from '../../response-agents/agent-triggers.ts';
import { grantTool } from '../../detections/tool-grants/tool-grants.ts';
import { getComments } from '../../hits/hit-comments.ts';
import { getHit } from '../../hits/read-hits.ts';
import { approveCall, declineCall, getCalls } from './agent-calls.ts';
import { requestResponse } from '../request-run.ts';

const testDb = await testDatabase();
const never = new AbortController().signal;

test('a run comments what it proved on its hit, and a person approves the status that it proposes', async () => {
  const { t, deps, agent } = await startResponses(testDb, ['root', 'bob']);
  await createTrigger(deps, t.caller, agent.id, trigger);
  await t.runAt(hour(1));
  const { calls } = await getCalls(deps, t.caller, { state: 'waiting' });
  expect(calls).toMatchObject([
    { tool: 'set_hit_status', agentName: agent.name },
    { input: { status: 'true_positive' } },
  ]);
  const [first, second] = calls as [(typeof calls)[0], (typeof calls)[0]];
  const hitId = first.hitId!;
  const { comments } = await getComments(deps, t.caller, hitId, {});
  expect(comments).toMatchObject([{ agentId: agent.id, runId: first.runId, keyId: null }]);
  expect(comments[0]!.body).toContain('Found:\n- It signed in.');
  expect((await getHit(deps, t.caller, hitId)).status).toBe('open');
  const seen = { id: first.id, inputHash: first.inputHash };
  await expect(approveCall(deps, t.caller, { ...seen, inputHash: 'other' }, never)).rejects.toThrow('other arguments');
  const reader = { ...t.caller, scopes: new Set(['hits:read']) };
  await expect(approveCall(deps, reader, seen, never)).rejects.toThrow('hits:write');
  expect(await approveCall(deps, t.caller, seen, never)).toMatchObject({ state: 'done' });
  expect((await getHit(deps, t.caller, hitId)).status).toBe('true_positive');
  await expect(approveCall(deps, t.caller, seen, never)).rejects.toThrow('is done');
  expect(await declineCall(deps, t.caller, second.id)).toMatchObject({ state: 'declined' });
  expect((await getHit(deps, t.caller, second.hitId!)).status).toBe('open');
  // A hit that somebody has decided gets a comment, and no other status.
  await requestResponse(t.deps, t.caller, agent.id, { hitId });
  await t.runAt(hour(1.1));
  expect((await getComments(deps, t.caller, hitId, {})).comments).toHaveLength(2);
  expect((await getCalls(deps, t.caller, { hitId })).calls).toHaveLength(1);
  expect((await getCalls(deps, t.caller, { runId: second.runId })).calls).toMatchObject([{ id: second.id }]);
  // One that waits too long has expired.
  await requestResponse(t.deps, t.caller, agent.id, { hitId: second.hitId! });
  await t.runAt(hour(1.2));
  t.time.now = new Date(hour(24 * 8));
  const [late] = (await getCalls(deps, t.caller, { state: 'expired' })).calls;
  await expect(approveCall(deps, t.caller, late!, never)).rejects.toThrow('is expired');
});

test.each([
  ['dismisses the case again', 'dismiss', [{ tool: 'set_hit_status', input: { status: 'benign' } }]],
  ['does not', 'undecided', []],
])(
  'of a severe hit, no harmless status is proposed unless the second question %s',
  async (_name, verdict, proposed) => {
    const { t, deps, agent, stand } = await startResponses(testDb, ['root'], {
      input: { contextDocs: [runbook] },
      row: { severity: 'high' },
      brain: (asked) => (asked.system.includes('Find out who signed in.') ? dismissalOn(asked) : verdictOn(asked)),
    });
    stand.check(() => ({ calls: [{ name: 'conclude', input: { reason: 'The runbook.', verdict } }] }));
    await createTrigger(deps, t.caller, agent.id, trigger);
    await t.runAt(hour(1));
    expect(await t.select`select severity from hits`).toEqual([{ severity: 'high' }]);
    expect(stand.checked).toHaveLength(1);
    expect((await getCalls(deps, t.caller, {})).calls).toMatchObject(proposed);
  },
);

test('a tool that changes something outside waits for the approval of this very call, unless it is granted', async () => {
  const sent: unknown[] = [];
  const close: ModelTool = {
    name: 'tickets__close',
    description: '',
    effect: 'send',
    source: 'outside',
    inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
    parse: (input) => ({ input }),
    run: (input) => Promise.resolve((sent.push(input), '[{"closed": "T-1"}]')),
  };
  const brain: ModelBrain = (asked) =>
    !asked.system.includes('Find out who') || asked.turns.length > 1
      ? judge(asked, 0)
      : { calls: [{ name: 'tickets__close', input: { id: 'T-1' } }] };
  const { t, deps, agent, stand } = await startResponses(testDb, ['root'], {
    input: { toolNames: ['tickets__close'] },
  });
  stand.think(brain);
  const mcp = { find: () => Promise.resolve(close), list: () => Promise.resolve([]), close: () => Promise.resolve() };
  t.deps.mcp = mcp;
  await requestResponse(t.deps, t.caller, agent.id, {});
  await t.runAt(hour(0.6));
  expect(sent).toEqual([]);
  expect(stand.asked.at(-1)!.turns.at(-1)!.text).toContain('waits for the approval of a person');
  const [call] = (await getCalls(deps, t.caller, { agentId: agent.id })).calls;
  expect(call).toMatchObject({ tool: 'tickets__close', input: { id: 'T-1' }, state: 'waiting', hitId: null });
  const approve = () => approveCall({ ...deps, mcp }, t.caller, call!, never);
  const outcomes = await Promise.allSettled([approve(), approve()]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(sent).toEqual([{ id: 'T-1' }]);
  expect((await getCalls(deps, t.caller, {})).calls[0]).toMatchObject({ state: 'done', result: '[{"closed": "T-1"}]' });
  await grantTool(t.deps, t.caller, { id: agent.id, tool: close.name }, { allowsFreeArguments: true });
  await requestResponse(t.deps, t.caller, agent.id, {});
  await t.runAt(hour(0.7));
  expect(sent).toHaveLength(2);
  expect((await getCalls(deps, t.caller, {})).calls).toHaveLength(1);
});

test('an exception and a detection that an agent proposes are made once a person approves them', async () => {
  const toolNames = ['propose_exception', 'propose_detection'];
  const { t, deps, id, agent, stand } = await startResponses(testDb, ['root'], { input: { toolNames } });
  const reason = 'The scanner of the network team.';
  const detection = {
    name: 'Other scanners',
    detectionCategory: 'custom',
    detectionQuery: 'logins',
    systemPrompt: 'p',
  };
  const proposals = [
    { name: 'propose_exception', input: { entity: '*', reason } },
    { name: 'propose_exception', input: { entity: 'root', reason } },
    { name: 'propose_detection', input: { ...detection, reason } },
  ];
  stand.think((asked) =>
    !asked.system.includes('Find out who') || asked.turns.length > 1 ? judge(asked, 0) : { calls: proposals },
  );
  await t.runAt(hour(1));
  const [hit] = await t.select<{ id: string }>`select id from hits`;
  await requestResponse(t.deps, t.caller, agent.id, { hitId: hit!.id });
  await t.runAt(hour(1.1));
  const { calls } = await getCalls(deps, t.caller, { state: 'waiting' });
  expect(calls.map(({ tool }) => tool).toSorted()).toEqual([
    'propose_detection',
    'propose_exception',
    'set_hit_status',
  ]);
  expect(stand.asked.at(-1)!.turns.at(-1)!.text).toContain('Refused: entity: matches every entity');
  for (const call of calls.filter(({ tool }) => toolNames.includes(tool)))
    expect(await approveCall(deps, t.caller, call, never)).toMatchObject({ state: 'done' });
  expect(await t.select`select detection_id, entity, reason from exceptions`).toEqual([
    { detection_id: id, entity: 'root', reason },
  ]);
  const [suggested] = await t.select`select name, enabled from agents where name = ${detection.name}`;
  expect(suggested).toMatchObject({ enabled: false });
  // A run without a hit has nothing that an exception could be about.
  await requestResponse(t.deps, t.caller, agent.id, {});
  await t.runAt(hour(1.2));
  expect(stand.asked.at(-1)!.turns.at(-1)!.text).toContain('Refused: this run is about no hit.');
});
