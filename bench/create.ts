import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { alternate, type Figure } from './figure.ts';
import { load } from './load.ts';
import { apiKey, withProgram, type Running } from './place.ts';

const [rounds, seconds, connections] = [5, 3, 10];
const input = {
  name: 'Sign-in without a second factor',
  detectionCategory: 'custom',
  systemPrompt: 'Judge whether a sign-in without a second factor is an account takeover.',
  detectionQuery: 'SELECT _id, _time, user, country FROM signins WHERE NOT mfa',
  detectionCadence: 'hourly',
  tags: ['identity'],
};

/** The tables that a creation writes to, and which column of each is new in every row. */
const tables = {
  agents: 'id',
  agent_prompts: 'id',
  agent_revisions: 'agent_id',
  schedules: 'detection_id',
  audit: 'id',
} as const;

type Row = Record<string, unknown>;
type Template = { text: string; values: unknown[]; fresh: number[] };

/** INSERTs of the very rows that one creation left, each with new ids in place of the old. */
async function templates(client: pg.Client, id: string): Promise<Template[]> {
  const made: Template[] = [];
  for (const [table, key] of Object.entries(tables)) {
    const where =
      table === 'audit'
        ? "resource_id = $1 and action = 'detection.created'"
        : table === 'agents'
          ? 'id = $1'
          : `${table === 'schedules' ? 'detection_id' : 'agent_id'} = $1`;
    const { rows } = await client.query<Row>(`select * from ${table} where ${where}`, [id]);
    for (const row of rows) {
      const columns = Object.keys(row);
      const text = `insert into ${table} (${columns.join()}) values (${columns.map((_, n) => `$${n + 1}`).join()})`;
      const isFresh = (column: string): boolean => column === key || row[column] === id;
      made.push({
        text,
        values: columns.map((column) => row[column]),
        fresh: columns.flatMap((column, n) => (isFresh(column) ? [n] : [])),
      });
    }
  }
  return made;
}

/** The same rows, one transaction a detection, over as many connections: per second. */
async function bareInserts(url: string, rows: Template[]): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let done = 0;
  const work = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    while (performance.now() < until) {
      const [agent, own] = [randomUUID(), randomUUID()];
      await client.query('begin');
      for (const [index, { text, values, fresh }] of rows.entries()) {
        // The first of them is the agent; every other row points at it and has an id of its own.
        const given = values.map((value, n) =>
          fresh.includes(n) ? (index === 0 || value === rows[0]!.values[rows[0]!.fresh[0]!] ? agent : own) : value,
        );
        await client.query({ name: `bare-${index}`, text, values: given });
      }
      await client.query('commit');
      done += 1;
    }
    await client.end();
  };
  await Promise.all(Array.from({ length: connections }, work));
  return done / seconds;
}

async function measure(running: Running): Promise<{ ours: number; bare: number; share: number }> {
  const { id } = (await running.call('POST', '/api/detections', input)) as { id: string };
  const client = new pg.Client({ connectionString: running.databaseUrl });
  await client.connect();
  const rows = await templates(client, id);
  await client.end();
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const request = {
    url: `${running.url}/api/detections`,
    method: 'POST' as const,
    headers,
    body: JSON.stringify(input),
  };
  const ours = async (): Promise<number> => (await load(request, running.program.pid, seconds)).perSecond;
  await ours();
  return alternate(rounds, { ours, bare: () => bareInserts(running.databaseUrl, rows), better: 'more' });
}

export const create: Figure = {
  title: '`POST /api/detections` against bare INSERTs of the same rows',
  run: (say) =>
    withProgram({}, async (running) => {
      say(`${rounds} rounds of ${seconds} s each`);
      return [
        {
          what: `${connections} clients; bare: ${connections} connections, one transaction a detection`,
          unit: 'detections/s',
          ...(await measure(running)),
        },
      ];
    }),
};
