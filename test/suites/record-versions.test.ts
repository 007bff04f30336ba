import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { insertModelVerdict } from '../../src/feed/items/writing/overrides.store.ts';
import { acrossOrgs } from '../../src/platform/db/db.ts';
import type { StaleProblem } from '../../src/platform/lib/errors.ts';
import { adminEnv, adminHeadersFor } from '../support/admin-key.ts';
import { callOk, postDetection, postSuggestion } from '../support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../support/harness.ts';
import { root } from '../support/program.ts';

const { app, deps, newOrg } = await startApp({ env: adminEnv });

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';
type Response = { status: number; etag: string; body: { stale?: StaleProblem; [name: string]: unknown } };

/** Calls as an organization, or as the operator below `/api/admin/`. */
async function call(org: TestOrg, method: Method, url: string, payload?: object, ifMatch?: string): Promise<Response> {
  const response = await app.inject({
    method,
    url,
    headers: {
      authorization: `Bearer ${org.key}`,
      ...adminHeadersFor(url),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    },
    ...(payload && { payload }),
  });
  return { status: response.statusCode, etag: String(response.headers['etag']), body: response.json() };
}

type Edited = { path: string; change: (n: number) => object; readEtag?: () => Promise<string> };

/** The records that a route replaces, or changes in part, and whose version is not the `updatedAt` of a response. */
async function createEdited(org: TestOrg): Promise<Edited[]> {
  const { id } = await postDetection(org);
  for (const prompt of ['a', 'b', 'c', 'd', 'e', 'f'])
    await callOk(org, 'POST', `/api/detections/${id}/prompts`, { prompt });
  const item = await callOk(org, 'POST', '/api/feed/items', { text: 'Emotet used zq7-drop[.]top.' });
  const view = await callOk(org, 'POST', '/api/views', { name: 'Mine', page: 'hits', query: 'status=open' });
  const agent = await callOk(org, 'POST', '/api/agents', {
    name: 'Looks',
    systemPrompt: 'Look.',
    inputs: [{ type: 'number', name: 'n', description: '', required: false }],
  });
  const triggers = `/api/agents/${agent.id}/triggers`;
  const trigger = await callOk(org, 'POST', triggers, { source: 'hit.created' });
  await callOk(org, 'PUT', '/api/logs/auth/columns', { columns: [] });
  const grant = `/api/detections/${id}/tools/http_get`;
  return [
    {
      path: `/api/detections/${id}/tests`,
      change: (n) => ({ tests: [{ name: `Test ${n}`, events: [{ n }], expect: [] }] }),
    },
    { path: `/api/detections/${id}/shadow`, change: (n) => ({ promptVersion: n }) },
    {
      path: grant,
      change: (n) => ({ url: `https://intel.example/${n}` }),
      readEtag: async () =>
        `"${(await callOk(org, 'GET', `/api/detections/${id}/tools`)).grants[0]?.allowedAt ?? '0'}"`,
    },
    { path: '/api/logs/auth/columns', change: (n) => ({ columns: [{ name: `c${n}`, type: 'VARCHAR' }] }) },
    {
      path: `/api/feed/items/${item.id}/override`,
      change: (n) => ({ note: `Note ${n}` }),
      readEtag: async () => (await call(org, 'GET', `/api/feed/items/${item.id}`)).etag,
    },
    {
      path: `/api/views/${view.id}`,
      change: (n) => ({ name: `View ${n}`, page: 'hits', query: `n=${n}` }),
      readEtag: async () => `"${(await callOk(org, 'GET', '/api/views')).views[0].updatedAt}"`,
    },
    {
      path: `${triggers}/${trigger.id}`,
      change: (n) => ({ name: `Trigger ${n}` }),
      readEtag: async () => `"${(await callOk(org, 'GET', triggers)).triggers[0].updatedAt}"`,
    },
    {
      path: `/api/agents/${agent.id}/schedule`,
      change: (n) => ({ inputs: { n } }),
      readEtag: async () => (await call(org, 'GET', `/api/agents/${agent.id}/schedule`)).etag,
    },
    { path: '/api/privacy/retention', change: (n) => ({ hitsDays: n }) },
    { path: '/api/agent-settings', change: (n) => ({ hiddenFields: [`f${n}`] }) },
    { path: `/api/admin/organizations/${org.id}/retention`, change: (n) => ({ logsDays: 60 + n }) },
    { path: `/api/admin/organizations/${org.id}/quotas`, change: (n) => ({ apiKeys: 10 + n }) },
    {
      path: `/api/admin/organizations/${org.id}/tags`,
      change: (n) => ({ tags: [`tier-${n}`] }),
      readEtag: async () => (await call(org, 'GET', `/api/admin/organizations/${org.id}`)).etag,
    },
  ];
}

const by = (path: string, { keyId, actor }: StaleProblem['changes'][number]): string | null =>
  path.startsWith('/api/admin/') ? actor : keyId;

test('records without a form, settings and parts of records refuse a change of an older version', async () => {
  const org = await newOrg();
  for (const { path, change, readEtag = async () => (await call(org, 'GET', path)).etag } of await createEdited(org)) {
    const seen = await readEtag();
    const attempts = await Promise.all([1, 2, 3].map((n) => call(org, 'PUT', path, change(n), seen)));
    expect([path, ...attempts.map(({ status }) => status).toSorted()]).toEqual([path, 200, 412, 412]);
    const stale = attempts.find(({ status }) => status === 412)!.body.stale!;
    expect([path, stale.changes.length]).toEqual([path, 1]);
    expect(by(path, stale.changes[0]!)).toEqual(expect.any(String));
    const winner = attempts.find(({ status }) => status === 200)!;
    expect([path, winner.etag, await readEtag().then((etag) => (etag.includes('T') ? winner.etag : etag))]).toEqual([
      path,
      stale.current,
      stale.current,
    ]);
    // The ETag that the answer names applies, and only once.
    const current = String(stale.current);
    expect((await call(org, 'PUT', path, change(4), current)).status).toBe(200);
    const late = await call(org, 'PUT', path, change(5), current);
    expect([path, late.status, late.body.stale!.changes.length]).toEqual([path, 412, 1]);
    const unknown = await call(org, 'PUT', path, change(5), '"other"');
    expect([path, unknown.status]).toEqual([path, 412]);
    expect((await call(org, 'PUT', path, change(6))).status).toBe(200);
  }
});

test('grants and shadows are removed only as the version that the caller saw', async () => {
  const org = await newOrg();
  const { id } = await postDetection(org);
  await callOk(org, 'POST', `/api/detections/${id}/prompts`, { prompt: 'a' });
  for (const [path, body] of [
    [`/api/detections/${id}/shadow`, { promptVersion: 1 }],
    [`/api/detections/${id}/tools/http_get`, { url: 'https://intel.example/' }],
  ] as const) {
    const [first, second] = [await call(org, 'PUT', path, body), await call(org, 'PUT', path, body)];
    expect((await call(org, 'DELETE', path, undefined, first.etag)).status).toBe(412);
    expect((await call(org, 'DELETE', path, undefined, second.etag)).status).toBe(200);
    expect((await call(org, 'PUT', path, body, second.etag)).status).toBe(412);
    expect((await call(org, 'PUT', path, body, '"0"')).status).toBe(200);
  }
});

test('a verdict of the service does not refuse a change of an override', async () => {
  const org = await newOrg();
  const item = await callOk(org, 'POST', '/api/feed/items', { text: 'Emotet used zq7-drop[.]top.' });
  const { etag } = await call(org, 'GET', `/api/feed/items/${item.id}`);
  const verdict = { orgId: org.id, itemId: item.id, verdict: 'relevant' as const, reasons: [], at: new Date() };
  expect(await acrossOrgs(deps.db, (tx) => insertModelVerdict(tx, verdict))).toBe(true);
  const path = `/api/feed/items/${item.id}`;
  expect((await call(org, 'PUT', `${path}/override`, { severity: 'low' }, etag)).status).toBe(200);
  expect((await call(org, 'POST', `${path}/split`)).status).toBe(409);
  expect((await call(org, 'PUT', `${path}/override`, { relevance: { verdict: 'irrelevant' } }, etag)).status).toBe(412);
});

test('a suggestion is accepted as the version that the caller saw, with the changes of the caller', async () => {
  const org = await newOrg();
  const { id } = await postSuggestion(org, { name: 'First' });
  const path = `/api/detections/${id}`;
  const accept = (name: string, ifMatch?: string) => call(org, 'POST', `${path}/accept`, { name }, ifMatch);
  const { etag } = await call(org, 'GET', path);
  await callOk(org, 'PUT', path, { description: 'Ours' });
  const late = await accept('Late', etag);
  expect(late).toMatchObject({
    status: 412,
    body: { stale: { changes: [{ fields: [{ field: 'description', before: '', after: 'Ours' }] }] } },
  });
  const seen = String(late.body.stale!.current);
  const attempts = await Promise.all(['One', 'Two', 'Three'].map((name) => accept(name, seen)));
  expect(attempts.map(({ status }) => status).toSorted()).toEqual([200, 412, 412]);
  const stale = attempts.find(({ status }) => status === 412)!.body.stale!;
  expect(stale.changes[0]).toMatchObject({ action: 'suggestion.accepted' });
  expect(await accept('Four', String(stale.current))).toMatchObject({ status: 200, body: { name: 'Four' } });
  // A repeated request changes nothing.
  expect(await accept('Five')).toMatchObject({ status: 200, body: { name: 'Four' } });
  for (const [method, url] of [
    ['DELETE', path],
    ['POST', `${path}/restore`],
  ] as const) {
    expect((await call(org, method, url, undefined, seen)).status).toBe(412);
    expect((await call(org, method, url, undefined, (await call(org, 'GET', path)).etag)).status).toBe(200);
  }
  const other = await postSuggestion(org, { name: 'Other' });
  expect((await call(org, 'POST', `/api/detections/${other.id}/dismiss`, {}, seen)).status).toBe(412);
});

test('a change of many detections leaves out those that changed, and says what changed', async () => {
  const org = await newOrg();
  const detections = await Promise.all(
    ['A', 'B', 'C'].map((name) => postDetection(org, { name, detectionCadence: 'hourly', tags: ['x'] })),
  );
  const ids = detections.map(({ id }) => id);
  const ifMatch = Object.fromEntries(detections.map(({ id, updatedAt }) => [id, `"${updatedAt}"`]));
  await callOk(org, 'PUT', `/api/detections/${ids[1]}`, { description: 'Theirs' });
  for (const change of [{ action: 'tag', tags: ['y'] }, { action: 'disable' }, { action: 'delete' }]) {
    const { results } = await callOk(org, 'POST', '/api/detections/bulk', { ids, ifMatch, ...change, dryRun: true });
    expect(results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['changed', 'failed', 'changed']);
    expect(results[1]).toMatchObject({
      code: 'precondition_failed',
      stale: {
        current: expect.any(String),
        changes: [{ fields: [{ field: 'description', before: '', after: 'Theirs' }] }],
      },
    });
  }
  const disable = (versions: object) =>
    callOk(org, 'POST', '/api/detections/bulk', { action: 'disable', ids, ifMatch: versions });
  const { results } = await disable(ifMatch);
  const again = await disable({ [ids[1].toUpperCase()]: results[1].stale.current });
  expect(again.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    'unchanged',
    'changed',
    'unchanged',
  ]);
});

test('an erasure is a change of the notes and lists that had the value', async () => {
  const org = await newOrg();
  const put = (values: string[], expectedRevision: number) =>
    call(org, 'PUT', '/api/value-lists/vips', { values, expectedRevision });
  const list = await callOk(org, 'PUT', '/api/value-lists/vips', { values: ['mallory', 'ada'] });
  const other = await callOk(org, 'PUT', '/api/value-lists/others', { values: ['ada'] });
  await callOk(org, 'PUT', '/api/entity-notes', { notes: [{ entity: 'FS-02', note: 'mallory owns it' }] });
  const [note] = (await callOk(org, 'GET', '/api/entity-notes')).notes;
  await callOk(org, 'POST', '/api/privacy/erase', { field: 'user', value: 'mallory' });
  const late = await put(['mallory', 'grace'], list.revision);
  expect(late).toMatchObject({ status: 409, body: { stale: { changes: [{ action: 'value_list.erased' }] } } });
  expect(late.body.stale!.changes).toHaveLength(1);
  expect((await put(['grace'], Number(late.body.stale!.current))).status).toBe(200);
  expect((await callOk(org, 'GET', '/api/value-lists/others')).revision).toBe(other.revision);
  const body = { notes: [{ entity: 'FS-02', note: 'mallory still owns it', expectedRevision: note.revision }] };
  expect(await call(org, 'PUT', '/api/entity-notes', body)).toMatchObject({
    status: 409,
    body: { stale: { changes: [{ fields: [{ field: 'note', after: '[erased] owns it' }] }] } },
  });
});

/** Operations without a version of a record, by reason. */
const withoutVersion: Record<string, RegExp> = {
  'creates a record, or adds to a history, and replaces nothing':
    /^(?:create\w+|sendLogs|installShippedDetections|applyPack|generateDetection|addHitComment|addIncidentComment|openIncident|addShippedAgent)$/,
  'reads, converts, checks or starts, and changes no record that people edit':
    /^(?:check|convert|lookUp|preview|propose|rehearse|backtest|backfill|test|search|pull|replay|redeliver|run[ADHT]|estimate|receiveWebhook)\w*$/,
  'removes what it names, whatever it contains':
    /^(?:deleteOrganization|deleteView|deleteAgentTrigger|deleteMcpServer|deleteEnricher|deleteDestination|deleteConnection|deleteSource|eraseValue)$/,
  'ends or renews a credential, which has no content': /^(?:revokeKey|rotate\w+|endSession|sign\w+)$/,
  'switches to a state that it names, and answers 409 in another one':
    /^(?:suspend|resume|cancel|snooze|end|approve|decline|decide)\w+$|^(?:splitItem|mergeItem|retractItem|withdrawRetraction)$/,
  'checks the states itself, and undoes only what did not change since': /^undoHitGroupStatus$/,
  'says of two names whether they are one, which is the whole decision': /^(?:join|separate)EntityAlias$/,
  'says of one person whether the person watches or has read a record': /^(?:watchIncident|readIncidentMentions)$/,
  'applies only the version that its body names': /^applyRuleUpdate$/,
  'takes whole detections or agents from a file or from the library, which is the truth':
    /^(?:importDetections|updateShippedDetections|updateShippedAgent)$/,
};

type Operation = { operationId: string; parameters?: { $ref?: string }[]; requestBody?: unknown };
const { paths } = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

test('every operation that changes a record accepts its version, or is listed with a reason', () => {
  const operations = Object.values(paths).flatMap((path) =>
    (['post', 'put', 'delete'] as const).flatMap((method) => path[method] ?? []),
  );
  const acceptsVersion = ({ parameters = [], requestBody }: Operation): boolean =>
    parameters.some(({ $ref }) => $ref?.endsWith('/IfMatch')) ||
    /"(?:expectedRevision|ifMatch)":/.test(JSON.stringify(requestBody ?? {}));
  const reasonsOf = ({ operationId }: Operation) =>
    Object.keys(withoutVersion).filter((reason) => withoutVersion[reason]!.test(operationId));
  const missing = operations.filter((one) => !acceptsVersion(one) && reasonsOf(one).length === 0);
  expect(missing.map(({ operationId }) => operationId)).toEqual([]);
  const needless = operations.filter((one) => acceptsVersion(one) && reasonsOf(one).length > 0);
  expect(needless.map(({ operationId }) => operationId)).toEqual([]);
  const unused = Object.keys(withoutVersion).filter(
    (reason) => !operations.some((one) => reasonsOf(one).includes(reason)),
  );
  expect(unused).toEqual([]);
});
