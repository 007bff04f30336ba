import { signDelivery } from '../../../src/platform/notifications/destination-secrets.ts';
import { createServer } from 'node:http';
import { closeServer, listen } from '../listen.ts';
import type { Deps } from '../../../src/app/deps.ts';
import { readModelSettings } from '../../../src/platform/models/model-settings.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { serveModelStandIn } from '../models/model-server.ts';
import { answerProbes, serverOf } from '../models/provider-servers.ts';
import type { ApiCalls } from './api-calls.ts';
import { whileServing } from '../listen.ts';
import { serveExample } from '../models/mcp-server.ts';

/** Checks a model at a stand-in that does all that it is asked to. */
export async function useModels(deps: Deps, calls: ApiCalls): Promise<void> {
  const { post, get } = calls;
  const server = serverOf('vLLM');
  const { url, close } = await serveModelStandIn(server.protocol, answerProbes(server));
  const models = deps.models!;
  const before = { ...models };
  const entry = { model: 'walked-model', ...server.entry(url) };
  Object.assign(models, createModels(readModelSettings(JSON.stringify({ walked: entry }), {}), deps.db));
  try {
    await post('/api/models/walked/check');
    await get('/api/models');
    await useResponseAgents(deps, calls);
  } finally {
    Object.assign(models, before);
    await close();
  }
}

/** Calls every operation on response agents, one of which uses the model `walked`. */
async function useResponseAgents({ clock }: Deps, { get, post, put, remove }: ApiCalls): Promise<void> {
  const inputs = [{ type: 'text', name: 'ticket', description: 'The ticket to look into', required: true }];
  const agent = { name: 'Look into tickets', systemPrompt: 'Find out what happened.', modelAlias: 'walked', inputs };
  const { id } = await post('/api/agents', agent);
  const url = `/api/agents/${id}`;
  await put(url, { description: 'Looks into tickets about hits' });
  const trigger = { source: 'hit.created', filter: { severity: 'high' }, inputs: { ticket: { from: '/id' } } };
  const { id: triggerId } = await post(`${url}/triggers`, trigger);
  await put(`${url}/triggers/${triggerId}`, { enabled: false });
  await get(`${url}/triggers`);
  await put(`${url}/schedule`, { inputs: { ticket: 'T-4710' } });
  await get(`${url}/schedule`);
  const { id: hookId, secret } = await post(`${url}/triggers`, {
    source: 'webhook',
    inputs: { ticket: { from: '/ticket/id' } },
  });
  const event = { ticket: { id: 'T-4712' } };
  const headers = signDelivery({ url: '', secret }, JSON.stringify(event), { id: 'evt-1', at: clock() });
  await post(`/api/hooks/${hookId}`, event, headers);
  await post(`${url}/run`, { inputs: { ticket: 'T-4711' }, question: 'Who else is concerned?' });
  await get(`${url}/runs`);
  await remove(`${url}/triggers/${triggerId}`);
  await remove(url);
  await post(`${url}/restore`);
  await get('/api/shipped-agents');
  await post('/api/shipped-agents/triage', { modelAlias: 'walked', filter: { severity: 'high' } });
  await post('/api/shipped-agents/triage/update');
}

/** Calls every operation on connections and MCP servers, with a SIEM and a server that respond. */
export async function useConnections({ get, post, put, remove }: ApiCalls): Promise<void> {
  await get('/api/connections/kinds');
  await get('/api/connections?limit=1');
  await whileServing('{"fields": {"user": {"keyword": {}}}}', async (url) => {
    const credentials = { user: 'soc', password: 'pw' };
    const settings = { url: new URL(url).origin };
    const { id } = await post('/api/connections', { kind: 'opensearch', name: 'walked', settings, credentials });
    await put(`/api/connections/${id}`, { places: 1 });
    await put(`/api/connections/${id}`, { ...(await get(`/api/connections/${id}`)), places: 1 });
    await post(`/api/connections/${id}/check`, {});
    await get(`/api/connections/${id}/fields`);
    await remove(`/api/connections/${id}`);
  });
  await whileServingMcp(async (url) => {
    const { id } = await post('/api/mcp-servers', { name: 'walked', url });
    await put(`/api/mcp-servers/${id}`, { tools: ['whois'] });
    await put(`/api/mcp-servers/${id}`, { ...(await get(`/api/mcp-servers/${id}`)), tools: ['whois'] });
    await post(`/api/mcp-servers/${id}/check`);
    await remove(`/api/mcp-servers/${id}`);
  });
  await get('/api/mcp-servers?limit=1');
}

async function whileServingMcp(work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => void serveExample(request, response));
  const origin = await listen(server);
  try {
    await work(`${origin}/mcp`);
  } finally {
    await closeServer(server);
  }
}
