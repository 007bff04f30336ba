import { expect, test } from 'vitest';
import { loadLibrary } from '../../../detection/library/load-library.ts';
import type { LogDataset } from '../log-kinds.ts';
import { isEveryday, listPairs, listTerms } from './intent-terms.ts';
import { matchIntent } from './match-intent.ts';
import { rankSources } from './rank-sources.ts';

const dataset = (name: string, ...columns: string[]): LogDataset => ({
  name,
  columns: columns.map((column) => ({ name: column })),
});
/** Every dataset of the library with all of its fields. */
const everything = [
  ...Map.groupBy(
    [...loadLibrary().values()].flatMap(({ datasets }) => Object.entries(datasets)),
    ([name]) => name,
  ),
].map(([name, lists]) => dataset(name, ...new Set(lists.flatMap(([, fields]) => fields))));
const firstAnswer = (intent: string, datasets = everything): string | undefined =>
  matchIntent(intent, datasets).answers[0]?.id;

test('terms are stems, with synonyms replaced by one of them', () => {
  const terms = (text: string) => listTerms(text).map(({ term }) => term);
  expect(terms('Deleting, deleted, deletes')).toEqual(['delet', 'delet', 'delet']);
  expect(terms('StopLogging')).toEqual(terms('stop logged'));
  expect(terms('MFA')).toEqual(terms('two-factor authentication'));
  expect(listTerms('logging in to Azure AD').map(({ text }) => text)).toEqual(['logging in', 'to', 'Azure AD']);
  expect(listPairs(listTerms('web shell'))).toEqual([{ term: 'webshell', text: 'web shell' }]);
  expect([isEveryday('somebod'), isEveryday('lsas')]).toEqual([true, false]);
});

test.each([
  ['webshell', 'web-shell'],
  ['cloud trail was stopped', 'aws-cloudtrail-disabled'],
  ['k8s secrets listed', 'kubernetes-secrets-read'],
  ['t1490', 'recovery-inhibited'],
  ['T1558.003 in our domain', 'windows-kerberoasting'],
  ['okta password spray', 'okta-password-spray'],
  ['entra password spray', 'entra-password-spray'],
])('"%s" means %s', (intent, id) => {
  expect(firstAnswer(intent)).toBe(id);
});

test('says which words matched and which are new', () => {
  const { ranked, unknown } = rankSources('Somebody dumps LSASS with frobnicator');
  expect(ranked[0]!.matched).toEqual(expect.arrayContaining(['T1003.001', 'LSASS']));
  expect(unknown).toEqual(['frobnicator']);
});

test('answers nothing without words, and offers the nearest for words that fit badly', () => {
  expect(matchIntent('?! …', everything)).toEqual({ answers: [], nearest: [], unknown: [] });
  const { answers, nearest, unknown } = matchIntent('a sales rep exports Salesforce reports', everything);
  expect([answers, unknown]).toEqual([[], ['Salesforce']]);
  expect(nearest.length).toBeGreaterThan(0);
});

test('prefers an answer whose data exists among those that are about equally close', () => {
  const withMemory = dataset('windows', 'EventID', 'TargetImage', 'GrantedAccess');
  const commands = dataset('edr', 'process.command_line', 'host.name');
  expect(matchIntent('lsass memory dumped', [withMemory, commands]).answers[0]).toMatchObject({ missing: null });
  const alone = matchIntent('lsass memory dumped', [commands]).answers;
  expect(alone[0]).toMatchObject({ kind: 'template', id: 'lsass-dumped', missing: null });
  expect(alone.at(-1)).toMatchObject({ drafts: [], missing: expect.stringContaining('the dataset windows (windows') });
});

test('reads a dataset of another name only if no other has the fields', () => {
  const [trail, copy] = ['trail', 'copy'].map((name) => dataset(name, 'eventSource', 'eventName', 'userIdentity.arn'));
  const [found] = matchIntent('cloudtrail stopped', [trail!]).answers;
  expect(found!.drafts.map(({ reads }) => reads)).toEqual(['trail']);
  expect(found!.drafts[0]!.body.detectionQuery).toContain('FROM trail');
  expect(matchIntent('cloudtrail stopped', [trail!, copy!]).answers[0]!.missing).toContain('the dataset cloudtrail');
});
