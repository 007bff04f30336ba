import { expect, test } from 'vitest';
import { findFreeLoopbackPort } from '../../src/platform/embedded-postgres/address.ts';
import { createCaller } from '../support/api-client.ts';
import { testDatabase } from '../support/database.ts';
import { startReceiver } from '../support/platform/webhook-receiver.ts';
import { newProgramDir, removeProgramDir, startProgram, until, type Program } from '../support/program.ts';

const detection = { name: 'd', detectionCategory: 'custom', systemPrompt: 'p', detectionQuery: 'SELECT 1 AS n' };

test('a worker does only the work of its roles', async () => {
  const { url } = await testDatabase();
  const receiver = await startReceiver();
  const dataDir = newProgramDir();
  const key = 'a-key-for-the-roles-of-workers';
  const { port } = await findFreeLoopbackPort();
  const env = {
    DATABASE_URL: url,
    TOCSIN_API_KEY: key,
    TOCSIN_SECRET_KEY: 'k'.repeat(32),
    TOCSIN_FETCH_ALLOW: '127.0.0.1',
  };
  const programs: Program[] = [];
  const start = async (command: string, more = {}): Promise<Program> => {
    programs.push(await startProgram(dataDir, { ...env, ...more }, command));
    return programs.at(-1)!;
  };
  try {
    const call = createCaller((await start('serve')).url, key);
    const deliverer = await start('work --only deliver', { TOCSIN_WORKER_PORT: String(port) });
    await call('POST', '/api/destinations', {
      kind: 'webhook',
      name: 'o',
      url: receiver.url,
      eventTypes: ['detection.created'],
    });
    const { id } = (await call('POST', '/api/detections', detection)) as { id: string };
    const { runId } = (await call('POST', `/api/detections/${id}/run`, {})) as { runId: string };
    await call('POST', '/api/detections', detection);
    await until(() => receiver.received.length === 2, deliverer.output);
    const readStatus = async () => ((await call('GET', `/api/runs/${runId}`)) as { status: string }).status;
    expect(await readStatus()).toBe('queued');

    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics.match(/^tocsin_worker_role.*/gm)).toEqual([
      'tocsin_worker_role{role="runs"} 0',
      'tocsin_worker_role{role="match"} 0',
      'tocsin_worker_role{role="judge"} 0',
      'tocsin_worker_role{role="ingest"} 0',
      'tocsin_worker_role{role="deliver"} 1',
    ]);

    const runner = await start('work --only runs,ingest');
    await until(async () => (await readStatus()) === 'completed', runner.output);
    expect(await Promise.all(programs.map((program) => program.kill('SIGTERM')))).toEqual([0, 0, 0]);
  } finally {
    await Promise.all(programs.map((program) => program.kill('SIGKILL')));
    await receiver.close();
    removeProgramDir(dataDir);
  }
});
