import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { measureInTurn, type Benchmark } from './benchmark.ts';
import { measureLoad } from './http-load.ts';
import { apiKey, withClient, withRunningProgram, type RunningProgram } from '../test/support/program-environment.ts';

const [rounds, seconds, connections] = [5, 3, 10];
const input = {
  name: 'Sign-in without a second factor',
  detectionCategory: 'custom',
  systemPrompt: 'Judge whether a sign-in without a second factor is an account takeover.',
  detectionQuery: 'SELECT _id, _time, user, country FROM signins WHERE NOT mfa',
  detectionCadence: 'hourly',
  tags: ['identity'],
};

/** The tables that a creation writes to, with the column that identifies the row. */
const tables = {
  agents: { key: 'id', condition: 'id = $1' },
  agent_prompts: { key: 'id', condition: 'agent_id = $1' },
  agent_revisions: { key: 'agent_id', condition: 'agent_id = $1' },
  schedules: { key: 'detection_id', condition: 'detection_id = $1' },
  audit: { key: 'id', condition: "resource_id = $1 and action = 'detection.created'" },
} as const;

type Row = Record<string, unknown>;
type InsertTemplate = { text: string; values: unknown[]; fresh: number[] };

/** Builds INSERT statements from the rows that one creation wrote. `fresh` lists the columns that need a new ID. */
async function buildInsertTemplates(client: pg.Client, id: string): Promise<InsertTemplate[]> {
  const templates: InsertTemplate[] = [];
  for (const [table, { key, condition }] of Object.entries(tables)) {
    const { rows } = await client.query<Row>(`select * from ${table} where ${condition}`, [id]);
    for (const row of rows) {
      const columns = Object.keys(row);
      const text = `insert into ${table} (${columns.join()}) values (${columns.map((_, n) => `$${n + 1}`).join()})`;
      const isFresh = (column: string): boolean => column === key || row[column] === id;
      templates.push({
        text,
        values: columns.map((column) => row[column]),
        fresh: columns.flatMap((column, n) => (isFresh(column) ? [n] : [])),
      });
    }
  }
  return templates;
}

/** Inserts the same rows, one transaction per detection, over as many connections. Returns detections per second. */
async function insertRows(url: string, rows: InsertTemplate[]): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let done = 0;
  const work = async (client: pg.Client): Promise<void> => {
    while (performance.now() < until) {
      const [agentId, rowId] = [randomUUID(), randomUUID()];
      await client.query('begin');
      for (const [index, { text, values, fresh }] of rows.entries()) {
        // The first row is the agent. The other rows refer to it and have their own ID.
        const newValues = values.map((value, n) =>
          fresh.includes(n) ? (index === 0 || value === rows[0]!.values[rows[0]!.fresh[0]!] ? agentId : rowId) : value,
        );
        await client.query({ name: `bare-${index}`, text, values: newValues });
      }
      await client.query('commit');
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, () => withClient(url, work)));
  return done / seconds;
}

async function measure(running: RunningProgram): Promise<{ tocsin: number; baseline: number; share: number }> {
  const { id } = await running.call('POST', '/api/detections', input);
  const rows = await withClient(running.databaseUrl, (client) => buildInsertTemplates(client, id));
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const url = `${running.url}/api/detections`;
  const request = { url, method: 'POST' as const, headers, body: JSON.stringify(input) };
  const tocsin = async (): Promise<number> => (await measureLoad(request, running.program.pid, seconds)).perSecond;
  await tocsin();
  return measureInTurn(rounds, { tocsin, baseline: () => insertRows(running.databaseUrl, rows), better: 'more' });
}

export const createDetectionBenchmark: Benchmark = {
  title: '`POST /api/detections` against bare INSERTs of the same rows',
  run: (report) =>
    withRunningProgram({}, async (running) => {
      report(`${rounds} rounds of ${seconds} s each`);
      return [
        {
          label: `${connections} clients (baseline: ${connections} connections, one transaction per detection)`,
          unit: 'detections/s',
          ...(await measure(running)),
        },
      ];
    }),
  note: 'The five rows are one statement with a cached plan, in a transaction that also reads the settings and the quota of the organization and looks for subscribers to the event. The rest is HTTP, the check of the key and of the definition, and row-level security, which the baseline does without. More than half of the processor time is that of the service, so no faster insert reaches 75 %.',
};
