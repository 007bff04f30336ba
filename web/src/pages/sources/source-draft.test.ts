import { expect, test } from 'vitest';
import type { Source } from '../../api/sources.ts';
import { emptyDraft, toChange, toDraft, toNewSource } from './source-draft.ts';

const stored = {
  kind: 'rss',
  name: 'Reports',
  url: 'https://feeds.example/rss',
  publisher: null,
  tlp: 'amber',
  schedule: '0 * * * *',
  reliability: 0.8,
  include: ['ransomware', 'botnet'],
  exclude: [],
  hasAuth: true,
} as unknown as Source;

test('a source that is opened and saved keeps its credential and its fields', () => {
  const change = toChange(toDraft(stored));
  expect(change).toEqual({
    name: 'Reports',
    url: 'https://feeds.example/rss',
    publisher: null,
    tlp: 'amber',
    schedule: '0 * * * *',
    reliability: 0.8,
    include: ['ransomware', 'botnet'],
    exclude: [],
    auth: undefined,
    sightings: null,
  });
});

test('leaves empty fields of a new source out, and resets those of an existing one', () => {
  expect(JSON.parse(JSON.stringify(toNewSource({ ...emptyDraft, name: ' A ', url: ' https://a.example ' })))).toEqual({
    kind: 'rss',
    visibility: 'private',
    name: 'A',
    url: 'https://a.example',
    include: [],
    exclude: [],
    auth: null,
  });
  expect(toChange({ ...toDraft(stored), tlp: '', schedule: ' ' })).toMatchObject({ tlp: null, schedule: null });
});

test.each([
  ['bearer', { type: 'bearer', token: 'secret' }],
  ['basic', { type: 'basic', username: 'user', password: 'secret' }],
  ['header', { type: 'header', name: 'user', value: 'secret' }],
  ['none', null],
] as const)('sends the access %s', (access, auth) => {
  expect(toChange({ ...emptyDraft, access, user: 'user', secret: 'secret' }).auth).toEqual(auth);
});
