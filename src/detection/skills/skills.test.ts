import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { loadAttachedSkills, readSkillZip, renderSkillList } from './skill-files.ts';

const { app, deps, newOrg } = await startApp();

const shipped = 'triage-of-a-sign-in';
const path = '/api/skills/phishing';
const skill = {
  description: 'Judges a message that somebody reported.',
  body: '# Phishing\n\nRead references/signs.md.\n',
  files: [
    { path: 'assets/logo.png', base64: Buffer.from([137, 80, 0, 255]).toString('base64') },
    { path: 'references/signs.md', text: 'A new sender.' },
  ],
};
const detection = {
  name: 'Mail',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.',
  detectionQuery: 'SELECT 1 AS n',
  skills: ['phishing', shipped],
};

const zipType = { 'content-type': 'application/zip' };
const exportZip = async (org: TestOrg, name: string): Promise<Buffer> => {
  const headers = { authorization: `Bearer ${org.key}` };
  const response = await app.inject({ method: 'GET', url: `/api/skills/${name}/export`, headers });
  expect(response.headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="${name}.zip"`,
  });
  return response.rawPayload;
};

test('creates, versions, lists, reads and deletes a skill', async () => {
  const org = await newOrg();
  const created = await callOk(org, 'PUT', path, skill);
  expect(created).toMatchObject({ ...skill, name: 'phishing', version: 1, source: 'organization', usedBy: [] });
  const changed = await callOk(org, 'PUT', path, {
    ...created,
    body: 'Ask secret-name.',
    expectedRevision: created.revision,
  });
  expect(changed).toMatchObject({ version: 2, body: 'Ask secret-name.', files: skill.files });
  // The same content is no new version, in whatever order its files are.
  const same = await callOk(org, 'PUT', path, { ...changed, files: changed.files.toReversed() });
  expect(same).toMatchObject({ version: 2, revision: changed.revision });
  expect((await callOk(org, 'GET', `${path}/versions`)).versions).toMatchObject([{ version: 2 }, { version: 1 }]);
  expect(await callOk(org, 'GET', `${path}/versions/1`)).toMatchObject(skill);
  expect((await org.call('GET', `${path}/versions/3`)).status).toBe(404);
  const { skills } = await callOk(org, 'GET', '/api/skills');
  expect(skills).toMatchObject([
    { name: 'phishing' },
    { name: shipped, source: 'shipped', version: 0 },
    { name: 'writing-a-detection' },
  ]);
  const other = await newOrg();
  expect((await other.call('GET', path)).status).toBe(404);
  expect((await other.call('GET', `${path}/versions`)).status).toBe(404);
  expect((await other.call('GET', `${path}/export`)).status).toBe(404);
  expect(await callOk(org, 'DELETE', path)).toMatchObject({ version: 2 });
  expect((await org.call('DELETE', path)).status).toBe(404);
  expect((await org.call('GET', `${path}/versions/1`)).status).toBe(404);
  const audit = JSON.stringify(await callOk(org, 'GET', '/api/audit'));
  for (const action of ['created', 'changed', 'deleted']) expect(audit).toContain(`skill.${action}`);
  expect(audit).not.toContain('secret-name');
});

test('keeps the last twenty versions', async () => {
  const org = await newOrg();
  for (let n = 1; n <= 22; n++) await callOk(org, 'PUT', path, { ...skill, body: `Version ${n}` });
  const { versions } = await callOk(org, 'GET', `${path}/versions`);
  expect(versions.map(({ version }: { version: number }) => version)).toEqual(
    Array.from({ length: 20 }, (_, n) => 22 - n),
  );
  expect((await org.call('GET', `${path}/versions/2`)).status).toBe(404);
});

test('has limits of skills and of bytes for an organization', async () => {
  const org = await newOrg();
  for (let n = 0; n < 100; n++) await callOk(org, 'PUT', `/api/skills/a-${n}`, { description: 'a', body: '' });
  expect(await org.call('PUT', path, skill)).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('at most 100 skills') },
  });
  const large = await newOrg();
  const files = [0, 1, 2].map((n) => ({ path: `${n}.txt`, text: `${n}`.repeat(256 * 1024) }));
  const statuses: number[] = [];
  for (let n = 0; n < 44; n++)
    statuses.push(
      (await large.call('PUT', `/api/skills/a-${n % 3}`, { description: 'a', body: `${n}`, files })).status,
    );
  expect([...new Set(statuses)]).toEqual([200, 409]);
  expect(statuses.indexOf(409)).toBe(42);
});

test('a change of a shipped skill is the organization’s own, and its deletion brings the shipped one back', async () => {
  const org = await newOrg();
  const url = `/api/skills/${shipped}`;
  const original = await callOk(org, 'GET', url);
  expect(original).toMatchObject({ version: 0, source: 'shipped', updatedAt: null, revision: 0 });
  expect((await callOk(org, 'GET', `${url}/versions`)).versions).toEqual([]);
  expect(await callOk(org, 'PUT', url, original)).toEqual(original);
  expect(await org.call('DELETE', url)).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('ships') },
  });
  const { id } = await callOk(org, 'POST', '/api/detections', { ...detection, skills: [shipped] });
  const own = await callOk(org, 'PUT', url, { ...original, body: 'Ours.', expectedRevision: 0 });
  expect(own).toMatchObject({ version: 1, source: 'organization', replacesShipped: true, usedBy: [id] });
  expect(await callOk(org, 'GET', `${url}/versions/0`)).toMatchObject({ body: original.body, source: 'shipped' });
  expect(await callOk(await newOrg(), 'GET', url)).toEqual(original);
  await callOk(org, 'DELETE', url);
  expect(await callOk(org, 'GET', url)).toEqual({ ...original, usedBy: [id] });
});

test('imports and exports an archive', async () => {
  const org = await newOrg();
  await callOk(org, 'PUT', path, skill);
  const zip = await exportZip(org, 'phishing');
  expect(readSkillZip(zip)).toMatchObject({ name: 'phishing', content: { body: skill.body } });
  const other = await newOrg();
  const imported = await other.call('POST', '/api/skills/import', zip, zipType);
  expect(imported).toMatchObject({
    status: 200,
    body: { version: 1, body: skill.body },
    headers: { etag: expect.any(String) },
  });
  expect(await exportZip(other, 'phishing')).toEqual(zip);
  expect((await other.call('POST', '/api/skills/import', zip, { ...zipType, 'if-match': '"0"' })).status).toBe(412);
  expect(await other.call('POST', '/api/skills/import', Buffer.from('x'), zipType)).toMatchObject({
    status: 400,
    body: { errors: [{ code: 'invalid_archive' }] },
  });
  expect((await other.call('POST', '/api/skills/import', undefined, zipType)).status).toBe(400);
  expect((await other.call('POST', '/api/skills/import', zip)).status).toBe(415);
  const large = Buffer.alloc(2 * 1024 * 1024 + 1);
  expect((await other.call('POST', '/api/skills/import', large, zipType)).status).toBe(413);
});

test.each<[string, string, object, string]>([
  ['a name', '/api/skills/Phishing', skill, 'path/name'],
  ['no body', path, { description: 'a' }, '/body'],
  ['no description', path, { body: 'a' }, '/description'],
  ['a long description', path, { ...skill, description: 'a'.repeat(1025) }, '/description'],
  ['an unknown field', path, { ...skill, scripts: [] }, '/scripts'],
  ['metadata that is no text', path, { ...skill, metadata: { version: 1 } }, '/metadata/version'],
  ['a path out of the skill', path, { ...skill, files: [{ path: '../a', text: 'a' }] }, '/files/0/path'],
  ['a second SKILL.md', path, { ...skill, files: [{ path: 'SKILL.md', text: 'a' }] }, '/files/0/path'],
  ['a file without content', path, { ...skill, files: [{ path: 'a' }] }, '/files/0'],
  ['a file with two contents', path, { ...skill, files: [{ path: 'a', text: 'a', base64: '' }] }, '/files/0'],
  ['no base64', path, { ...skill, files: [{ path: 'a', base64: '?' }] }, '/files/0/base64'],
  [
    'a path twice',
    path,
    {
      ...skill,
      files: [
        { path: 'a', text: '' },
        { path: 'A', text: '' },
      ],
    },
    '/files/1/path',
  ],
  ['a large file', path, { ...skill, files: [{ path: 'a', text: 'a'.repeat(256 * 1024 + 1) }] }, '/files/0'],
])('refuses %s', async (_what, url, body, pointer) => {
  const org = await newOrg();
  expect(await org.call('PUT', url, body)).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
});

test('tells what changed if the skill is not the version that the client saw', async () => {
  const org = await newOrg();
  const seen = await org.call('PUT', path, skill);
  await callOk(org, 'PUT', path, { ...skill, body: 'b' });
  const ifMatch = { 'if-match': String(seen.headers['etag']) };
  const changes = [
    { action: 'skill.changed', fields: expect.arrayContaining([{ field: 'version', before: 1, after: 2 }]) },
  ];
  expect(await org.call('PUT', path, skill, ifMatch)).toMatchObject({ status: 412, body: { stale: { changes } } });
  expect((await org.call('DELETE', path, undefined, ifMatch)).status).toBe(412);
  const expectedRevision = seen.body.revision;
  expect(await org.call('PUT', path, { ...skill, expectedRevision })).toMatchObject({
    status: 409,
    body: { stale: { changes } },
  });
});

test('a detection has skills that exist, in its record, revisions and export', async () => {
  const org = await newOrg();
  expect(await org.call('POST', '/api/detections', detection)).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: '/skills/0', code: 'unknown_skill', detail: expect.stringContaining('phishing') }] },
  });
  await callOk(org, 'PUT', path, skill);
  const { id } = await callOk(org, 'POST', '/api/detections', {
    ...detection,
    skills: ['phishing', shipped, 'phishing'],
  });
  const url = `/api/detections/${id}`;
  expect(await callOk(org, 'GET', `${url}/revisions/1`)).toMatchObject({
    definition: { skills: ['phishing', shipped] },
  });
  const { detections } = await callOk(org, 'GET', '/api/detections/export');
  expect(detections).toMatchObject([{ skills: ['phishing', shipped] }]);
  expect(await org.call('DELETE', path)).toMatchObject({ status: 409, body: { detail: expect.stringContaining(id) } });
  expect(await org.call('PUT', url, { skills: ['nope'] })).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: '/skills/0' }] },
  });
  expect(await callOk(org, 'PUT', url, { skills: [] })).not.toHaveProperty('skills');
  await callOk(org, 'DELETE', path);
  // A revision whose skill is gone cannot be restored.
  expect(await org.call('POST', `${url}/revisions/1/restore`)).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: '/skills/0' }] },
  });
  const other = await newOrg();
  await callOk(other, 'PUT', path, skill);
  expect((await org.call('PUT', url, { skills: ['phishing'] })).status).toBe(400);
});

test('an erased value disappears from all versions', async () => {
  const org = await newOrg();
  const secret = 'ada@northmere.example';
  const first = await callOk(org, 'PUT', path, {
    ...skill,
    files: [{ path: 'a.md', text: `"${secret}"\n` }],
    metadata: { owner: secret },
  });
  await callOk(org, 'PUT', path, { ...skill, body: `Ask ${secret}.` });
  await callOk(org, 'PUT', '/api/skills/other', skill);
  const { skills } = await callOk(org, 'POST', '/api/privacy/erase', { field: 'user', value: secret });
  expect(skills).toBe(2);
  const [one, two] = [await callOk(org, 'GET', `${path}/versions/1`), await callOk(org, 'GET', path)];
  expect(one).toMatchObject({ files: [{ text: '"[erased]"\n' }], metadata: { owner: '[erased]' } });
  expect(two.body).toBe('Ask [erased].');
  expect(two.revision).toBeGreaterThan(first.revision);
  expect(JSON.stringify(await callOk(org, 'GET', '/api/audit'))).toContain('skill.erased');
});

test('a model gets the names and descriptions of the skills that exist', async () => {
  const org = await newOrg();
  await callOk(org, 'PUT', path, {
    ...skill,
    description: 'Judges\n- a message.',
  });
  const skills = await loadAttachedSkills(deps.db, org.id, ['phishing', 'gone', shipped]);
  expect(renderSkillList(skills)).toMatch(
    /read_skill.*\n- phishing: Judges - a message\.\n- triage-of-a-sign-in: Investigates/,
  );
  expect(renderSkillList([])).toBe('');
  expect(skills).toMatchObject([{ version: 1, content: { body: skill.body } }, { version: 0 }]);
  expect(await loadAttachedSkills(deps.db, (await newOrg()).id, ['phishing'])).toEqual([]);
});

test('the queries of the skill on writing a detection run', async () => {
  const org = await newOrg();
  const events = ['failure', 'success'].map((outcome) =>
    JSON.stringify({
      timestamp: new Date().toISOString(),
      user: 'ada',
      source_ip: '192.0.2.1',
      country: 'NO',
      app: 'mail',
      outcome,
    }),
  );
  const sent = await org.call('POST', '/api/logs/auth', `${events.join('\n')}\n`, {
    'content-type': 'application/x-ndjson',
  });
  expect(sent.status).toBe(200);
  const { files } = await callOk(org, 'GET', '/api/skills/writing-a-detection');
  const queries = [...files[0].text.matchAll(/^## `?(\w+)?.*\n[^]*?```sql\n([^]*?)```/gm)];
  expect(queries.length).toBe(5);
  for (const [, category = 'custom', detectionQuery] of queries) {
    const known = ['first_occurrence', 'baseline_anomaly', 'sequence_pattern'].includes(category) ? category : 'custom';
    const body = { ...detection, detectionQuery, detectionCategory: known, entityField: 'user', skills: [] };
    const created = await org.call('POST', '/api/detections?validate=true', body);
    expect(created, `${detectionQuery}`).toMatchObject({ status: 200 });
    expect(created.body.warnings ?? [], `${detectionQuery}`).toEqual([]);
  }
});
