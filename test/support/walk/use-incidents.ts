import type { Deps } from '../../../src/app/deps.ts';
import { runNextHunt } from '../../../src/agents/hunting/run-hunts.ts';
import { placeWaitingHits } from '../../../src/detection/incidents/place-hits.ts';
import { serveModelStandIn } from '../models/model-server.ts';
import { createScriptedModels } from '../models/scripted-models.ts';
import type { TestOrg } from '../harness.ts';
import { callsOf, readOk, type ApiCalls } from './api-calls.ts';

/** Walks the operations of incidents. Hits are placed first, as the loop would place them. */
export async function useIncidents(deps: Deps, org: TestOrg): Promise<void> {
  const { get, post } = callsOf(org);
  while (await placeWaitingHits(deps));
  const { hits } = await get('/api/hits');
  const [first, second] = hits.map((hit: { id: string }) => hit.id);
  const opened = await post('/api/incidents', { hitIds: [first, second] });
  const path = `/api/incidents/${opened.id}`;
  const split = await post(`${path}/split`, { hitIds: [second] });
  await post(`${path}/merge`, { incidentIds: [split.id] });
  await post(`${path}/hits`, { remove: [second] });
  const [{ id: personId }] = (await get('/api/persons')).persons;
  await post(`${path}/comments`, { body: '@ada The account was **disabled**.' });
  await post(`${path}/watch`, { watching: true, personId });
  await post(`${path}/read`);
  const { revision } = await get(path);
  await readOk(org.call('PATCH', path, { state: 'in_progress', owner: 'ada', expectedRevision: revision }));
  await post('/api/incidents/bulk', { incidents: [{ id: opened.id, owner: 'ada@example.com' }] });
  await get('/api/incidents?state=active&sort=due');
  await get(`/api/incidents?watcher=${personId}&inbox=late`);
  await get('/api/incident-inbox');
  for (const part of ['report', 'bundle', 'timeline', 'comments']) await get(`${path}/${part}`);
}

/** Works with a model that submits the same answer to every question. */
async function withModel(deps: Deps, input: object, work: () => Promise<unknown>): Promise<void> {
  const { url, close } = await serveModelStandIn('anthropic', ({ tools }) => ({
    calls: [{ name: tools.at(-1)!, input }],
  }));
  const before = { ...deps.models };
  Object.assign(deps.models!, createScriptedModels({ default: url }));
  try {
    await work();
  } finally {
    Object.assign(deps.models!, before);
    await close();
  }
}

/** Walks the operations of hunts, with one run. */
export async function useHunts(deps: Deps, { get, post, put, remove }: ApiCalls): Promise<void> {
  const question = {
    kind: 'sql',
    question: 'SELECT _id, _time, Hostname, CommandLine FROM process',
    span: { days: 30 },
  };
  const { id } = await post('/api/hunts', { name: 'Walked hunt', ...question });
  const path = `/api/hunts/${id}`;
  const run = await post(`${path}/run`);
  while (await runNextHunt(deps, new AbortController().signal));
  await get('/api/hunts');
  await withModel(deps, { query: question.question, rowMeaning: 'A process that was started.' }, () =>
    post('/api/hunts/propose', { words: 'Which processes were started?', span: question.span }),
  );
  await put(path, { cadence: 'weekly' });
  await get(path);
  await get(`${path}/runs`);
  await get(`/api/hunt-runs/${run.id}`);
  const { findings } = await get(`/api/hunt-runs/${run.id}/findings?change=new`);
  await post(`/api/hunt-runs/${run.id}/incident`, { findingIds: [findings[0].id] });
  await remove(path);
}
