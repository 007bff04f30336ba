import { afterAll, expect, test } from 'vitest';
import { createCaller } from '../support/api-client.ts';
import { testDatabase } from '../support/database.ts';
import { startModelStandIn } from '../support/models/model-stand-in.ts';
import { startTraceCollector, type CollectedSpan } from '../support/platform/trace-collector.ts';
import { newProgramDir, removeProgramDir, startProgram, until, type Program } from '../support/program.ts';

const { url: databaseUrl } = await testDatabase();
const collector = await startTraceCollector();
const model = await startModelStandIn('openai-chat', () => ({ status: 500 }));
const dataDir = newProgramDir();
const programs: Program[] = [];
afterAll(async () => {
  await Promise.all(programs.map((program) => program.kill('SIGKILL')));
  await collector.close();
  removeProgramDir(dataDir);
});

const key = 'a-key-for-the-test-of-traces';
const traceId = 'ab'.repeat(16);
const env = {
  DATABASE_URL: databaseUrl,
  TOCSIN_API_KEY: key,
  TOCSIN_FETCH_ALLOW: '127.0.0.1',
  TOCSIN_MODELS: JSON.stringify({
    default: { provider: 'openai-compatible', model: 'judge-1', baseUrl: `${model.url}/v1`, apiKeyEnv: 'MODEL_KEY' },
  }),
  MODEL_KEY: 'k',
  TOCSIN_LOG_LEVEL: 'info',
  OTEL_BSP_SCHEDULE_DELAY: '50',
};

const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

async function start(more: Record<string, string>): Promise<Program> {
  programs.push(await startProgram(dataDir, { ...env, ...more }));
  return programs.at(-1)!;
}

test('requests and runs become traces with their statements, queries and model calls', async () => {
  const program = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'tocsin-test' });
  const call = createCaller(program.url, key);
  await call('POST', '/api/logs/auth', [
    { id: 'event-1', timestamp: new Date().toISOString(), user: 'ada', note: 'SECRET-NOTE' },
  ]);
  const { id } = (await call('POST', '/api/detections', {
    name: 'd',
    detectionCategory: 'custom',
    systemPrompt: 'Judge it.',
    detectionQuery: `SELECT _id, _time, "user" FROM auth WHERE note = 'SECRET-NOTE'`,
  })) as { id: string };
  const { runId } = (await call('POST', `/api/detections/${id}/run`, {
    from: hoursFromNow(-1),
    to: hoursFromNow(1),
  })) as { runId: string };
  const spansOf = (run: CollectedSpan): CollectedSpan[] =>
    collector.spans.filter((span) => span.traceId === run.traceId);
  // A run is examined in one span, and judged in another.
  const findPhase = (phase: string) =>
    until(
      () =>
        collector.spans.find(
          ({ name, attributes }) =>
            name === 'run' && attributes['tocsin.run.id'] === runId && attributes['tocsin.run.phase'] === phase,
        ),
      () => `no trace of the phase ${phase} of the run:\n${program.output()}`,
    );
  const run = await findPhase('examine');
  const judging = await findPhase('judge');
  expect(run).toMatchObject({ parentId: '', service: 'tocsin-test', attributes: { 'tocsin.detection.id': id } });
  expect(collector.spans.filter(({ attributes }) => attributes['tocsin.run.id'] === runId)).toMatchObject([
    { name: 'POST /api/detections/:id/run', kind: 2 },
    { name: 'run' },
    { name: 'run' },
  ]);
  const query = spansOf(run).find(({ name }) => name === 'query')!;
  expect(query).toMatchObject({
    parentId: run.id,
    attributes: { 'tocsin.connection.kind': 'local', 'tocsin.query.rows': 1 },
  });
  expect(
    spansOf(run)
      .filter(({ parentId }) => parentId === query.id)
      .map(({ name }) => name),
  ).toContain('SELECT');
  const chat = spansOf(judging).find(({ name }) => name === 'chat judge-1')!;
  expect(chat).toMatchObject({
    kind: 3,
    failed: true,
    attributes: { 'gen_ai.request.model': 'judge-1', 'error.type': 'ModelError' },
  });

  await fetch(`${program.url}/api/detections/${id}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${'cd'.repeat(8)}-01`,
    },
    body: JSON.stringify({ name: 'e' }),
  });
  await fetch(`${program.url}/healthz`);
  expect(await program.kill('SIGTERM')).toBe(0);
  const traced = collector.spans.filter((span) => span.traceId === traceId);
  const request = traced.find(({ parentId }) => parentId === 'cd'.repeat(8))!;
  expect([request.name, request.attributes['http.route']]).toEqual(['PUT /api/detections/:id', '/api/detections/:id']);
  // After the body has been read, too.
  expect(traced.filter(({ name, parentId }) => name === 'UPDATE' && parentId === request.id)).not.toEqual([]);
  expect(collector.spans.filter(({ name }) => name.includes('healthz'))).toEqual([]);
  expect(JSON.stringify(collector.spans)).not.toContain('SECRET-NOTE');
});

test('an unavailable collector delays nothing, and is reported', async () => {
  // A second between two attempts, so that spans of the request wait when the program stops.
  const program = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '1000',
  });
  const call = createCaller(program.url, key);
  await call('GET', '/api/detections');
  await until(() => program.output().includes('traces'), program.output);
  await call('GET', '/api/detections');
  expect(await program.kill('SIGTERM')).toBe(0);
});
