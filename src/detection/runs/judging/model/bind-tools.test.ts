import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { bindTools } from './bind-tools.ts';
import { changeQuotas, readOrganizationQuotas } from '../../../../platform/orgs/limits/quotas.ts';
import { requestRun } from '../../request-run.ts';
import { startApp } from '../../../../../test/support/harness.ts';
import { startModelStandIn, type ModelBrain } from '../../../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../../../test/support/models/scripted-models.ts';
import { hour, startRuns } from '../../../../../test/support/detection/scripted-runs.ts';
import { createFeedTools } from '../../../../app/build-deps.ts';
import { findTechnique } from '../../../../feed/reference-data/attack.ts';
import { updateDetection } from '../../../detections/update-detection.ts';
import { getDetection } from '../../../detections/read-detections.ts';
import type { ModelTool } from '../../../../platform/models/model-request.ts';
import { changeAgentSettings } from '../../../detections/agent-settings/agent-settings.ts';
import { grantTool } from '../../../detections/tool-grants/tool-grants.ts';

const { deps, url, newOrg } = await startApp();
const testDb = { db: deps.db, url };

type Tool = { name: string; output: string; failed: boolean };

/** Lets a model call these tools for the entity `eve` and returns their results. */
async function use(calls: { name: string; input: unknown }[], toolNames: string[], brainOf?: ModelBrain) {
  const stand = await startModelStandIn(
    'anthropic',
    brainOf ?? ((asked) => (asked.turns.length === 1 ? { calls } : { calls: [{ name: 'submit_verdict', input: {} }] })),
  );
  const t = await startRuns(testDb, ({ query, window }) =>
    query === 'logins' && window.from.toISOString() !== hour(0)
      ? []
      : [
          {
            _id: `${query}-1`,
            _time: hour(0),
            user: query === 'logins' ? 'eve' : 'mallory',
            action: 'x',
            password: 'open sesame',
          },
        ],
  );
  t.deps.models = createScriptedModels({ m: stand.url });
  t.deps.feedTools = () => ({
    searchFeed: () => Promise.resolve({ items: [] }),
    lookupIndicator: () => Promise.resolve({ items: [] }),
    lookupTechnique: findTechnique,
    findKnownIndicators: () => Promise.resolve([]),
  });
  const id = await t.newDetection({
    modelAlias: 'm',
    toolNames,
    detectionCategory: 'custom',
  });
  return {
    t,
    id,
    stand,
    run: async (): Promise<Tool[]> => {
      await t.runAt(hour(1));
      const steps = await t.select<{ body: string }>`select body from run_steps order by n`;
      return steps.flatMap(({ body }) => (JSON.parse(body) as { tool?: Tool }).tool ?? []);
    },
  };
}

test('searches the same connection within its limits, redacts the rows, and reports that more rows exist', async () => {
  const { t, id, run } = await use([{ name: 'search_siem', input: { query: 'others', hours: 2 } }], ['search_siem']);
  const record = await getDetection(t.deps, t.caller, id);
  expect(record).toMatchObject({ seesOtherEntities: true });
  const tools = await run();
  expect(tools).toMatchObject([{ name: 'search_siem', failed: false }]);
  expect(tools[0]!.output).toContain('mallory');
  expect(tools[0]!.output).not.toContain('sesame');
  const asked = t.siem.requests.find(({ query }) => query === 'others')!;
  expect(asked.window).toMatchObject({
    clock: 'event',
    to: new Date(hour(1)),
    from: new Date(Date.parse(hour(1)) - 2 * 3_600_000),
  });
});

test('a used-up quota of results lets tools fail with the reason, until the next day', async () => {
  const calls = [{ name: 'search_siem', input: { query: 'others', hours: 2 } }];
  const changes = { observationBytesPerDay: 100 };
  const first = await use(calls, ['search_siem']);
  await changeQuotas(first.t.deps, { id: first.t.orgId }, { changes, operator: 'test' });
  expect(await first.run()).toMatchObject([{ failed: false }]);
  const { states } = await readOrganizationQuotas(first.t.deps, first.t.orgId);
  expect(states).toMatchObject([{ quota: 'observationBytesPerDay', limit: 100, level: 'reached', resetsAt: hour(24) }]);
  const { used } = states[0]!;
  expect(used).toBeGreaterThan(100);

  const second = await use(calls, ['search_siem']);
  await changeQuotas(second.t.deps, { id: second.t.orgId }, { changes, operator: 'test' });
  await second.t
    .select`insert into usage_days (organization_id, day, observation_bytes) values (${second.t.orgId}, ${hour(1)}::date, ${used})`;
  expect(await second.run()).toMatchObject([
    { failed: true, output: expect.stringContaining('(100 bytes) are used up until') },
  ]);
});

test('a detection with skills reads these and no others, without the tool in toolNames', async () => {
  const calls = [
    {},
    { name: 'triage-of-a-sign-in', path: 'references/afterwards.md' },
    { name: 'writing-a-detection' },
  ];
  const { t, id, run } = await use(
    calls.map((input) => ({ name: 'read_skill', input })),
    [],
  );
  const input = { skills: ['triage-of-a-sign-in'] };
  await updateDetection(t.deps, t.caller, { id, input });
  const tools = await run();
  expect(tools.map(({ failed }) => failed)).toEqual([false, false, false]);
  const [listed, read, other] = tools.map(({ output }) => output);
  expect(listed).toContain('Investigates one suspicious sign-in');
  expect(listed).not.toContain('writing-a-detection');
  expect(read).toContain('inbox rules');
  expect(other).toContain('There is no skill writing-a-detection.');
});

/** Stores a hit of an earlier window for each entity, whose rows contain the address 203.0.113.9. */
async function addHits(
  t: Awaited<ReturnType<typeof startRuns>>,
  detectionId: string,
  entities: string[],
): Promise<void> {
  for (const entity of entities) {
    const key = (value: string) => createHash('md5').update(value).digest('hex');
    await t.select`with h as (insert into hits (organization_id, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step, evidence, rows, facts, status, window_from, window_to, first_seen_at, last_seen_at, created_at, updated_at)
      values (${t.orgId}::uuid, gen_random_uuid(), ${detectionId}::uuid, ${entity}, ${entity}, 'user', 'custom', 'low', 1, ${`earlier of ${entity}`}, '', '', '[]', '[]', '{}', 'benign', ${hour(-5)}, ${hour(-4)}, ${hour(-5)}, ${hour(-4)}, now(), now()) returning id)
      insert into hit_values (organization_id, value_key, hit_id) select ${t.orgId}::uuid, key::uuid, id from h, unnest(array[${key(entity)}, ${key('203.0.113.9')}]) key`;
  }
}

test('returns what is known of an entity and of hits that share a value, and looks up a technique by its ID', async () => {
  const { t, id, run } = await use(
    [
      { name: 'entity_history', input: {} },
      { name: 'entity_history', input: { entity: 'mallory' } },
      { name: 'related_hits', input: { value: '203.0.113.9' } },
      { name: 'lookup_technique', input: { id: 'T1078' } },
      { name: 'lookup_technique', input: { id: 'nonsense' } },
    ],
    ['entity_history', 'related_hits', 'lookup_technique'],
  );
  await addHits(t, id, ['eve', 'mallory']);
  const noted = await t.select<{
    id: string;
  }>`insert into entity_notes (organization_id, id, entity, entity_type, note, updated_at)
    values (${t.orgId}, gen_random_uuid(), 'Eve', '', 'Leaves on Friday.', now()) returning id`;
  await t.select`insert into value_lists (organization_id, id, name, description, list_columns, list_values, updated_at)
    values (${t.orgId}, gen_random_uuid(), 'leavers', 'People who leave', '["value"]', '["EVE"]', now())`;
  const tools = await run();
  expect(tools.map(({ failed, output }) => failed && output)).toEqual([false, false, false, false, expect.any(String)]);
  const [own, other, related, technique] = tools.map(({ output }) => output) as [string, string, string, string];
  for (const part of [
    `note:${noted[0]!.id}`,
    'Leaves on Friday.',
    'list:leavers',
    '"entry":"EVE"',
    '"status":"benign"',
    '"occurrences"',
  ])
    expect(own).toContain(part);
  expect(own).not.toContain('mallory');
  expect(other).toContain('"entity":"mallory"');
  expect([related.includes('"entity":"mallory"'), related.includes('"entity":"eve"')]).toEqual([true, true]);
  // A headline quotes rows, whose text may plead for a later verdict.
  expect([own, other, related].join()).not.toContain('earlier of');
  expect(technique).toContain('Valid Accounts');
});

test('no tool returns what the organization keeps from models, and no other organization changes that', async () => {
  const search = [{ name: 'search_logs', input: { query: 'others' } }];
  for (const hiddenFields of [['User'], []]) {
    const { t, run } = await use(search, ['search_logs']);
    await changeAgentSettings(t.deps, t.caller, { hiddenFields });
    await changeAgentSettings(t.deps, { ...t.caller, orgId: (await newOrg()).id }, { hiddenFields: ['action'] });
    const [found] = await run();
    expect(found!.output.includes('mallory')).toBe(hiddenFields.length === 0);
  }
});

test('a grant says whether results are trusted and whether a model may send text of its own', async () => {
  const { t, id } = await use([], ['http_get', 'tickets__search']);
  const sent: unknown[] = [];
  const mcpTool: ModelTool = {
    name: 'tickets__search',
    description: '',
    effect: 'send',
    source: 'outside',
    inputSchema: { properties: { q: {}, status: { enum: ['open'] } } },
    parse: (input) => ({ input }),
    run: (input) => Promise.resolve((sent.push(input), '[{"ticket": "T-1", "owner": "mallory"}]')),
  };
  const mcp = { find: () => Promise.resolve(mcpTool), list: () => Promise.resolve([]), close: () => Promise.resolve() };
  const run = {
    orgId: t.orgId,
    detectionId: id,
    definition: { toolNames: ['tickets__search'] },
    progress: { warnings: [] },
  } as never;
  const candidate = { entity: 'eve', entityType: 'user', facts: {}, rows: [] } as never;
  const bind = async () => (await bindTools({ ...t.deps, mcp }, run, candidate))[0]!;
  const { signal } = new AbortController();
  await grantTool(t.deps, t.caller, { id, tool: 'tickets__search' }, {});
  const strict = await bind();
  expect(strict.isTrusted).toBe(false);
  await expect(strict.run({ q: 'all passwords' }, signal)).rejects.toThrow('/q is not a complete value');
  const first = await strict.run({ q: 'eve', status: 'open' }, signal);
  expect(first).toMatchObject({
    rows: [{ fields: { ticket: 'T-1', owner: 'mallory' } }],
    columns: [{ kind: 'value' }, { kind: 'value' }],
  });
  await expect(strict.run({ q: 'mallory' }, signal)).rejects.toThrow('/q');
  await strict.run({ q: 'mallory' }, signal, [first]);
  await grantTool(t.deps, t.caller, { id, tool: 'tickets__search' }, { isTrusted: true, allowsFreeArguments: true });
  const free = await bind();
  expect(free.isTrusted).toBe(true);
  await free.run({ q: 'all passwords' }, signal);
  expect(sent).toEqual([{ q: 'eve', status: 'open' }, { q: 'mallory' }, { q: 'all passwords' }]);
});

test('offers a sending tool only after an administrator granted it, and warns about a missing server', async () => {
  const { t, id, stand, run } = await use([], ['get_rows', 'http_get', 'tickets__search'], () => ({
    calls: [{ name: 'submit_verdict', input: {} }],
  }));
  await run();
  expect(stand.asked[0]!.tools).toEqual(['get_rows', 'submit_verdict', 'write_plan']);
  const warnings = async () =>
    (await t.select<{ warnings: string }>`select string_agg(warnings, ' ') as warnings from runs`)[0]!.warnings;
  expect(await warnings()).toContain('http_get, tickets__search');
  await grantTool(t.deps, t.caller, { id, tool: 'http_get' }, { url: 'https://intel.example/{entity}' });
  await grantTool(t.deps, t.caller, { id, tool: 'tickets__search' }, {});
  await requestRun(t.deps, t.caller, id, { from: hour(0), to: hour(1) });
  await t.runAt(hour(1));
  expect(stand.asked.at(-1)!.tools).toEqual(['get_rows', 'http_get', 'submit_verdict', 'write_plan']);
  expect(await warnings()).toContain('tool_unavailable');
});

test('offers no tools and no skills with planningMode never', async () => {
  const { t, id, stand, run } = await use([], ['get_rows'], () => ({
    calls: [{ name: 'submit_verdict', input: {} }],
  }));
  const input = { planningMode: 'never' as const, skills: ['triage-of-a-sign-in'] };
  await updateDetection(t.deps, t.caller, { id, input });
  await run();
  expect(stand.asked.map(({ tools }) => tools)).toEqual([['submit_verdict'], ['submit_verdict']]);
  expect(stand.asked[0]!.system).not.toContain('triage-of-a-sign-in');
});

test('searches the feed as the organization sees it', async () => {
  const [org, stranger] = [await newOrg(), await newOrg()];
  const mark = `mark${randomBytes(6).toString('hex')}`;
  await org.call('POST', '/api/feed/items', { title: `Beside ${mark}`, text: 'Nobody visited quiet-host[.]top.' });
  const text = `${mark} met evil-panel[.]top on Monday.`;
  await org.call('POST', '/api/feed/items', { title: `About ${mark}`, text });
  const [own, foreign] = [org, stranger].map(({ id }) => createFeedTools(deps)(id));
  type Found = { items: { id: string; title: string }[] };
  const found = (await own!.searchFeed(`about ${mark}`, 3)) as Found;
  // The other item has one of the words.
  expect(found.items.map(({ title }) => title)).toEqual([`About ${mark}`, `Beside ${mark}`]);
  expect(await own!.searchFeed(`x${mark} nowhere`, 3)).toEqual({ items: [] });
  expect(await foreign!.searchFeed(mark, 3)).toEqual({ items: [] });
  expect(await own!.lookupIndicator('EVIL-panel.top')).toMatchObject({
    status: 'active',
    items: [{ itemId: found.items[0]!.id, value: 'evil-panel[.]top' }],
  });
  for (const [tools, value] of [
    [own, 'panel.top'],
    [foreign, 'evil-panel.top'],
  ] as const)
    expect(await tools!.lookupIndicator(value)).toMatchObject({ status: 'unknown', items: [] });
});
