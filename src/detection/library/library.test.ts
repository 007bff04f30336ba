import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findTechnique } from '../../feed/reference-data/attack.ts';
import { HeadlineInput } from '../detections/record/field-schemas.ts';
import { windowsFields } from '../log-engine/sql/windows-fields.ts';
import { type FileResult, runFolderTests } from '../testing/render-results.ts';
import { describeMismatch } from '../testing/run-test-set.ts';
import { librarySeverities } from './library.schema.ts';
import { listTechniqueIds, libraryDir, listLibraryFiles, loadLibrary } from './load-library.ts';

const library = [...loadLibrary().values()].map((entry) => [entry.id, entry] as const);
const dataDir = mkdtempSync(join(tmpdir(), 'tocsin-library-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Fields of Windows events that have the same name in every shape, besides those of `windowsFields`. */
const otherFields =
  `AccessMask AccountName Application CallTrace Direction Company ContextInfo Description DestinationIsIpv6 EventType FileVersion GrantedAccess Hashes
  HostApplication ImagePath Initiated IntegrityLevel LogonType MemberName MemberSid Message NewTargetUserName ObjectName ObjectType
  OldTargetUserName PipeName PreAuthType PrivilegeList ProcessGuid Product Properties Protocol QueryResults QueryStatus RelativeTargetName
  ScriptName ServiceFileName ServiceName ServiceType ShareName Signature Signed SourceHostname SourceImage SourceUser StartAddress StartFunction
  StartModule Status SubStatus SubjectDomainName SubjectUserSid TargetDomainName TargetImage TargetServerName TargetSid TargetUserSid TaskContent
  TaskContentNew TaskName TicketEncryptionType TicketOptions UserID WorkstationName AuthenticationPackageName LogonProcessName Operation Consumer
  Filter Destination Query Name EventNamespace Type param1 param2 Path AuditPolicyChanges SubcategoryGuid UserAccountControl NewUacValue`.split(
    /\s+/,
  );
const knownWindowsFields = new Set([...Object.keys(windowsFields), ...otherFields]);

/** Returns the words of a query outside its comments and texts, in lower case. */
const wordsOf = (query: string): string[] =>
  query
    .replaceAll(/--.*|'(?:[^']|'')*'/g, ' ')
    .toLowerCase()
    .match(/[\w$]+/g) ?? [];

describe('the tests of the library', () => {
  let results: Map<string, FileResult['run']>;
  beforeAll(async () => {
    const files = listLibraryFiles().map(({ file }) => file);
    const all = await runFolderTests(files, { dataDir, now: new Date('2030-02-01T00:00:00Z') });
    results = new Map(all.map(({ file, run }) => [file, run]));
  }, 240_000);

  test.each(library)('%s finds its attacks and ignores its benign events', (id) => {
    const failed = results.get(`${id}.yaml`)!.results.filter(({ passed }) => !passed);
    expect(failed.map((result) => `${result.name}: ${describeMismatch(result)}`)).toEqual([]);
  });
});

describe.each(library)('%s', (_id, { body, tests, datasets, severity }) => {
  const query = body.detectionQuery;

  test('has tests with events that must match and events that must not', () => {
    expect(tests.tests.some(({ expect: entities }) => entities.length > 0)).toBe(true);
    expect(tests.tests.some(({ expect: entities }) => entities.length === 0)).toBe(true);
  });

  test('has a headline whose fields the query returns', () => {
    const fields = [...HeadlineInput.parse(body.headline).matchAll(/\{\{(\w+)\}\}/g)].map(([, field]) => field!);
    expect(fields.length).toBeGreaterThan(0);
    expect(fields.filter((field) => !wordsOf(query).includes(field))).toEqual([]);
  });

  test('assigns techniques of its tags, and severities up to the stated one', () => {
    const entry = { body };
    const techniques = listTechniqueIds(entry);
    expect(techniques.length).toBeGreaterThan(0);
    expect(techniques.filter((id) => !findTechnique(id))).toEqual([]);
    const assigned = [...new Set(query.match(/(?<=')T\d{4}(?:\.\d{3})?(?=')/g))];
    expect(assigned.length).toBeGreaterThan(0);
    expect(techniques).toEqual(expect.arrayContaining(assigned));
    // Without a column, the severity follows from the facts.
    if (wordsOf(query).includes('severity'))
      expect(librarySeverities.findLast((one) => query.includes(`'${one}'`))).toBe(severity);
  });

  test('returns event ids, reads its datasets by their names alone, and knows every field it reads', () => {
    const words = wordsOf(query);
    expect(words.includes('_id') || words.includes('_ids')).toBe(true);
    for (const name of Object.keys(datasets)) {
      const uses = words.flatMap((word, at) => (word === name || word === `${name}_history` ? [words[at - 1]] : []));
      expect(uses.length).toBeGreaterThan(0);
      // Installing may rename the dataset.
      expect(uses.filter((before) => before !== 'from' && before !== 'join')).toEqual([]);
    }
    const fields = [...query.matchAll(/winlog\(\s*_event\s*,\s*'(\w+)'\s*\)/g)].map(([, name]) => name!);
    expect(fields.filter((name) => !knownWindowsFields.has(name))).toEqual([]);
    expect(words.filter((word) => word === 'winlog')).toHaveLength(fields.length);
    for (const name of datasets['windows'] ?? []) expect(fields).toContain(name);
  });
});

test('detections have unique ids, and a folder has at most 20', () => {
  expect(loadLibrary().size).toBe(listLibraryFiles().length);
  for (const folder of readdirSync(libraryDir))
    expect(readdirSync(join(libraryDir, folder)).length).toBeLessThanOrEqual(20);
  expect(new Set(library.map(([, { body }]) => body.name)).size).toBe(library.length);
  expect(new Set(library.map(([, { body }]) => body.detectionCategory)).size).toBe(5);
});
