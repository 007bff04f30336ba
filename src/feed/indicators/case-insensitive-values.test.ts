import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { isCaseInsensitive } from '../model/values/normalize.ts';

const app = await startApp();

const key = String.raw`HKEY_CURRENT_USER\Software\Acme\Run`;
const path = String.raw`C:\Users\Public\Update.dll`;

test.each([
  [key, true],
  [String.raw`Software\Acme`, true],
  [path, true],
  [String.raw`%AppData%\a.dll`, true],
  [String.raw`\\server\share\a.dll`, true],
  ['/usr/bin/Evil', false],
  ['https://bad.example/A', false],
  [String.raw`"C:\a.exe" -enc AbC`, false],
  [String.raw`powershell -enc AbC C:\a.ps1`, false],
])('compares %s without case: %s', (value, expected) => {
  expect(isCaseInsensitive(value)).toBe(expected);
});

test('look-ups, lists, overrides and block lists do not distinguish case in registry keys and paths of Windows', async () => {
  const org = await app.newOrg();
  const { call } = org;
  const lookUp = async (value: string) =>
    (await call('GET', `/api/indicators?value=${encodeURIComponent(value)}`)).body;
  const pull = async (name: string, rows: [string, string][]) =>
    (await fileSource(app, org, { kind: 'csv', name })).pull(
      ['type,value', ...rows.map((row) => row.join(','))].join('\n'),
    );
  await pull('One', [
    ['registry key', String.raw`HKCU\Software\Acme\Run`],
    ['registry key', String.raw`hkcu\SOFTWARE\ACME\run`],
    ['file path', path],
    ['file path', '/opt/Evil/Run'],
  ]);
  await pull('Two', [
    ['registry key', key.toLowerCase()],
    ['file path', path.toUpperCase()],
  ]);
  for (const value of [key, key.toUpperCase(), path.toLowerCase()]) {
    expect(await lookUp(value)).toMatchObject({ status: 'active', total: 2 });
    const { body } = await call('GET', `/items?indicator=${encodeURIComponent(value)}`);
    expect(body.total).toBe(2);
  }
  expect(await lookUp('/opt/evil/run')).toMatchObject({ status: 'unknown' });
  const { items } = (await call('GET', '/items')).body;
  const one = items.find(({ source }: { source: { name: string } }) => source.name === 'One');
  expect(one.iocs.registryKeys).toMatchObject([{ normalizedValue: key }]);
  const blocklist = '/api/feed/export/blocklist?type=registry_key,file_path&maxTlp=RED';
  const listBlocked = async () =>
    String((await call('GET', blocklist)).body)
      .toLowerCase()
      .trim()
      .split('\n');
  expect(await listBlocked()).toEqual(['/opt/evil/run', path.toLowerCase(), key.toLowerCase()]);
  // The item states the key in another case than the override.
  await call('PUT', `/api/feed/items/${one.id}/override`, {
    indicators: [{ type: 'registry_key', value: key.toUpperCase(), status: 'false_positive' }],
  });
  expect(await lookUp(key)).toMatchObject({ status: 'false_positive' });
  expect(await lookUp(key.toLowerCase())).toMatchObject({ status: 'false_positive' });
  expect(await listBlocked()).toEqual(['/opt/evil/run', path.toLowerCase()]);
});
