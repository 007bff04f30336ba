import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../../../test/support/run-command.ts';
import { parseFields } from '../managed/file-fields.ts';
import { writeDetectionFile } from '../as-code/detection-file.ts';

const folders: string[] = [];
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tocsin-testing-'));
  folders.push(folder);
});
afterAll(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

const write = (name: string, fields: Record<string, unknown>): void =>
  writeFileSync(join(folder, name), writeDetectionFile(parseFields(fields)).text);

/** Runs the command with an unreachable database, which it must not use. */
const runTests = (path: string, ...flags: string[]): Promise<{ code: number; out: string }> =>
  runCommand(['test', path, ...flags], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' });

const detection = {
  name: 'New country',
  detectionCategory: 'first_occurrence',
  systemPrompt: 'Judge it.',
  detectionQuery: 'SELECT "user", country, mfa, _id, _time FROM logins',
  entityField: 'user',
  detectionCadence: 'hourly',
};
const login = (user: string, country: string, hour: number) => ({
  timestamp: new Date(Date.UTC(2026, 0, 5, hour)).toISOString(),
  user,
  country,
});
const newCountryTest = {
  name: 'new',
  history: [login('ada', 'NO', 8)],
  events: [login('ada', 'KP', 20)],
  expect: ['ada'],
};

test('exits with 1 and reports failed tests in the table and in JUnit XML', async () => {
  const wrong = { ...newCountryTest, name: 'a <wrong> & "odd" one', expect: ['eve'] };
  // The events of this file lack the column `mfa`, so it is null, although those of another file have it.
  write('a.yaml', { ...detection, tests: [newCountryTest, wrong] });
  write('b.yaml', {
    ...detection,
    tests: [{ name: 'mfa', events: [{ ...newCountryTest.events[0], mfa: true }], expect: ['ada'] }],
  });
  write('c.yaml', { ...detection, detectionQuery: 'SELECT nation FROM logins', tests: [newCountryTest] });
  write('d.yaml', { ...detection, siemType: 'splunk', detectionQuery: 'index=auth', tests: [newCountryTest] });
  write('e.yaml', {
    ...detection,
    siemType: 'splunk',
    detectionQuery: 'x',
    localQuery: detection.detectionQuery,
    tests: [newCountryTest],
  });
  write('f.yaml', detection);
  const { code, out } = await runTests(folder, '--junit', join(folder, 'out.xml'));
  expect(code).toBe(1);
  const lines = out.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').replace(/ \d+ ms$/, ''));
  expect(lines.slice(0, 16)).toEqual([
    'ok a.yaml new',
    'FAIL a.yaml a <wrong> & "odd" one',
    ' missing eve; not expected ada',
    expect.stringMatching(/^note a\.yaml: unknown_column: No event has had mfa/),
    'ok b.yaml mfa',
    'FAIL c.yaml new',
    ' missing ada',
    expect.stringMatching(/^note c\.yaml: unknown_column: No event has had nation/),
    expect.stringMatching(/^note c\.yaml: no_entity_field: /),
    expect.stringMatching(/^note c\.yaml: no_row_times: /),
    'ok d.yaml new',
    "note d.yaml: queryTested: false, the events were used as rows of another SIEM's query",
    'ok e.yaml new',
    expect.stringMatching(/^note e\.yaml: unknown_column: /),
    'none f.yaml has no tests',
    expect.stringMatching(/^6 tests of 5 detections: 4 passed, 2 failed; /),
  ]);
  const xml = readFileSync(join(folder, 'out.xml'), 'utf8');
  expect(xml).toMatch(/<testsuites name="tocsin" tests="6" failures="2" errors="0" time="[\d.]+">/);
  expect(xml).toContain('<testcase name="a &lt;wrong&gt; &amp; &quot;odd&quot; one" classname="a"');
  expect(xml).toMatch(/<testsuite name="d.yaml" [^>]*>\s*<properties><property name="queryTested" value="false"\/>/);
});

test('exits with 2 and lists file, line and field of every problem', async () => {
  const base = 'name: x\ndetectionCategory: custom\nsystemPrompt: p\ndetectionQuery: q\n';
  writeFileSync(join(folder, 'a.yaml'), `${base}tests:\n  - name: t\n    events: []\n    expcet: []\n`);
  writeFileSync(join(folder, 'b.yaml'), `${base}nmae: x\n`);
  const { code, out } = await runTests(folder);
  expect([code, out]).toEqual([
    2,
    expect.stringMatching(
      /^a\.yaml:6: tests\.0\.expect: .*\na\.yaml:\d+: tests\.0: .*expcet.*\nb\.yaml:5: nmae: is not a field of a detection\n$/,
    ),
  ]);
  rmSync(join(folder, 'a.yaml'));
  writeFileSync(join(folder, 'b.yaml'), `${base}customCronSchedule: '* * * * *'\n`);
  expect(await runTests(folder)).toEqual({ code: 2, out: expect.stringMatching(/^b\.yaml:5: customCronSchedule: /) });
  rmSync(join(folder, 'b.yaml'));
  expect(await runTests(folder)).toMatchObject({ code: 2, out: expect.stringContaining('contains no detections') });
  expect((await runTests(join(folder, 'none'))).code).toBe(2);
});
