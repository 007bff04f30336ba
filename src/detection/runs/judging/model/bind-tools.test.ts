import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { requestRun } from '../../request-run.ts';
import { startApp } from '../../../../../test/support/harness.ts';
import { startModelStandIn, type ModelBrain } from '../../../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../../../test/support/models/scripted-models.ts';
import { hour, startRuns } from '../../../../../test/support/detection/scripted-runs.ts';
import { createFeedTools } from '../../../../app/build-deps.ts';
import { findTechnique } from '../../../../feed/reference-data/attack.ts';
import { getDetection } from '../../../detections/read-detections.ts';
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
    planningMode: 'never',
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

test('returns the history of the entity only, and looks up a technique by its ID', async () => {
  const { t, id, run } = await use(
    [
      { name: 'entity_history', input: {} },
      { name: 'lookup_technique', input: { id: 'T1078' } },
      { name: 'lookup_technique', input: { id: 'nonsense' } },
    ],
    ['entity_history', 'lookup_technique'],
  );
  await t.select`insert into hits (organization_id, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step, evidence, rows, facts, window_from, window_to, first_seen_at, last_seen_at, created_at, updated_at)
    select ${t.orgId}::uuid, gen_random_uuid(), ${id}::uuid, who, who, 'user', 'custom', 'low', 1, 'earlier of ' || who, '', '', '[]', '[]', '{}', now(), now(), now(), now(), now(), now() from unnest(array['eve', 'mallory']) who`;
  const tools = await run();
  expect(tools.map(({ failed }) => failed)).toEqual([false, false, true]);
  expect(tools[0]!.output.match(/"occurrences"/g)).toHaveLength(1);
  // A headline quotes rows, whose text may plead for a later verdict.
  expect(tools[0]!.output).not.toMatch(/earlier of|mallory/);
  expect(tools[1]!.output).toContain('Valid Accounts');
});

test('offers a sending tool only after an administrator granted it, and warns about a missing server', async () => {
  const { t, id, stand, run } = await use([], ['get_rows', 'http_get', 'tickets__search'], () => ({
    calls: [{ name: 'submit_verdict', input: {} }],
  }));
  await run();
  expect(stand.asked[0]!.tools).toEqual(['get_rows', 'submit_verdict']);
  const warnings = async () =>
    (await t.select<{ warnings: string }>`select string_agg(warnings, ' ') as warnings from runs`)[0]!.warnings;
  expect(await warnings()).toContain('http_get, tickets__search');
  await grantTool(t.deps, t.caller, { id, tool: 'http_get' }, { url: 'https://intel.example/{entity}' });
  await grantTool(t.deps, t.caller, { id, tool: 'tickets__search' }, {});
  await requestRun(t.deps, t.caller, id, { from: hour(0), to: hour(1) });
  await t.runAt(hour(1));
  expect(stand.asked.at(-1)!.tools).toEqual(['get_rows', 'http_get', 'submit_verdict']);
  expect(await warnings()).toContain('tool_unavailable');
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
  expect(found.items.map(({ title }) => title)).toEqual([`About ${mark}`]);
  expect(await own!.searchFeed(`${mark} nowhere`, 3)).toEqual({ items: [] });
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
