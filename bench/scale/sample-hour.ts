import { compactSegments } from '../../src/detection/log-compaction/compact-segments.ts';
import { createDetection } from '../../src/detection/detections/create-detection.ts';
import { CreateDetection } from '../../src/detection/detections/record/detection-input.schema.ts';
import { executeDueRuns } from '../../src/detection/runs/workers/run-loops.ts';
import { receiveLogs } from '../../src/detection/log-ingest/receive-logs.ts';
import type { OrgId } from '../../src/platform/lib/org-id.ts';
import { operatorOf } from '../../src/platform/http/caller.ts';
import { createOrganizationWithKey } from '../../test/support/api-client.ts';
import { withClient, type InProcessProgram } from '../../test/support/program-environment.ts';
import { measureMs } from '../benchmark.ts';
import { readProcessorTime, type ProcessorTime } from '../processor-time.ts';
import { slot, tidyUp } from './fill-organizations.ts';

/** An hour of one of 10,000 organizations that send 1 TB a day together, in a request each minute. */
const bytesPerHour = 1e12 / 24 / 10_000;
const batches = 60;
const compactEvery = 15;
export const sampleDetections = 50;
const dataset = 'auth';
/** Before the slot of the other organizations, so that only the sample is due. */
const from = new Date(slot.getTime() - 2 * 3_600_000);

export type Work = { units: number; ms: number; processor: ProcessorTime };
export type SampleHour = { organizations: number; ingest: Work; compaction: Work; runs: Work };

let now = from;
export const sampleClock = (): Date => now;

/** Receives and compacts an hour of logs of some organizations, and executes a run of each of their hourly detections. */
export async function measureSampleHour(program: InProcessProgram, organizations: number): Promise<SampleHour> {
  const { deps } = program;
  now = from;
  const orgs: OrgId[] = [];
  for (let n = 0; n < organizations; n += 1) orgs.push(await createSampleOrganization(program, n));
  const [ingest, compaction] = [emptyWork(), emptyWork()];
  for (let batch = 0; batch < batches; batch += 1) {
    now = new Date(from.getTime() + (batch + 0.5) * 60_000);
    const body = eventsOfMinute(batch);
    const bytes = orgs.length * body.length;
    // Copies, because the reader takes the body over.
    const bodies = orgs.map((orgId) => ({ orgId, body: Buffer.from(body) }));
    await addWork(program, ingest, async () => {
      for (const { orgId, body } of bodies) await receiveLogs(deps, orgId, { dataset, body });
      return bytes;
    });
    if ((batch + 1) % compactEvery > 0) continue;
    await addWork(program, compaction, async () => {
      while (await compactSegments(deps));
      return compactEvery * bytes;
    });
  }
  now = new Date(from.getTime() + 3_600_000 + 1000);
  await tidyUp(program.url);
  const runs = emptyWork();
  await addWork(program, runs, () => executeDueRuns(deps, now, { concurrency: 2 }));
  await checkCompleted(program, organizations * sampleDetections);
  return { organizations, ingest, compaction, runs };
}

const emptyWork = (): Work => ({ units: 0, ms: 0, processor: { program: 0, engines: 0, database: 0 } });

async function addWork({ url }: InProcessProgram, sum: Work, work: () => Promise<number>): Promise<void> {
  const before = await readProcessorTime(url);
  sum.ms += await measureMs(async () => {
    sum.units += await work();
  });
  const after = await readProcessorTime(url);
  for (const part of ['program', 'engines', 'database'] as const) sum.processor[part] += after[part] - before[part];
}

async function createSampleOrganization({ deps }: InProcessProgram, n: number): Promise<OrgId> {
  const { id: orgId } = await createOrganizationWithKey(deps, `sample ${n} of ${Date.now()}`);
  const caller = operatorOf(orgId);
  for (let d = 0; d < sampleDetections; d += 1)
    await createDetection(
      deps,
      caller,
      CreateDetection.parse({
        name: `Detection ${d}`,
        detectionCategory: d % 4 === 0 ? 'first_occurrence' : 'custom',
        detectionCadence: 'hourly',
        systemPrompt: 'Judge it.',
        entityField: 'user',
        detectionQuery: `SELECT _id, _time, "user", action FROM ${dataset} WHERE action = 'action ${d}' AND outcome = 'failure'`,
      }),
    );
  return orgId;
}

/** Returns the events of one minute as NDJSON, about 1 kB each. Detections find a row or two in an hour. */
function eventsOfMinute(minute: number): Buffer {
  const timestamp = new Date(from.getTime() + minute * 60_000).toISOString();
  const lines: string[] = [];
  for (let size = 0, n = minute * 100; size < bytesPerHour / batches; n += 1) {
    const event = {
      timestamp,
      user: `user${(n * 7919) % 500}`,
      action: `action ${n % 997}`,
      outcome: n % 40 === 0 ? 'failure' : 'success',
      source: { ip: `192.0.2.${n % 250}`, country: ['SE', 'DE', 'FR'][n % 3] },
      request: {
        id: `${minute}-${n}`,
        agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
        parameters: text(n),
      },
    };
    size += lines[lines.push(JSON.stringify(event)) - 1]!.length + 1;
  }
  return Buffer.from(lines.join('\n'));
}

const words = ['bucket', 'policy', 'region', 'instance', 'session', 'principal', 'resource', 'tag', 'object', 'key'];
const text = (n: number): string =>
  Array.from({ length: 70 }, (_, i) => `${words[(n * 31 + i * 17) % 10]}${(n * i) % 1000}`).join(' ');

async function checkCompleted({ url }: InProcessProgram, expected: number): Promise<void> {
  const [row] = await withClient(url, async (client) => {
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::int as n from runs where status = 'completed' and finished_at is not null`,
    );
    return rows;
  });
  if (row!.n !== expected) throw new Error(`${row!.n} of ${expected} runs completed.`);
}
