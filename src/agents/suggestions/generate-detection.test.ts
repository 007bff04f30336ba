import { expect, test } from 'vitest';
import { startModelStandIn, type ModelBrain } from '../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../test/support/models/scripted-models.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { sendEvents, submitDetection } from '../../../test/support/org-requests.ts';
import { processStart } from '../../../test/support/detection/windows-events.ts';

let now = new Date('2030-01-07T12:00:00Z');
const { deps, newOrg } = await startApp({ clock: () => now });
const noModels = deps.models!;

async function newOrgWithProcesses(): Promise<TestOrg> {
  const org = await newOrg();
  const commands = ['vssadmin.exe delete shadows /all', 'notepad.exe a.txt'];
  await sendEvents(
    org,
    'windows',
    commands.map((command) => processStart('FS-01', command)),
  );
  now = new Date(now.getTime() + 1000);
  return org;
}

let shared: Promise<TestOrg> | undefined;
/** Returns an organization for the tests that change nothing in it. */
const orgWithProcesses = (): Promise<TestOrg> => (shared ??= newOrgWithProcesses());

const generate = (org: TestOrg, intent: string, more: object = {}) =>
  org.call('POST', '/api/detections/generate', { intent, ...more });

test.each([
  ['T1490', 'shipped', 'recovery-inhibited', 'T1490'],
  ['Tell me when somebody deletes the shadow copies of a host', 'shipped', 'recovery-inhibited', 'T1490'],
  ['Kerberoasting against our service accounts', 'shipped', 'windows-kerberoasting', 'T1558.003'],
  ['t1003.001 on any workstation', 'shipped', 'windows-lsass-dump', 'T1003.001'],
  ['memory of lsass dumped', 'shipped', 'windows-lsass-dump', 'T1003.001'],
  ['an attacker inhibits system recovery', 'shipped', 'recovery-inhibited', 'T1490'],
  ['a coin miner that is started', 'template', 'coin-miner', 'T1496'],
])('without a model "%s" returns %s %s', async (intent, kind, id, technique) => {
  const org = await orgWithProcesses();
  const { status, body } = await generate(org, intent);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({ basedOn: { kind, id }, technique, repairs: [], tokens: 0 });
  expect(body.warnings.map(({ code }: { code: string }) => code)).toEqual(
    id === 'windows-kerberoasting' ? ['missing_fields'] : [],
  );
  expect(body.basedOn.matched.length).toBeGreaterThan(0);
  expect(body.estimate).toMatchObject({ complete: true, hits: id === 'recovery-inhibited' ? 1 : 0 });
  expect((await org.call('GET', '/api/detections')).body.detections).toEqual([]);
  const { name, detectionCategory, systemPrompt, detectionQuery, detectionCadence, entityField, tags } = body;
  const made = { name, detectionCategory, systemPrompt, detectionQuery, detectionCadence, entityField, tags };
  const created = await org.call('POST', '/api/detections?validate=true', made);
  expect(created.status).toBe(200);
  await org.call('PUT', `/api/detections/${created.body.id}/tests`, { tests: body.tests });
  expect((await org.call('POST', `/api/detections/${created.body.id}/tests/run`)).body.passed).toBe(true);
  expect((await org.call('DELETE', `/api/detections/${created.body.id}`)).status).toBeLessThan(300);
});

const refuse = async (org: TestOrg, intent: string, more: object = {}) => {
  const { status, body } = await generate(org, intent, more);
  const [error] = body.errors ?? [];
  return { status, pointer: error?.pointer, code: error?.code, detail: body.detail, alternatives: body.alternatives };
};

test('says which data is missing and where it comes from', async () => {
  const [org, empty] = [await orgWithProcesses(), await newOrg()];
  expect(await refuse(org, 'new Okta API token')).toEqual({
    status: 422,
    pointer: '/intent',
    code: 'missing_data',
    detail: expect.stringMatching(
      /^“API token created in Okta” fits, but your logs lack the dataset okta \(okta system log: .*\)\.$/,
    ),
    alternatives: expect.arrayContaining([
      expect.objectContaining({
        kind: 'shipped',
        id: 'okta-api-token-created',
        missing: expect.stringContaining('okta'),
      }),
    ]),
  });
  expect(await refuse(org, 'T1578.002')).toMatchObject({
    code: 'missing_data',
    detail: expect.stringContaining('cloudtrail'),
  });
  expect(await refuse(empty, 'T1490')).toMatchObject({
    code: 'missing_data',
    detail: expect.stringContaining('windows'),
  });
});

test('says in one sentence why nothing fits and offers the nearest', async () => {
  const org = await orgWithProcesses();
  const { detail, code, alternatives } = await refuse(org, 'a sales rep exports Salesforce reports');
  expect(code).toBe('nothing_fits');
  expect(detail).toMatch(/^No shipped detection[^.]+“Salesforce”; the nearest is “.+”\.$/);
  expect(alternatives[0].name).toBe(/nearest is “(.+)”/.exec(detail)![1]);
  expect(await refuse(org, 'weather in Bergen')).toMatchObject({
    status: 422,
    pointer: '/intent',
    code: 'nothing_fits',
  });
});

test('reads a dataset of another name that has the fields', async () => {
  const org = await newOrg();
  await sendEvents(org, 'trail', [
    {
      eventTime: now.toISOString(),
      eventSource: 'cloudtrail.amazonaws.com',
      eventName: 'StopLogging',
      userIdentity: { arn: 'arn:a' },
      sourceIPAddress: '192.0.2.1',
      requestParameters: { name: 'main' },
      errorCode: null,
      recipientAccountId: '1',
      awsRegion: 'eu-north-1',
      userAgent: 'aws-cli',
    },
  ]);
  now = new Date(now.getTime() + 1000);
  const { status, body } = await generate(org, 'alert me if someone turns off cloudtrail');
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({ basedOn: { id: 'aws-cloudtrail-disabled' }, estimate: { hits: 1 } });
  expect(body.detectionQuery).toMatch(/FROM trail\b/);
});

test('validates the request', async () => {
  const org = await orgWithProcesses();
  expect(await refuse(org, 'T1490', { siemType: 'splunk' })).toMatchObject({
    status: 422,
    pointer: '/siemType',
    code: 'no_connection',
  });
  expect((await generate(org, '')).status).toBe(400);
  expect((await generate(org, 'T1490', { nope: 1 })).status).toBe(400);
  const tools = (await generate(org, 'T1490', { siemType: 'local', toolNames: ['get_rows', 'nope'] })).body;
  expect(tools).toMatchObject({ toolNames: ['get_rows', 'nope'], warnings: [{ code: 'unknown_tool' }] });
});

const good = `SELECT (_event->>'$.Hostname') AS entity, _id, _time FROM windows WHERE (_event->>'$.CommandLine') LIKE 'notepad%'`;

async function withModel(brain: ModelBrain) {
  const stand = await startModelStandIn('anthropic', brain);
  deps.models = createScriptedModels({ default: stand.url });
  return stand;
}

async function generateWith(org: TestOrg, brain: ModelBrain, intent = 'Someone opens notes') {
  const stand = await withModel(brain);
  try {
    return { ...(await generate(org, intent)), asked: stand.asked };
  } finally {
    deps.models = noModels;
  }
}

test('lets a model write against the real columns, and repair a column that does not exist', async () => {
  const org = await orgWithProcesses();
  const { status, body, asked } = await generateWith(org, (_asked, nth) =>
    submitDetection(nth === 1 ? 'SELECT x FROM windows' : good),
  );
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({
    basedOn: { kind: 'model', id: 'anthropic/stand-in' },
    detectionQuery: good,
    steps: ['Look for it.'],
    estimate: { hits: 1 },
    repairs: [expect.stringContaining('No event has had x')],
    warnings: [],
    tokens: 240,
  });
  expect(asked).toHaveLength(2);
  expect(asked[0]).toMatchObject({ tools: ['submit_detection'], forced: 'submit_detection' });
  expect(asked[0]!.raw).toContain('Someone opens notes');
  expect(asked[0]!.raw).toContain('CommandLine');
  expect(asked[1]!.raw).toContain('SELECT x FROM windows');
  expect(asked[1]!.raw).toContain('No event has had x');
});

const broad = good.replace('notepad%', '%');

let noisy: Promise<TestOrg> | undefined;
async function newNoisyOrg(): Promise<TestOrg> {
  const org = await newOrg();
  const hosts = Array.from({ length: 30 }, (_, n) => `WS-${n}`);
  await sendEvents(org, 'windows', [
    ...hosts.map((host) => processStart(host, 'backup.exe /all')),
    processStart('FS-01', 'notepad.exe a.txt'),
  ]);
  now = new Date(now.getTime() + 3_600_000);
  return org;
}

test('lets a model repair a draft that is too noisy on the past', async () => {
  const org = await (noisy ??= newNoisyOrg());
  const { body, asked } = await generateWith(org, (_asked, nth) => submitDetection(nth === 1 ? broad : good));
  expect(body).toMatchObject({
    detectionQuery: good,
    estimate: { hits: 1 },
    repairs: [expect.stringMatching(/31 hits, .*more than 10 a day/)],
    warnings: [],
  });
  expect(asked[1]!.raw).toContain('31 hits');
});

test('returns the last draft with a warning if it stays noisy after three repairs', async () => {
  const org = await (noisy ??= newNoisyOrg());
  const { body, asked } = await generateWith(org, () => submitDetection(broad));
  expect(body).toMatchObject({
    detectionQuery: broad,
    warnings: [{ code: 'noisy', detail: expect.stringContaining('31') }],
  });
  expect([asked.length, body.repairs.length]).toEqual([4, 4]);
});

test('gives up after three repairs, with the reason of the last one', async () => {
  const org = await orgWithProcesses();
  const { status, body, asked } = await generateWith(org, (_asked, nth) =>
    submitDetection(`SELECT x${nth} FROM windows`),
  );
  expect(asked).toHaveLength(4);
  expect(status).toBe(422);
  expect(body.errors).toMatchObject([
    { pointer: '/intent', code: 'draft_failed', detail: expect.stringMatching(/in 4 attempts.*No event has had x4/) },
  ]);
  expect(body.alternatives).toBeInstanceOf(Array);
});

test('shows the model no data that the organization keeps from models', async () => {
  const org = await newOrg();
  await org.call('POST', '/api/logs/payroll', [{ amount: 1 }]);
  await org.call('POST', '/api/logs/auth', [{ user: 'ada', ssn: '1', person: { name: 'Ada', ssn: '1' } }]);
  await org.call('PUT', '/api/agent-settings', { hiddenDatasets: ['payroll'], hiddenFields: ['ssn', 'person.ssn'] });
  const stand = await withModel(() => submitDetection(good));
  await generate(org, 'Unusual sign-ins');
  deps.models = noModels;
  const { text } = stand.asked[0]!.turns[0]!;
  expect(text).toContain('person.name');
  expect(text).not.toMatch(/payroll|ssn/);
});

test('falls back to a shipped detection with a warning if the model fails, and returns 503 if none fits', async () => {
  const org = await orgWithProcesses();
  const fallback = await generateWith(org, () => submitDetection('SELECT nothing FROM nowhere'), 'T1490');
  expect(fallback.body).toMatchObject({
    basedOn: { kind: 'shipped' },
    warnings: [{ code: 'model_failed' }],
    tokens: 480,
  });
  expect((await generateWith(org, () => ({ status: 500 }), 'weather in Bergen')).status).toBe(503);
});

test('gives the model tested detections for similar intents, and no data that is kept from models', async () => {
  const org = await newOrgWithProcesses();
  await sendEvents(org, 'payroll', [{ salary: 1 }]);
  now = new Date(now.getTime() + 1000);
  const kept = { hiddenDatasets: ['payroll'], hiddenFields: ['ParentImage'] };
  const settings = await org.call('PUT', '/api/agent-settings', kept);
  expect(settings.status, JSON.stringify(settings.body)).toBe(200);
  const { body, asked } = await generateWith(org, () => submitDetection(good), 'shadow copies deleted by ransomware');
  expect(asked[0]!.raw).toContain('vssadmin');
  expect(asked[0]!.raw).not.toContain('payroll');
  expect(asked[0]!.raw).not.toMatch(/, ParentImage/);
  expect(body.nearest[0]).toMatchObject({ kind: 'shipped', id: 'recovery-inhibited', missing: null });
});
