import type { Deps } from '../../../src/app/deps.ts';
import { eraseOrganization } from '../../../src/app/erase-organization.ts';
import { checkNextSource } from '../../../src/detection/rule-sources/update-rules.ts';
import { writeSkillZip } from '../../../src/detection/skills/skill-files.ts';
import { SkillContent } from '../../../src/detection/skills/skills.schema.ts';
import { operatorOf } from '../../../src/platform/http/caller.ts';
import { createSignInLink } from '../../../src/platform/orgs/sessions/sessions.ts';
import { adminHeadersFor } from '../admin-key.ts';
import { useConnections, useModels } from './use-connections.ts';
import { callsOf, readOk, type ApiCalls } from './api-calls.ts';
import { fillOrganization } from './fill-organization.ts';
import { whileServing } from '../listen.ts';
import type { TestOrg } from '../harness.ts';
import { useExports, useFeed } from './use-feed.ts';
import { useHunts, useIncidents } from './use-incidents.ts';
import { useAgents, useProposals, useReviewQueue, useRuns, useTesting } from './use-runs.ts';

export type RecordedCall = { method: string; url: string; request: unknown; status: number; body: unknown };

/** Calls every operation of the API at least once, in an order in which each succeeds. Returns the responses. */
export async function callEverything(deps: Deps, org: TestOrg): Promise<RecordedCall[]> {
  const recorded: RecordedCall[] = [];
  const watched: TestOrg = {
    ...org,
    call: async (method, url, body, headers) => {
      const answer = await org.call(method, url, body, headers);
      recorded.push({ method, url, request: body, status: answer.status, body: answer.body });
      return answer;
    },
  };
  const { mark } = await fillOrganization(deps, watched);
  const calls = callsOf(watched);
  await useService(calls);
  await useKeys(calls);
  await useAdministration(deps, watched);
  await useSessions(deps, watched);
  await useDetections(calls);
  await useGenerate(deps, watched);
  await useIncidents(deps, watched);
  await useHunts(deps, calls);
  await useAgents(calls);
  await useRuns(calls);
  await useReviewQueue(calls);
  await useProposals(calls);
  await useModels(deps, calls);
  await useSkills(watched);
  await useRuleSources(deps, calls);
  await useTools(calls);
  await useTesting(calls, mark);
  await useDestinations(calls);
  await useConnections(calls);
  await useFeed(calls, mark);
  await useExports(calls);
  return recorded;
}

async function useService({ get, post, put, remove }: ApiCalls): Promise<void> {
  for (const path of ['/healthz', '/readyz', '/api/audit?limit=200', '/api/audit/export?action=detection.'])
    await get(path);
  for (const path of ['logs', 'logs/sources', 'overview', 'coverage?days=30', 'coverage/navigator', 'events?limit=5'])
    await get(`/api/${path}`);
  await get('/api/feed/sources/worth?days=30');
  await get('/api/feed/facets?severity=high');
  const { stories } = await get('/api/feed/stories?limit=2');
  await get(`/api/feed/items/${stories[0].id}/story`);
  await get('/api/feed/digests/current');
  await get('/api/feed/export/digests');
  const { entities } = await get('/api/feed/entities?limit=2');
  await get(`/api/feed/entities/${entities[0].type}/${encodeURIComponent(entities[0].name)}`);
  await get('/api/indicators/context?value=evil-host.top');
  const view = { name: 'Walked', page: 'hits', query: 'status=open' };
  const { id } = await post('/api/views', view);
  await put(`/api/views/${id}`, { ...view, name: 'Walked twice' });
  await get('/api/views?page=hits');
  await remove(`/api/views/${id}`);
  await post('/api/rehearsals', { technique: 'T1136.003' });
  await get('/api/rehearsals');
}

async function useKeys({ get, post, remove }: ApiCalls): Promise<void> {
  const { keys } = await get('/api/keys');
  const extra = keys.find(({ name }: { name: string }) => name === 'filled');
  await post(`/api/keys/${extra.id}/rotate`, { overlapSeconds: 0 });
  await remove(`/api/keys/${extra.id}`);
}

async function useAdministration({ db, segmentStore }: Deps, org: TestOrg): Promise<void> {
  const asAdministrator = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) =>
    readOk(org.call(method, `/api/admin/${path}`, body, adminHeadersFor('/api/admin/')));
  const { id } = await asAdministrator('POST', 'organizations', { name: 'walked' });
  await asAdministrator('POST', `organizations/${id}/resume`);
  await asAdministrator('GET', `organizations/${org.id}`);
  await asAdministrator('PUT', `organizations/${org.id}/quotas`, {
    enabledDetections: 500,
    logEventsPerDay: 10_000_000,
  });
  await asAdministrator('GET', `organizations/${org.id}/quotas`);
  await readOk(org.call('GET', '/api/quotas'));
  await readOk(org.call('GET', '/api/usage'));
  await asAdministrator('PUT', `organizations/${org.id}/retention`, { logsDays: 180 });
  await asAdministrator('GET', `organizations/${org.id}/retention`);
  await readOk(org.call('PUT', '/api/privacy/retention', { logsDays: 120 }));
  await asAdministrator('PUT', `organizations/${org.id}/retention`, { logsDays: null });
  await asAdministrator('GET', `organizations/${org.id}/usage`);
  const applied = await asAdministrator('POST', `organizations/${org.id}/packs/baseline`, {
    version: '1.0.0',
    detections: {
      'sign-in-from-a-new-country.yaml': {
        name: 'Sign-in from a new country',
        detectionCategory: 'first_occurrence',
        detectionCadence: 'hourly',
        entityField: 'user',
        systemPrompt: 'Judge whether the sign-in is the user.',
        detectionQuery: 'SELECT _id, _time, user, country FROM signins',
      },
    },
  });
  const inPack = `/api/detections/${applied.results[0].detectionId}`;
  await readOk(org.call('GET', `${inPack}/pack`));
  await readOk(org.call('DELETE', inPack));
  await readOk(org.call('GET', '/api/admin/usage?format=ndjson', undefined, adminHeadersFor('/api/admin/')));
  await asAdministrator('PUT', `organizations/${org.id}/quotas`, { enabledDetections: null, logEventsPerDay: null });
  await asAdministrator('PUT', `organizations/${org.id}/tags`, { tags: ['bank', 'eu'] });
  await asAdministrator('GET', 'organizations?limit=2&tag=bank');
  await asAdministrator('POST', `organizations/${id}/suspend`);
  await asAdministrator('DELETE', `organizations/${id}`);
  await eraseOrganization({ db, segmentStore }, id);
  await asAdministrator('GET', 'erasures');
  await asAdministrator('GET', `erasures/${id}`);
}

async function useSessions({ db }: Deps, org: TestOrg): Promise<void> {
  await readOk(org.call('POST', '/api/session', { key: org.key }));
  const token = await createSignInLink(db, operatorOf(org.id), ['keys:admin']);
  const { headers } = await org.call('POST', '/api/session/link', { token });
  const cookie = String(headers['set-cookie']).split(';')[0]!;
  await readOk(org.call('GET', '/api/session'));
  await readOk(org.call('GET', '/api/session/single-sign-on'));
  const { sessions } = await readOk(org.call('GET', '/api/sessions'));
  await readOk(org.call('DELETE', '/api/session', undefined, { authorization: '', cookie, 'x-tocsin-console': '1' }));
  await readOk(org.call('DELETE', `/api/sessions/${sessions.at(-1).id}`));
  const { post, get } = callsOf(org);
  const person = await post('/api/persons', { name: 'grace@example.com', role: 'analyst' });
  await post(`/api/persons/${person.id}/link`, {});
  await readOk(org.call('PATCH', `/api/persons/${person.id}`, { role: 'engineer' }));
  await readOk(org.call('PATCH', `/api/persons/${person.id}`, { disabled: true }));
  await get('/api/persons');
  await get('/api/roles');
}

async function useDetections(calls: ApiCalls): Promise<void> {
  const { get, post, put, remove } = calls;
  const { detections } = await get('/api/detections?enabled=true&limit=1');
  const { id } = detections[0];
  await put(`/api/detections/${id}`, { tags: ['Walked'], description: null });
  await get(`/api/detections/${id}`);
  await get('/api/detections/summaries?sort=-newHits30d&limit=1');
  for (const part of ['days?days=3', 'continuous', 'windows']) await get(`/api/detections/${id}/${part}`);
  await remove(`/api/detections/${id}`);
  await post(`/api/detections/${id}/restore`);
  await useHistory(`/api/detections/${id}`, calls);
  const { suggestions } = await get('/api/detections/suggestions');
  await post(`/api/detections/${suggestions[0].id}/dismiss`, { reason: 'other', note: 'walked' });
  const dismissed = await get('/api/detections/suggestions/dismissed');
  for (const suggestion of dismissed.suggestions) await post(`/api/detections/${suggestion.id}/restore`);
  await post(`/api/detections/${suggestions[0].id}/accept`, { name: 'accepted' });
}

async function useGenerate(deps: Deps, org: TestOrg): Promise<void> {
  const timestamp = new Date(deps.clock().getTime() - 60_000).toISOString();
  const event = JSON.stringify({ timestamp, Hostname: 'FS-01', CommandLine: 'vssadmin delete shadows' });
  await readOk(org.call('POST', '/api/logs/process', event, { 'content-type': 'application/x-ndjson' }));
  await readOk(org.call('POST', '/api/detections/generate', { intent: 'T1490 on any host' }));
  await readOk(org.call('GET', '/api/logs/process/fields'));
  await readOk(org.call('GET', '/api/logs/process/histogram?buckets=10'));
  const search = { query: 'select Hostname from process', from: timestamp, to: deps.clock().toISOString() };
  await readOk(org.call('POST', '/api/logs/search', search));
  await readOk(org.call('PUT', '/api/logs/process/columns', { columns: [{ name: 'Hostname', type: 'VARCHAR' }] }));
  await readOk(org.call('GET', '/api/logs/process/columns'));
}

async function useHistory(url: string, { get, post }: ApiCalls): Promise<void> {
  const { version } = await post(`${url}/prompts`, { prompt: 'Judge it twice.', description: 'walked' });
  await post(`${url}/prompts/${version}/activate`);
  for (const part of ['', `/${version}`, `/diff?from=1&to=${version}`]) await get(`${url}/prompts${part}`);
  for (const part of ['?limit=1', '/1', '/diff?from=1&to=2']) await get(`${url}/revisions${part}`);
  await post(`${url}/revisions/1/restore`);
}

async function useSkills(org: TestOrg): Promise<void> {
  const { get, put, remove } = callsOf(org);
  const skill = {
    description: 'Judges a message.',
    body: 'Read it.',
    files: [{ path: 'references/a.md', text: 'walked' }],
  };
  await put('/api/skills/walked', skill);
  await get('/api/skills');
  for (const part of ['', '/versions', '/versions/1', '/export']) await get(`/api/skills/walked${part}`);
  const zip = writeSkillZip({ name: 'walked', content: SkillContent.parse(skill) });
  await readOk(org.call('POST', '/api/skills/import', zip, { 'content-type': 'application/zip' }));
  await remove('/api/skills/walked');
}

async function useDestinations({ get, post, put, remove }: ApiCalls): Promise<void> {
  await whileServing('{}', async (url) => {
    const { id } = await post('/api/destinations', { kind: 'webhook', name: 'walked', url });
    await put(`/api/destinations/${id}`, {
      minSeverity: 'high',
      hours: { timeZone: 'UTC', from: '18:00', to: '08:00' },
    });
    await put(`/api/destinations/${id}`, { ...(await get(`/api/destinations/${id}`)), minSeverity: 'high' });
    await post(`/api/destinations/${id}/rotate`, { overlapSeconds: 60 });
    const sent = await post(`/api/destinations/${id}/test`);
    await post(`/api/destinations/${id}/deliveries/${sent.id}/redeliver`);
    await get(`/api/destinations/${id}/deliveries?state=pending`);
    await remove(`/api/destinations/${id}`);
  });
  await get('/api/destinations?limit=1');
  await put('/api/enrichers/walked', { kind: 'dns', settings: { server: '127.0.0.1:9' }, enabled: false });
  await get('/api/enrichers');
  await post('/api/enrichments', { values: ['8.8.8.8'] });
  await remove('/api/enrichers/walked');
  await get('/api/destination-kinds');
  await get('/api/event-types');
}

async function useTools({ get, put, remove }: ApiCalls): Promise<void> {
  await get('/api/tools');
  await put('/api/agent-settings', { defaultToolNames: ['get_rows', 'search_logs'], hiddenFields: ['user.ssn'] });
  await get('/api/agent-settings');
  await get('/api/categories');
  const { detections } = await get('/api/detections?limit=1');
  await get(`/api/detections/${detections[0].id}/agreement`);
  const shadow = `/api/detections/${detections[0].id}/shadow`;
  await put(shadow, { modelAlias: 'analyst' });
  await get(shadow);
  await remove(shadow);
  const tools = `/api/detections/${detections[0].id}/tools`;
  await put(`${tools}/http_get`, { url: 'https://intel.example/{entity}' });
  await get(tools);
  await remove(`${tools}/http_get`);
}

/** Uses a source of Sigma rules that a server of its own serves. */
async function useRuleSources(deps: Deps, { get, post, put, remove }: ApiCalls): Promise<void> {
  const rules = [
    'title: Walked rule',
    'id: 7a1f3a52-5d1a-4a3c-9f5c-0d6f6a0c9a99',
    'status: stable',
    'level: high',
    'logsource: {product: windows, category: process_creation}',
    "detection: {s: {Image|endswith: '\\walked.exe'}, condition: s}",
    '',
  ];
  await whileServing(rules.join('\n'), async (url) => {
    const { id } = await post('/api/rule-sources', { name: 'Walked rules', url });
    await checkNextSource(deps, new AbortController().signal);
    const path = `/api/rule-sources/${id}`;
    const { version } = await get(`${path}/update`);
    await post(`${path}/update`, { version });
    await put(path, { minLevel: 'low' });
    await get('/api/rule-sources');
    await get(path);
    await post(`${path}/check`);
    await remove(path);
  });
}
