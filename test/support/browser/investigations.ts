import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';
import { callOk, postDetection } from '../detection/detection-factory.ts';
import { dismissalOn, runbook } from '../detection/judged-runs.ts';
import type { ModelRequestRecord } from '../models/model-server.ts';
import { startModelStandIn } from '../models/model-stand-in.ts';
import { createScriptedModels, delimitedBlocks } from '../models/scripted-models.ts';
import { startConsole } from './console.ts';

export const question = 'Did the account sign in from there before?';
const query = "SELECT _id, _time, account, address FROM auth WHERE account = 'ada'";

/** Plans and searches first. Then it raises `ada`, with a sentence that nothing proves, dismisses `alan` by the runbook, and leaves any other account undecided. */
function investigate(request: ModelRequestRecord) {
  const { turns } = request;
  const [facts, rows] = delimitedBlocks(turns[0]!.text);
  const { entity } = JSON.parse(facts!) as { entity: string };
  const [{ rowId }] = JSON.parse(rows!) as [{ rowId: string }];
  const [found] = delimitedBlocks(turns.at(-1)!.text);
  const common = { severity: 'high', confidence: 80, techniques: ['T1078'], answers: [] };
  const agent = { observation: 'rows', rowId, field: 'agent' };
  const isTool = { text: `${entity} signed in with curl/8.4.`, kind: 'fact', cites: [{ ...agent, value: 'curl/8.4' }] };
  if (entity === 'alan') return dismissalOn(request);
  if (entity !== 'ada') {
    const nextSteps = ['Is grace on the road this week?'];
    const submission = { ...common, verdict: 'undecided', headline: 'grace used a tool', claims: [isTool], nextSteps };
    return { calls: [{ name: 'submit_verdict', input: submission }] };
  }
  if (turns.length === 1)
    return {
      text: 'I compare it with earlier sign-ins.',
      calls: [
        { name: 'write_plan', input: { questions: [{ question, data: 'Sign-ins of the account' }] } },
        { name: 'search_logs', input: { query } },
      ],
    };
  const { rows: earlier } = JSON.parse(found!) as { rows: { rowId: string }[] };
  const address = { observation: 'o1', rowId: earlier[0]!.rowId, field: 'address', value: '198.51.100.4' };
  const claims = [
    isTool,
    { text: 'Earlier it signed in from 198.51.100.4.', kind: 'fact', cites: [address] },
    { text: 'The detection found 1 row.', kind: 'fact', cites: [{ fact: 'rows' }] },
    { text: 'It deleted a trail.', kind: 'fact', cites: [{ ...agent, value: 'DeleteTrail' }] },
    { text: 'This looks like a stolen password.', kind: 'assessment', cites: [] },
  ];
  const answers = [{ question, observation: 'o1' }];
  const nextSteps = ['Ask ada.'];
  const submission = { ...common, verdict: 'raise', headline: 'ada used a tool', claims, nextSteps, answers };
  return { calls: [{ name: 'submit_verdict', input: submission }] };
}

/**
 * Starts the program with a model that investigates, and an organization whose detections found `ada` (a hit), `grace` (an undecided hit, and a case of the
 * review queue) and `alan` (dismissed).
 */
export async function startInvestigations() {
  const model = await startModelStandIn('anthropic', investigate);
  const started = await startConsole({ deps: { models: createScriptedModels({ m: model.url }) } });
  const org = await started.newOrg();
  const hoursAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
  await callOk(org, 'POST', '/api/logs/auth', [
    { time: hoursAgo(5), account: 'ada', address: '198.51.100.4', agent: 'Firefox' },
    { time: hoursAgo(1), account: 'ada', address: '203.0.113.7', agent: 'curl/8.4' },
    { time: hoursAgo(1), account: 'grace', address: '203.0.113.8', agent: 'curl/8.4' },
    { time: hoursAgo(1), account: 'alan', address: '203.0.113.9', agent: 'wget/1.2' },
  ]);
  const detection = await postDetection(org, {
    name: 'Sign-in with a tool',
    detectionCategory: 'custom',
    detectionQuery:
      "SELECT account, address, agent, 'medium' AS severity, _id, _time FROM auth WHERE agent LIKE 'curl%'",
    entityField: 'account',
    modelAlias: 'm',
    toolNames: ['search_logs'],
  });
  await callOk(org, 'POST', `/api/detections/${detection.id}/run`, { from: hoursAgo(2), to: hoursAgo(0) });
  await executeDueRuns(started.deps, new Date());
  const { hits } = await callOk(org, 'GET', '/api/hits');
  const reviewed = await postDetection(org, {
    name: 'Sign-in of grace with a tool',
    detectionCategory: 'custom',
    detectionQuery:
      "SELECT account, address, agent, _id, _time FROM auth WHERE agent LIKE 'curl%' AND account = 'grace'",
    entityField: 'account',
    modelAlias: 'm',
    onUndecided: 'review',
  });
  await callOk(org, 'POST', `/api/detections/${reviewed.id}/run`, { from: hoursAgo(2), to: hoursAgo(0) });
  await executeDueRuns(started.deps, new Date());
  const audited = await postDetection(org, {
    name: 'Sign-in of alan with a tool',
    detectionCategory: 'custom',
    detectionQuery: "SELECT account, address, agent, _id, _time FROM auth WHERE agent LIKE 'wget%'",
    entityField: 'account',
    modelAlias: 'm',
    contextDocs: [runbook],
  });
  await callOk(org, 'POST', `/api/detections/${audited.id}/run`, { from: hoursAgo(2), to: hoursAgo(0) });
  await executeDueRuns(started.deps, new Date());
  return {
    started,
    org,
    detection,
    audited,
    hitOf: (entity: string) => hits.find((hit: { entity: string }) => hit.entity === entity),
  };
}
