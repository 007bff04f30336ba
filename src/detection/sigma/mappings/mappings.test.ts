import { expect, test } from 'vitest';
import { dialectKinds } from '../dialects/registry.ts';
import { loadMappings, readMapping, toMapping } from './load-mappings.ts';
import { defaultTable, mapLogSource } from './map-rule.ts';

const dataset = (name: string, columns: string[]) => ({
  name,
  columns: new Set(columns.map((column) => column.toLowerCase())),
});
const processes = { product: 'windows', category: 'process_creation' };
const map = (datasets: ReturnType<typeof dataset>[], kind = 'local') =>
  mapLogSource(loadMappings(), processes, { kind, datasets });

test('recognizes the form of a dataset by its fields', () => {
  expect(map([dataset('win_evtx', ['Event.System.EventID', 'Event.EventData.Image'])])).toMatchObject({
    table: 'win_evtx',
    shape: 'evtx',
  });
  expect(map([dataset('beats', ['winlog.channel'])])).toMatchObject({ table: 'beats', shape: 'winlogbeat' });
  expect(map([dataset('other', ['EventID', 'channel']), dataset('windows', ['EVENTID', 'Channel'])])).toMatchObject({
    table: 'windows',
    shape: 'nxlog',
  });
  expect(map([dataset('windows', ['message'])])).toMatchObject({ table: 'windows', isRecognized: false });
});

test('knows the log sources of Windows for every kind of connection', () => {
  for (const kind of dialectKinds) expect([kind, map([], kind).isMapped]).toEqual([kind, true]);
});

test('names a dataset after a log source without a mapping', () => {
  expect(
    mapLogSource(loadMappings(), { product: 'acme', service: 'auth' }, { kind: 'local', datasets: [] }),
  ).toMatchObject({ table: 'acme_auth', isMapped: false });
  expect(defaultTable({ category: '???' })).toBe('events');
  expect(defaultTable({ product: '7zip', service: 'A.b' })).toBe('zip_b');
});

test('prefers the closest log source, and the mappings of a user', () => {
  const own = toMapping(
    readMapping(
      `
name: own
title: Own
sources:
  - logsource: {product: windows}
  - logsource: {product: windows, category: process_creation}
    where: {kind: process}
shapes:
  - {name: own, title: Own, tables: {local: mine}, fields: {Image: exe, '*': 'data.*'}}
`,
      'own.yml',
    ),
  );
  const mapping = mapLogSource({ list: [own, ...loadMappings().list] }, processes, { kind: 'local', datasets: [] });
  expect(mapping).toMatchObject({ table: 'mine', where: { kind: 'match', field: 'kind' } });
  expect([mapping.names('image'), mapping.names('User')]).toEqual([['exe'], ['data.User']]);
});

test('reports the file and the field of an invalid mapping', () => {
  expect(() => readMapping('name: x\ntitle: x\nsources: []\nshapes: []', 'x.yml')).toThrow(/x\.yml: sources/);
});
