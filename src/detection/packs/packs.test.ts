import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { adminEnv, adminKey } from '../../../test/support/admin-key.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { newDataDir, startApp, type TestOrg } from '../../../test/support/harness.ts';
import { runCommand } from '../../../test/support/run-command.ts';
import { changeQuotas } from '../../platform/orgs/limits/quotas.ts';

const { app, deps, newOrg, newKey } = await startApp({ env: adminEnv });
const service = await app.listen({ port: 0, host: '127.0.0.1' });
const base = newDataDir();
const env = { TOCSIN_URL: service, ...adminEnv };

const detection = (name: string, more = '') => `name: ${name}
detectionCategory: custom
detectionCadence: hourly
systemPrompt: Judge it.
detectionQuery: select _id, _time, "user" from auth
${more}`;

/** Writes a pack of two detections for the organizations. Returns a function that runs a command on it. */
function newPack(name: string, organizations: string[], more = '') {
  const folder = join(base, name);
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  const list = organizations.map((org) => `"${org}"`).join(', ');
  mkdirSync(join(folder, 'detections'), { recursive: true });
  const writeManifest = (version: string, extra = more): void =>
    write('pack.yaml', `name: ${name}\nversion: ${version}\norganizations: [${list}]\n${extra}`);
  writeManifest('1.0.0');
  write('detections/one.yaml', detection('One'));
  write('detections/two.yaml', detection('Two', 'tags: [a]\n'));
  const run = (command: string, ...args: string[]) => runCommand(['pack', command, folder, ...args], env);
  return { folder, write, writeManifest, run, remove: (file: string) => rmSync(join(folder, file)) };
}

const listOf = async (org: TestOrg) =>
  (await callOk(org, 'GET', '/api/detections')).detections.toSorted((a: Named, b: Named) => (a.name < b.name ? -1 : 1));
type Named = { name: string };

test('brings a pack to many organizations with overrides, and again changes nothing', async () => {
  const [acme, globex, other] = [await newOrg(), await newOrg(), await newOrg()];
  const overrides = `overrides:
  - organizations: ["${globex.name}"]
    detections: ["t*.yaml"]
    set: { enabled: false, tags: [b] }
`;
  const pack = newPack('many', [acme.name, globex.id, globex.name], overrides);
  expect(await pack.run('plan', '--check')).toMatchObject({ code: 3, out: expect.stringContaining('2 missing') });
  expect(await listOf(acme)).toEqual([]);
  expect(await pack.run('apply')).toMatchObject({ code: 0, out: expect.stringContaining('+ one.yaml') });
  expect(await listOf(acme)).toMatchObject([{ name: 'One', enabled: true }, { name: 'Two', enabled: true, tags: ['a'] }]); // prettier-ignore
  expect(await listOf(globex)).toMatchObject([{ name: 'One', enabled: true }, { name: 'Two', enabled: false, tags: ['b'] }]); // prettier-ignore
  expect(await listOf(other)).toEqual([]);
  for (const command of ['drift', 'apply']) expect(await pack.run(command)).toMatchObject({ code: 0, out: expect.stringMatching(/: 2 unchanged\n.*: 2 unchanged/) }); // prettier-ignore
  const { entries } = await callOk(acme, 'GET', '/api/audit?action=detection.created');
  expect(entries.map(({ actor }: { actor: string }) => actor)).toEqual([1, 2].map(() => expect.stringMatching(/^installation key .*, pack many$/))); // prettier-ignore
});

test('selects organizations by tag: a new one gets the pack, and one that loses the tag keeps what it has', async () => {
  const [bank, trial, later] = [await newOrg(), await newOrg(), await newOrg()];
  const setTags = async (org: TestOrg, ...tags: string[]) => {
    const url = `/api/admin/organizations/${org.id}/tags`;
    const response = await app.inject({ method: 'PUT', url, headers: { authorization: `Bearer ${adminKey}` }, payload: { tags } }); // prettier-ignore
    expect(response.json().tags).toEqual(tags);
  };
  await setTags(bank, 'bank', 'eu');
  await setTags(trial, 'bank', 'trial');
  const more = `exclude: [{tag: trial}]
overrides: [{organizations: [{tag: e*}], detections: [two.yaml], set: {enabled: false}}]
`;
  const pack = newPack('tagged', [], more);
  const manifest = `name: tagged\nversion: 1\norganizations: [{tag: bank}, {tag: nobody-yet}]\n${more}`;
  pack.write('pack.yaml', manifest);
  expect(await pack.run('apply')).toMatchObject({ code: 0, out: expect.not.stringContaining(trial.name) });
  expect(await listOf(bank)).toMatchObject([{ enabled: true }, { name: 'Two', enabled: false }]);
  expect([await listOf(trial), await listOf(later)]).toEqual([[], []]);
  await setTags(later, 'nobody-yet');
  await setTags(bank, 'eu');
  expect((await pack.run('apply')).out).toMatch(new RegExp(`^${later.name}: 2 missing`));
  expect(await listOf(later)).toMatchObject([{ enabled: true }, { name: 'Two', enabled: true }]);
  pack.remove('detections/one.yaml');
  await pack.run('apply', '--prune');
  expect([await listOf(bank), await listOf(later)].map((list) => list.length)).toEqual([2, 1]);
});

test('keeps what an organization changed or deleted, reports it, and replaces it only by force', async () => {
  const [org, plain] = [await newOrg(), await newOrg()];
  const pack = newPack('kept', [org.name, plain.name]);
  await pack.run('apply');
  const [one, two] = await listOf(org);
  await callOk(org, 'PUT', `/api/detections/${one.id}`, { detectionCadence: 'daily' });
  await callOk(org, 'DELETE', `/api/detections/${two.id}`);
  pack.writeManifest('1.1.0');
  pack.write('detections/one.yaml', detection('One', 'tags: [new]\n').replace('hourly', 'weekly'));
  const drift = await pack.run('drift', '--json');
  const states = JSON.parse(drift.out).map(({ results }: { results: { state: string }[] }) =>
    results.map(({ state }) => state),
  );
  expect([drift.code, states]).toEqual([3, expect.arrayContaining([['changed', 'deleted'], ['outdated', 'unchanged']])]); // prettier-ignore
  const { out } = await pack.run('apply');
  expect(out).toContain('detectionCadence: kept, because the organization changed it');
  expect(out).toContain('two.yaml: The organization deleted it');
  expect(await listOf(org)).toMatchObject([{ name: 'One', detectionCadence: 'daily', tags: ['new'] }]);
  expect(await callOk(org, 'GET', `/api/detections/${one.id}/pack`)).toMatchObject({
    pack: { name: 'kept', version: '1.1.0', file: 'one.yaml', changes: [{ field: 'detectionCadence', before: 'weekly', after: 'daily' }] },
  }); // prettier-ignore
  expect((await plain.call('GET', `/api/detections/${one.id}/pack`)).status).toBe(404);
  expect(await listOf(plain)).toMatchObject([{ detectionCadence: 'weekly', tags: ['new'] }, { name: 'Two' }]);
  expect((await pack.run('drift')).out).toContain('one.yaml: changed by the organization');
  await pack.run('apply', '--force', '--org', org.name);
  expect(await listOf(org)).toMatchObject([{ name: 'One', detectionCadence: 'weekly' }, { name: 'Two' }]);
  expect((await pack.run('drift')).code).toBe(0);

  // A detection that the pack no longer has.
  pack.remove('detections/two.yaml');
  expect((await pack.run('drift')).out).toContain('two.yaml: no longer in the pack');
  await pack.run('apply');
  expect(await listOf(plain)).toHaveLength(2);
  const [, kept] = await listOf(org);
  await callOk(org, 'PUT', `/api/detections/${kept.id}`, { tags: ['mine'] });
  await pack.run('apply', '--prune');
  expect([await listOf(plain), await listOf(org)].map((list) => list.length)).toEqual([1, 2]);
});

test('one organization that fails does not stop the others', async () => {
  const [full, free] = [await newOrg(), await newOrg()];
  await changeQuotas(deps, full, { changes: { enabledDetections: 1 }, operator: 'test' });
  const pack = newPack('partly', [full.name, free.name]);
  const { code, out } = await pack.run('apply');
  expect([code, out]).toEqual([1, expect.stringContaining('1 of the 1 enabled detections')]);
  expect([(await listOf(full)).length, (await listOf(free)).length]).toEqual([1, 2]);
});

test('only the key of the installation applies packs', async () => {
  const org = await newOrg();
  const url = `/api/admin/organizations/${org.id}/packs/mine`;
  const body = { version: '1', detections: {} };
  expect((await org.call('POST', url, body)).status).toBe(403);
  const asOperator = async (path: string, payload: object) => {
    const response = await app.inject({ method: 'POST', url: path, headers: { authorization: `Bearer ${adminKey}` }, payload }); // prettier-ignore
    return { status: response.statusCode, body: response.json() };
  };
  expect(await asOperator(url, body)).toMatchObject({ status: 200, body: { organization: org.id, results: [] } });
  const wrong = await asOperator(url, { version: '1', detections: { 'a.yaml': { name: 'A', severity: 'high' } } });
  expect(wrong.status).toBe(400);
  expect(wrong.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toContain('/detections/a.yaml/severity');
  expect((await asOperator(url.replace(org.id, '00000000-0000-7000-8000-000000000000'), body)).status).toBe(404);
  // A detection from a pack is an ordinary detection of that organization alone.
  await asOperator(url, { version: '1', detections: { 'a.yaml': { name: 'A', detectionCategory: 'custom', systemPrompt: 'p', detectionQuery: 'select 1' } } }); // prettier-ignore
  const [made] = await listOf(org);
  const stranger = await newKey(await newOrg(), ['detections:read']);
  expect((await stranger.call('GET', `/api/detections/${made.id}`)).status).toBe(404);
});

test.each([
  ['organizations: all', 'nothing: 1', 'Unrecognized key'],
  ['organizations: all', 'overrides: [{organizations: ["*"], set: {detectionQuery: select 2}}]', 'Unrecognized key'],
  ['organizations: all', 'overrides: [{organizations: ["*"], detections: [three.yaml], set: {enabled: false}}]', 'no detection of the pack matches three.yaml'], // prettier-ignore
  ['organizations: all', 'overrides: [{organizations: ["*"], set: {detectionCadence: sometimes}}]', 'overrides of one.yaml for'], // prettier-ignore
  ['organizations: [nobody]', '', 'there is no organization nobody'],
  ['organizations: [{label: x}]', '', 'pack.yaml: organizations'],
  ['organizations: [', '', 'pack.yaml: '],
])('explains a manifest with %s and %s', async (organizations, more, message) => {
  await newOrg();
  const pack = newPack('wrong', ['x']);
  pack.write('pack.yaml', `name: wrong\nversion: 1\n${organizations}\n${more}\n`);
  expect(await pack.run('plan')).toMatchObject({ code: 1, out: expect.stringContaining(message) });
});

test.skipIf(spawnSync('git', ['--version']).status !== 0)('reads a pack from a Git repository', async () => {
  const org = await newOrg();
  const { folder } = newPack('cloned', [org.name]);
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args]); // prettier-ignore
  git('init', '--quiet', '--initial-branch=live');
  git('add', '.');
  git('commit', '--quiet', '--message=pack');
  expect((await runCommand(['pack', 'apply', `file://${folder}#live`], env)).code).toBe(0);
  expect(await listOf(org)).toHaveLength(2);
  const { code, out } = await runCommand(['pack', 'plan', `file://${folder}#gone`], env);
  expect([code, out]).toEqual([1, expect.stringContaining('git clone')]);
});
