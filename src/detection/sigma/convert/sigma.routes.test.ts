import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';

const { newOrg } = await startApp();
const rule = (title: string, detection = 's: {Image|endswith: \\cmd.exe}') => `title: ${title}
id: 00000000-0000-4000-8000-0000000000${title.length.toString().padStart(2, '0')}
logsource: {product: windows, category: process_creation}
detection: {${detection}, condition: s}
`;

test('converts each document and reports the line of an error', async () => {
  const org = await newOrg();
  const rules = [rule('A'), rule('BB', 's: {Image|ends: x}'), rule('CCC', "s: {Image|re: '(?=a)b'}")].join('---\n');
  const { status, body } = await org.call('POST', '/api/sigma/convert', { rules });
  expect(status).toBe(200);
  expect(body.results).toMatchObject([
    { title: 'A', status: 'converted', dataset: 'windows', query: expect.stringContaining('FROM windows'), errors: [] },
    {
      title: 'BB',
      status: 'invalid',
      query: null,
      errors: [{ line: 9, message: expect.stringContaining('endswith') }],
    },
    {
      title: 'CCC',
      status: 'unsupported',
      query: null,
      errors: [{ line: 11, message: expect.stringContaining('RE2') }],
    },
  ]);
  expect(body.results[0].warnings[0]).toContain('No dataset has the fields');
});

test('converts to the language of a connection, and rejects other targets', async () => {
  const org = await newOrg();
  const connection = { kind: 'clickhouse', name: 'c', settings: { url: 'https://ch.example:8443', user: 'u', timeColumn: 'ts' }, credentials: { password: 'p' } }; // prettier-ignore
  const created = await org.call('POST', '/api/connections', connection);
  expect(created.status).toBe(200);
  const request = { rules: rule('A'), target: created.body.id };
  const converted = (await org.call('POST', '/api/sigma/convert', request)).body.results[0];
  expect(converted.query).toContain('endsWith(lowerUTF8("Image")');
  expect(converted.query).toContain('"ts"');
  const refused = await (await newOrg()).call('POST', '/api/sigma/convert', request);
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/target']);
});

test('refuses a text with too many documents', async () => {
  const rules = '# nothing\n---\n'.repeat(20_001);
  const { status, body } = await (await newOrg()).call('POST', '/api/sigma/convert', { rules });
  expect([status, body.errors?.[0]]).toEqual([400, expect.objectContaining({ pointer: '/rules', code: 'too_many' })]);
});
