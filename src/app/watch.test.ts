import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { parse } from 'yaml';
import { afterAll, expect, test } from 'vitest';
import { startApp } from '../../test/support/harness.ts';
import { root } from '../../test/support/program.ts';
import { createModels, type Models } from '../platform/models/models.ts';
import { measureModels } from '../platform/models/model-metrics.ts';
import { buildWorkerServer } from './worker/worker-server.ts';
import { openReadReplica } from '../platform/db/read-replica.ts';
import { registerReplicaMetrics, registerRoleMetric } from './metrics.ts';

const { app, deps, newOrg, url } = await startApp();
registerRoleMetric(deps.metrics.registry, ['runs']);
const replica = openReadReplica(deps.db, url);
registerReplicaMetrics(deps.metrics.registry, replica);
afterAll(() => replica.close());
const org = await newOrg();

/** Returns the names of all metrics, with the suffixes that histograms have. */
async function listMetrics(): Promise<Set<string>> {
  const metrics = await deps.metrics.registry.getMetricsAsJSON();
  return new Set(
    metrics.flatMap(({ name, type }) =>
      // The library reports the type as text, although its types declare a number.
      String(type) === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

/** Returns the metric names in a PromQL expression. */
const namesIn = (expression: string): string[] => expression.match(/\b(tocsin|nodejs|process)_\w+/g) ?? [];

type Alerts = { groups: { rules: { alert: string; expr: string; labels: object; annotations: object }[] }[] };
const alerts = (parse(readFileSync(join(root, 'deploy/alerts.yml'), 'utf8')) as Alerts).groups.flatMap(
  ({ rules }) => rules,
);
type Dashboard = { panels: { title: string; targets: { expr: string }[] }[] };
const dashboard = JSON.parse(readFileSync(join(root, 'deploy/grafana/tocsin.json'), 'utf8')) as Dashboard;

test('every metric of the alerts and the dashboard exists', async () => {
  const known = await listMetrics();
  const expressions = [
    ...alerts.map(({ expr }) => expr),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  expect(expressions.length).toBeGreaterThan(30);
  expect(expressions.flatMap(namesIn).filter((name) => !known.has(name))).toEqual([]);
});

test('every alert has a severity, a summary and what to do', () => {
  for (const { alert, labels, annotations } of alerts)
    expect([alert, labels, annotations]).toEqual([
      expect.stringMatching(/^Tocsin[A-Z]/),
      { severity: expect.stringMatching(/^(critical|warning|info)$/) },
      { summary: expect.stringMatching(/\.$/), action: expect.stringMatching(/\.$/) },
    ]);
});

test('every metric of the service has a help text, a base unit and a bounded number of series', async () => {
  await org.call('POST', '/api/logs/signins', [{ timestamp: new Date().toISOString(), user: 'ada' }]);
  const text = (await app.inject({ url: '/metrics' })).body;
  const own = [...text.matchAll(/^# TYPE (tocsin_\w+) (\w+)$/gm)];
  expect(own.length).toBeGreaterThan(25);
  for (const [, name = '', type] of own) {
    expect(text, name).toMatch(new RegExp(`^# HELP ${name} \\S.*\\.$`, 'm'));
    expect(name).not.toMatch(/_(ms|milliseconds|minutes|kb|mb)(_|$)/);
    if (type === 'counter') expect(name).toMatch(/_total$/);
  }
  // As promtool checks it.
  const all = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => ({ name, type }));
  expect(all.filter(({ name, type }) => type !== 'counter' && name.endsWith('_total'))).toEqual([]);
  expect(text).not.toContain(org.id);
  expect(text).toContain('tocsin_log_ingest_events_total{outcome="accepted"} 1');
  expect(text).toContain('tocsin_database_up 1');
});

test('counts the calls, tokens and failures of a model', async () => {
  const entry = { provider: 'anthropic', model: 'm', apiKey: 'k', fallbacks: [] };
  const models = createModels({});
  const call = async ({ system }: { system: string }) => {
    if (system === 'fail') throw new Error('aborted');
    return { text: '', toolCalls: [], messages: [], tokens: { input: 7, output: 2 }, ms: 1 };
  };
  const price = { inputPerMillion: 1_000_000, outputPerMillion: 0 };
  const stub = { alias: 'judge', name: 'm', entry: { ...entry, price }, call } as unknown as ReturnType<Models['find']>;
  deps.metrics.registry.removeSingleMetric('tocsin_model_call_seconds');
  deps.metrics.registry.removeSingleMetric('tocsin_model_tokens_total');
  deps.metrics.registry.removeSingleMetric('tocsin_model_cost_usd_total');
  const { registry } = deps.metrics;
  const model = measureModels({ ...models, aliases: ['judge'], find: () => stub }, registry).find('judge')!;
  const request = { messages: [], tools: [], signal: AbortSignal.timeout(60_000) };
  await model.call({ ...request, system: '' });
  await expect(model.call({ ...request, system: 'fail' })).rejects.toThrow('aborted');
  const text = await registry.metrics();
  expect(text).toContain('tocsin_model_tokens_total{alias="judge",direction="input"} 7');
  expect(text).toContain('tocsin_model_cost_usd_total{alias="judge"} 7');
  expect(text).toMatch(/tocsin_model_call_seconds_count\{[^}]*outcome="aborted"[^}]*\} 1/);
});

test('a worker serves health and metrics, and logs what it refuses with the ID of the request', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  const server = buildWorkerServer({ ...deps, log });
  for (const url of ['/healthz', '/readyz', '/metrics']) expect((await server.inject({ url })).statusCode).toBe(200);
  expect(lines).toEqual([]);
  const refused = await server.inject({ url: '/api/detections?token=secret', headers: { 'x-request-id': 'mine' } });
  expect([refused.statusCode, refused.json().code]).toEqual([404, 'not_found']);
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({
      requestId: 'mine',
      method: 'GET',
      path: '/api/detections',
      status: 404,
      code: 'not_found',
    }),
  ]);
  await server.close();
});

test('every response has the ID of its request, and the one that the caller sent is kept', async () => {
  const get = async (url: string, id?: string) =>
    app.inject({ url, headers: id === undefined ? {} : { 'x-request-id': id } });
  expect((await get('/healthz')).headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
  expect((await get('/healthz', 'proxy-1:a.b')).headers['x-request-id']).toBe('proxy-1:a.b');
  for (const id of ['', 'a b', 'é', 'x'.repeat(101), 'a"}'])
    expect((await get('/healthz', id)).headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
  const refused = await get('/api/detections', 'mine');
  expect([refused.statusCode, refused.headers['x-request-id'], refused.json().requestId]).toEqual([
    401,
    'mine',
    'mine',
  ]);
});
