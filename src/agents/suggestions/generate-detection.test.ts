import { expect, test } from 'vitest';
import { startModelStandIn, type ModelBrain } from '../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../test/support/models/scripted-models.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { sendEvents, submitDetection } from '../../../test/support/org-requests.ts';
import { processStart } from '../../../test/support/detection/windows-events.ts';
import { findTechniquesInText } from './drafting/match-intent.ts';

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
  const org = await newOrgWithProcesses();
  const { status, body } = await generate(org, intent);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({ basedOn: { kind, id }, technique, warnings: [], tokens: 0 });
  expect(body.basedOn.matched.length).toBeGreaterThan(0);
  expect(body.estimate).toMatchObject({ complete: true, hits: id === 'recovery-inhibited' ? 1 : 0 });
  expect((await org.call('GET', '/api/detections')).body.detections).toEqual([]);
  const { name, detectionCategory, systemPrompt, detectionQuery, detectionCadence, entityField, tags } = body;
  const made = { name, detectionCategory, systemPrompt, detectionQuery, detectionCadence, entityField, tags };
  const created = await org.call('POST', '/api/detections?validate=true', made);
  expect(created.status).toBe(200);
  await org.call('PUT', `/api/detections/${created.body.id}/tests`, { tests: body.tests });
  expect((await org.call('POST', `/api/detections/${created.body.id}/tests/run`)).body.passed).toBe(true);
});

test('returns 422 with the field and a hint if no detection fits', async () => {
  const [org, empty] = [await newOrgWithProcesses(), await newOrg()];
  const refused = async (on: TestOrg, intent: string, more: object = {}) => {
    const { status, body } = await generate(on, intent, more);
    return [status, body.errors[0].pointer, body.errors[0].code, body.detail];
  };
  expect((await refused(empty, 'T1490')).slice(0, 3)).toEqual([422, '/intent', 'no_logs']);
  expect((await refused(org, 'weather in Bergen')).slice(0, 3)).toEqual([422, '/intent', 'nothing_fits']);
  expect((await refused(org, 'T1098.003'))[3]).toContain('cloudtrail');
  expect((await refused(org, 'T1490', { siemType: 'splunk' })).slice(0, 3)).toEqual([
    422,
    '/siemType',
    'no_connection',
  ]);
  expect((await generate(org, '')).status).toBe(400);
  expect((await generate(org, 'T1490', { nope: 1 })).status).toBe(400);
  const tools = (await generate(org, 'T1490', { siemType: 'local', toolNames: ['get_rows', 'nope'] })).body;
  expect(tools).toMatchObject({ toolNames: ['get_rows', 'nope'], warnings: [{ code: 'unknown_tool' }] });
});

test('finds techniques by ID and by name, but not in unrelated words', () => {
  expect(findTechniquesInText('t1059.001 and T9999')).toEqual(['T1059.001']);
  expect(findTechniquesInText('an OS credential dumping tool')).toContain('T1003');
  expect(findTechniquesInText('a tool on a server')).toEqual([]);
});

const good = `SELECT (_event->>'$.Hostname') AS entity, _id, _time FROM windows WHERE (_event->>'$.CommandLine') LIKE 'notepad%'`;

async function withModel(brain: ModelBrain) {
  const stand = await startModelStandIn('anthropic', brain);
  deps.models = createScriptedModels({ default: stand.url });
  return stand;
}

test('lets a model write the detection and returns an invalid query to it once', async () => {
  const org = await newOrgWithProcesses();
  const stand = await withModel((_asked, nth) => submitDetection(nth === 1 ? 'SELECT x FROM windows' : good));
  const { status, body } = await generate(org, 'Someone opens notes');
  deps.models = noModels;
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({
    basedOn: { kind: 'model', id: 'anthropic/stand-in' },
    detectionQuery: good,
    steps: ['Look for it.'],
    estimate: { hits: 1 },
    tokens: 240,
  });
  expect(stand.asked).toHaveLength(2);
  expect(stand.asked[0]).toMatchObject({ tools: ['submit_detection'], forced: 'submit_detection' });
  expect(stand.asked[0]!.raw).toContain('Someone opens notes');
  expect(stand.asked[1]!.raw).toContain('No event has had x');
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
  const org = await newOrgWithProcesses();
  await withModel(() => submitDetection('SELECT nothing FROM nowhere'));
  const fallback = await generate(org, 'T1490');
  expect(fallback.body).toMatchObject({
    basedOn: { kind: 'shipped' },
    warnings: [{ code: 'model_failed' }],
    tokens: 240,
  });
  await withModel(() => ({ status: 500 }));
  expect((await generate(org, 'weather in Bergen')).status).toBe(503);
  deps.models = noModels;
});
