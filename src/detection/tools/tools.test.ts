import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import { renderRow } from '../analysis/rows/render-row.ts';
import type { AnalysisDefinition } from '../analysis/analysis-definition.ts';
import { localConnection } from '../log-query/local-connection.ts';
import type { SiemConnection } from '../siem/connector.ts';
import { nothingHidden } from '../siem/hidden-data.ts';
import { resultLimits, type ToolResult } from './tool-result.ts';
import { bindTool, findTool, tools } from './tools.ts';
import type { ToolSources } from './tool-definition.ts';

const store = await startLogStore();
const definition = { timeField: null } as AnalysisDefinition;
const windowTo = new Date('2024-06-01T12:00:00Z');
const password = 'correct-horse';
const national = 'NID-1234';
const long = 'x'.repeat(100_000);

let connection: SiemConnection;
beforeAll(async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T13:00:00Z');
  const events = Array.from({ length: 150 }, (_, n) => ({
    user: n % 3 === 0 ? 'eve' : 'root',
    ip: `10.0.0.${n % 5}`,
    password,
    person: { nid: national, name: 'Eve' },
    note: n === 7 ? long : `event ${n} ${'y'.repeat(900)}`,
    time: new Date(windowTo.getTime() - (n + 1) * 60_000).toISOString(),
  }));
  await store.send(org, 'auth', events);
  await store.send(org, 'quiet', [{ user: 'eve', time: '2024-01-01T00:00:00Z' }]);
  store.at('2024-06-01T13:05:00Z');
  connection = localConnection(store.deps, org);
});

const row = { rowId: 'r1', time: null, fields: { user: 'root', 'person.nid': national, ip: '192.0.2.7' } };
const record = { id: 'one', kind: 'note', note: long, password, person: { nid: national } };
const skill = {
  name: 'triage',
  version: 3,
  description: 'd'.repeat(1024),
  body: `${'Look first.\n'.repeat(2_000)}${long}`,
  files: [{ path: 'references/a.md', text: long }, { path: 'a.png' }],
};
const sourcesWith = (more: Partial<ToolSources> = {}): Omit<ToolSources, 'known'> => ({
  entity: 'root',
  rows: [row],
  facts: { count: 3 },
  propose: () => Promise.resolve('It waits.'),
  hidden: nothingHidden,
  logs: { connection, windowTo, now: store.deps.clock(), render: (one, window) => renderRow(one, window, definition) },
  profile: () => Promise.resolve([record]),
  relatedHits: () => Promise.resolve([record]),
  searchFeed: () => Promise.resolve({ items: Array.from({ length: 500 }, (_, n) => ({ ...record, id: String(n) })) }),
  lookupIndicator: () => Promise.resolve({ status: 'active', person: { nid: national }, items: [record] }),
  lookupTechnique: () => record,
  lookUpValues: (values) =>
    Promise.resolve(
      values.map((value) => ({ enricher: 'geo', value, fields: { city: long }, at: windowTo, costUsd: 0 })),
    ),
  skills: () => Promise.resolve([skill]),
  grant: { url: 'https://intel.example/ip/{entity}', isTrusted: false, allowsFreeArguments: false },
  fetchText: () => Promise.resolve(JSON.stringify(Array.from({ length: 500 }, () => record))),
  ...more,
});

/** Valid inputs of every tool, of which the first ones find something. */
const inputs: Record<string, Record<string, unknown>[]> = {
  get_rows: [{ contains: 'root' }],
  list_datasets: [{}],
  describe_dataset: [{ dataset: 'auth' }],
  search_logs: [{ query: 'SELECT * FROM auth' }, { query: 'SELECT count(*) FROM auth' }],
  count_by: [
    { dataset: 'auth', field: 'user' },
    { dataset: 'auth', where: [{ field: 'user', value: 'EVE' }] },
  ],
  entity_profile: [{}],
  related_hits: [{}],
  search_feed: [{ text: 'ransomware' }],
  lookup_indicator: [{ value: '192.0.2.1' }],
  lookup_technique: [{ id: 'T1059' }],
  enrich_values: [{ values: ['192.0.2.7', '192.0.2.99'] }],
  read_skill: [{}, { name: 'triage' }, { name: 'triage', path: './references/a.md' }],
  http_get: [{ values: {} }],
  propose_exception: [{ entity: 'root', reason: 'r' }],
  propose_detection: [
    { name: 'n', detectionCategory: 'custom', detectionQuery: 'SELECT 1', systemPrompt: 'p', reason: 'r' },
  ],
};

const signal = new AbortController().signal;
async function run(name: string, input: unknown, more: Partial<ToolSources> = {}, stop = signal): Promise<ToolResult> {
  const bound = bindTool(name, sourcesWith(more))!;
  const parsed = bound.parse(input as Record<string, unknown>);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return bound.run(parsed.input, stop);
}

/** Throws unless a result has the one form of all tools, within its limits. */
function checkResult(result: ToolResult): void {
  const bytes = result.rows
    .flatMap(({ fields }) => Object.entries(fields))
    .reduce((sum, [a, b]) => sum + Buffer.byteLength(a + b), 0);
  expect(result.rows.length).toBeLessThanOrEqual(resultLimits.rowsMax);
  expect(bytes).toBeLessThanOrEqual(resultLimits.bytesMax);
  expect(result.total).toBeGreaterThanOrEqual(result.rows.length);
  expect(result.truncated || result.total === result.rows.length).toBe(true);
  const columns = result.columns.map(({ name }) => name);
  expect(new Set(columns).size).toBe(columns.length);
  for (const { rowId, fields } of result.rows) {
    expect(rowId).not.toBe('');
    for (const [name, value] of Object.entries(fields)) {
      expect(columns).toContain(name);
      expect(value.length).toBeLessThanOrEqual(500);
    }
  }
  expect(new Set(result.rows.map(({ rowId }) => rowId)).size).toBe(result.rows.length);
  expect((result.from === null) === (result.to === null)).toBe(true);
}

describe.each(Object.entries(tools))('%s', (name, tool) => {
  test('keeps what its description promises', () => {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)+$/);
    expect(tool.description).toMatch(/^[A-Z].*\.$/);
    const bound = bindTool(name, sourcesWith())!;
    expect(bound.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(bound.parse({ ...inputs[name]![0], unknown: 1 })).toMatchObject({
      problem: expect.stringContaining('unknown'),
    });
    if (tool.effect === 'send') expect(tool.source).toBe('outside');
    if (tool.alias !== undefined) expect(findTool(tool.alias)).toBe(tool);
  });

  test('returns one form within its limits, the same for calls side by side', async () => {
    for (const input of inputs[name]!) {
      const [first, ...others] = await Promise.all([1, 2, 3].map(() => run(name, input)));
      checkResult(first!);
      if (tool.effect === 'propose') expect(first).toMatchObject({ rows: [], note: 'It waits.' });
      else expect(first!.rows.length).toBeGreaterThan(0);
      for (const other of others) expect(other).toEqual(first);
      expect(JSON.stringify(first)).not.toContain(password);
    }
  });

  test('returns no field that the organization keeps from models', async () => {
    const hidden = { datasets: ['quiet'], fields: ['Person.Nid', 'user'] };
    for (const input of inputs[name]!) {
      const result = await run(name, input, { hidden });
      checkResult(result);
      expect(JSON.stringify([result.rows, result.columns])).not.toContain(national);
      expect(result.rows.some(({ fields }) => 'user' in fields)).toBe(false);
      expect(JSON.stringify(result)).not.toContain('quiet');
    }
  });

  test('ends when the investigation does', async () => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    const slow = {
      connection: {
        ...connection,
        search: (_q: string, _w: unknown, _l: unknown, stop: AbortSignal) => Promise.reject(stop.reason as Error),
      },
    };
    const logs = { ...sourcesWith().logs, ...(slow as Partial<ToolSources['logs']>) };
    const outcome = await run(name, inputs[name]![0], { logs }, stopped).then(
      checkResult,
      (error: Error) => error.message,
    );
    expect([undefined, 'stopped', 'The query was cancelled.']).toContain(outcome);
  });

  test('sends data only as an administrator allows', async () => {
    if (!tool.findUrlProblem) return;
    expect(tool.effect).toBe('send');
    expect(tool.findUrlProblem('ftp://{entity}')).toMatch(/^must /);
    await expect(run(name, inputs[name]![0], { grant: undefined })).rejects.toThrow('no administrator');
  });
});

test('the guide lists every tool', () => {
  const guide = readFileSync('docs/guide/write-an-agent.md', 'utf8');
  const names = Object.entries(tools).flatMap(([name, { alias = name }]) => [name, alias]);
  expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

test('reads a long skill in parts, which together are the text', async () => {
  const listed = await run('read_skill', {});
  expect(listed.rows).toEqual([{ rowId: 'triage', time: null, fields: { text: 'd'.repeat(500) } }]);
  let text = '';
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const part: ToolResult = await run('read_skill', { name: 'triage', offset });
    checkResult(part);
    expect(part.columns).toEqual([{ name: 'text', kind: 'other' }]);
    text += part.rows.map(({ fields }) => fields['text']).join('');
    const next: string | undefined = /offset (\d+)/.exec(part.note ?? '')?.[1];
    expect(part.truncated).toBe(next !== undefined);
    offset = next === undefined ? undefined : Number(next);
  }
  expect(text).toBe(skill.body);
  expect((await run('read_skill', { name: 'other' })).note).toBe('There is no skill other. Skills: triage.');
  expect((await run('read_skill', { name: 'triage', path: 'a.png' })).note).toContain('Text files: references/a.md.');
});
