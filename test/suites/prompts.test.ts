import { expect, test } from 'vitest';
import { runDueAgents } from '../../src/agents/runs/run-due-agents.ts';
import { reviewNext } from '../../src/detection/runs/reviews/review-runs.ts';
import { executeDueRuns } from '../../src/detection/runs/workers/run-loops.ts';
import { createReader, queueNextItems } from '../../src/feed/reading/process-readings.ts';
import { scoreNextBatch } from '../../src/feed/relevance/score-items.ts';
import { callOk, postDetection } from '../support/detection/detection-factory.ts';
import { claimOn, dismissalOn, excuse, misquoteOn, runbook } from '../support/detection/judged-runs.ts';
import { startApp } from '../support/harness.ts';
import { startModelStandIn, type ModelBrain, type ModelRequestRecord } from '../support/models/model-stand-in.ts';
import { createScriptedModels } from '../support/models/scripted-models.ts';
import { findAgentId } from '../support/org-requests.ts';

const mark = 'outside-7f3a';
let now = new Date('2026-03-02T10:05:00.000Z');
const { deps, newOrg } = await startApp({ clock: () => now });
const { signal } = new AbortController();

const lookUps = [
  { name: 'get_rows', input: {} },
  { name: 'list_datasets', input: {} },
  { name: 'describe_dataset', input: { dataset: 'signins' } },
  { name: 'search_logs', input: { query: 'SELECT * FROM signins' } },
  { name: 'count_by', input: { dataset: 'signins', field: 'agent' } },
  { name: 'entity_profile', input: {} },
  { name: 'related_hits', input: {} },
  { name: 'search_feed', input: { query: mark } },
  { name: 'lookup_indicator', input: { value: '203.0.113.9' } },
];

/**
 * A model whose answers lead through every prompt of the product: its investigation calls every tool, submits once what is sent back, and then
 * dismisses the case.
 */
const think: ModelBrain = (asked) => {
  const { system, turns, tools } = asked;
  if (system.includes('A detection found one entity')) {
    if (turns.length === 1) return { calls: lookUps };
    return asked.forced === 'submit_verdict'
      ? dismissalOn(asked, { claims: [excuse, claimOn(asked)] })
      : misquoteOn(asked);
  }
  const answers: Record<string, unknown> = {
    grade: { grades: [{ criterion: 1, reason: 'It does.', met: true }] },
    submit_verdict: { verdict: 'irrelevant', reason: 'Only a shop in Spain was hit.', passages: [0] },
    submit_claims: { claims: [] },
  };
  if (tools.includes('submit_query') && turns.length === 1) return { calls: lookUps.slice(1, 5) };
  const name = tools.find((one) => one.startsWith('submit_')) ?? tools[0] ?? '';
  return { calls: [{ name, input: answers[name] ?? {} }] };
};

/** Returns what a model reads apart from its own words, without what is delimited as text from outside. */
function readUndelimited({ body }: ModelRequestRecord): string[] {
  const strings: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'string') strings.push(value);
    else if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null && (value as { role?: unknown }).role !== 'assistant')
      Object.entries(value).forEach(([key, inner]) => {
        strings.push(key);
        visit(inner);
      });
  };
  visit(body);
  return strings.map((text) => text.replaceAll(/<([a-z]+-[0-9a-f]{16,})>\n[^]*?\n<\/\1>/g, ''));
}

test('every prompt of the product has text from outside between unguessable tags, and nowhere else', async () => {
  const model = await startModelStandIn('anthropic', think);
  Object.assign(deps.models!, createScriptedModels({ m: model.url, default: model.url }));
  const org = await newOrg();
  const time = '2026-03-02T09:30:00.000Z';
  const event = {
    time,
    user: `ada ${mark}`,
    address: '203.0.113.9',
    agent: `curl ${mark}`,
    action: `sign-in ${mark}`,
    [`key ${mark}`]: mark,
  };
  await callOk(org, 'POST', '/api/logs/signins', [event]);
  await callOk(org, 'PUT', '/api/entity-notes', { notes: [{ entity: event.user, note: `A note ${mark}.` }] });
  await callOk(org, 'PUT', '/api/feed/reader', { modelAlias: 'm' });
  await callOk(org, 'PUT', '/api/feed/profile', { keywords: ['Adyen'] });
  const text = `A shop in Spain was hit by ${mark} from 203.0.113.9, which takes cards from pages of Adyen.`;
  await callOk(org, 'POST', '/api/feed/items', { title: `Skimmer ${mark}`, text });
  now = new Date('2026-03-02T10:06:00.000Z');
  while (await scoreNextBatch(deps));
  for (const type of ['threat-relevancy', 'threat-research']) {
    const agentId = await findAgentId(org, type);
    await callOk(org, 'PUT', `/api/agents/${agentId}`, { detectionCadence: 'hourly', modelAlias: 'm' });
  }

  const { id } = await postDetection(org, {
    detectionCategory: 'custom',
    detectionQuery: 'SELECT * FROM signins',
    entityField: 'user',
    modelAlias: 'm',
    toolNames: lookUps.map(({ name }) => name),
    contextDocs: [runbook],
    acceptanceCriteria: ['Every verdict names the owner.'],
  });
  await callOk(org, 'POST', `/api/detections/${id}/run`, { from: '2026-03-02T09:00:00Z', to: '2026-03-02T10:00:00Z' });
  await executeDueRuns(deps, now);
  while (await reviewNext({ ...deps, log: deps.log }, signal));
  await runDueAgents(deps, signal);
  while (await queueNextItems(deps, ['m']));
  const read = createReader(deps);
  while (await read(signal));
  await org.call('POST', '/api/detections/generate', { intent: 'Somebody signs in with curl' });

  const words = 'Who signs in with curl?';
  await org.call('POST', '/api/hunts/propose', { words, span: { days: 1 } });

  const requests = [...model.asked, ...model.checked];
  const outside = requests.flatMap(readUndelimited).filter((one) => one.includes(mark));
  expect(outside).toEqual([]);
  const prompts = [
    'A detection found one entity',
    'You check one claim',
    'You grade how an analyst agent worked',
    'You decide for a security team',
    'You read reports about threats',
    'You write detections for a security operations team',
    'You write the query of a hunt',
  ];
  for (const prompt of prompts)
    expect(
      requests.filter(({ raw, system }) => raw.includes(mark) && system.includes(prompt)),
      prompt,
    ).not.toEqual([]);
  // The second question about a dismissal has no text that others do not have.
  const second = requests.filter(({ system }) => system.includes('Conclude a case'));
  expect(second.map(({ raw }) => raw.includes(mark))).toEqual([false]);
});
