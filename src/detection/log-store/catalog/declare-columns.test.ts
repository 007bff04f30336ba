import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';

const { newOrg, newKey } = await startApp({ clock: () => new Date('2024-06-01T00:00:00Z') });
const ndjson = { 'content-type': 'application/x-ndjson' };
type Column = { name: string; type: string; declared?: boolean; drift?: { count: number } };

test('declares the types of columns before and after their first event', async () => {
  const org = await newOrg();
  const declare = async (columns: { name: string; type: string }[]): Promise<Record<string, Column>> => {
    const { status, body } = await org.call('PUT', '/api/logs/web/columns', { columns });
    expect(status).toBe(200);
    return Object.fromEntries(body.columns.map((column: Column) => [column.name, column]));
  };
  await declare([{ name: 'bytes', type: 'BIGINT' }]);
  await org.call('POST', '/api/logs/web', '{"Bytes":"none","user":{"id":"x"}}\n{"bytes":5,"user":{"id":1}}', ndjson);
  const changed = await declare([
    { name: 'BYTES', type: 'BIGINT' },
    { name: 'user.id', type: 'BIGINT' },
  ]);
  expect(changed['bytes']).toEqual({ name: 'bytes', type: 'BIGINT', declared: true, drift: { count: 1, valueType: 'string', at: '2024-06-01T00:00:00.000Z' } }); // prettier-ignore
  expect(changed['user.id']).toMatchObject({ type: 'BIGINT', declared: true });
  const followed = await declare([]);
  expect([followed['bytes']?.type, followed['user.id']?.type]).toEqual(['VARCHAR', 'VARCHAR']);
  const auditor = await newKey(org, ['audit:read']);
  const { body } = await auditor.call('GET', '/api/audit');
  const entries = body.entries.filter(({ action }: { action: string }) => action === 'dataset.columns_declared');
  expect(entries).toHaveLength(3);
});

test.each([
  ['an unknown path', [{ name: 'user.nme', type: 'BIGINT' }], '/columns/0/name', 'user.name'],
  ['a system column', [{ name: '_TIME', type: 'BIGINT' }], '/columns/0/name', 'every dataset'],
  ['a column twice', [{ name: 'a', type: 'BIGINT' }, { name: 'A', type: 'JSON' }], '/columns/1/name', 'twice'], // prettier-ignore
  ['an unknown type', [{ name: 'a', type: 'INT' }], '/columns/0/type', 'BIGINT'],
])('rejects %s', async (_, columns, pointer, detail) => {
  const org = await newOrg();
  await org.call('POST', '/api/logs/web', '{"user":{"name":"x"}}', ndjson);
  const { status, body } = await org.call('PUT', '/api/logs/web/columns', { columns });
  expect([status, body.errors[0].pointer]).toEqual([400, pointer]);
  expect(body.errors[0].detail).toContain(detail);
});
