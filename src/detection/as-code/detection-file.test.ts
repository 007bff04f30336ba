import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { parseFields } from '../managed/file-fields.ts';
import { readDetectionFile, writeDetectionFile } from './detection-file.ts';
import { chooseFileName } from './folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'tocsin-as-code-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string, name = 'a.yaml') {
  writeFileSync(join(folder, name), text);
  return readDetectionFile(folder, name);
}

const requiredFields = 'name: A\ndetectionCategory: custom\nsystemPrompt: p\ndetectionQuery: q\n';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 });
const awkward = fc
  .array(
    fc.constantFrom('- x', 'a: b', '#c', '  two', '\t', '', '|', "'", '"', 'null', '{{x}}', '…', '1e3', '\r\n', '---'),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((lines) => lines.join('\n'));
const prose = fc.oneof(text, awkward).filter((value) => value.length > 0 && value.isWellFormed());

const event = fc.dictionary(prose, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
const events = fc.oneof(
  fc.array(event, { maxLength: 2 }),
  fc.dictionary(prose, fc.array(event, { maxLength: 2 }), { maxKeys: 2 }),
);
const testCase = fc.record(
  { name: prose, events, history: events, expect: fc.array(prose, { maxLength: 2 }) },
  { requiredKeys: ['name', 'events', 'expect'] },
);

test('reads back any detection unchanged from its file', () => {
  fc.assert(
    fc.property(
      fc.record(
        {
          name: prose,
          detectionCategory: fc.constantFrom('custom', 'first_occurrence'),
          systemPrompt: prose,
          detectionQuery: prose,
          description: prose,
          tags: fc.array(prose, { maxLength: 3 }),
          detectionCadence: fc.constantFrom('hourly', 'daily'),
          enabled: fc.boolean(),
          suppressionMinutes: fc.nat(1000),
          localQuery: prose,
          tests: fc.uniqueArray(testCase, { maxLength: 2, selector: ({ name }) => name }),
          inputs: fc.array(fc.record({ type: fc.constantFrom('text', 'date'), name: prose }), { maxLength: 2 }),
          acceptanceCriteria: fc.array(
            fc.oneof(
              prose,
              fc.constant({ check: 'decided' }),
              fc.record({ check: fc.constant('cites_field'), field: prose }),
            ),
            { maxLength: 3 },
          ),
        },
        { requiredKeys: ['name', 'detectionCategory', 'systemPrompt', 'detectionQuery'] },
      ),
      (raw) => {
        const fields = parseFields(raw);
        const { text: written } = writeDetectionFile(fields);
        expect(read(written).fields).toEqual(fields);
        // Writing the fields that a file already has changes nothing.
        expect(writeDetectionFile(fields, { text: written, promptFile: undefined }).text).toBe(written);
      },
    ),
    { numRuns: 150 },
  );
});

test('keeps comments and field order of a file', () => {
  const file = read(`# ours\n${requiredFields}tags: [b] # why\n`);
  const { text: written } = writeDetectionFile({ ...file.fields, name: 'B', tags: ['c'] }, file);
  expect(written).toContain('# ours');
  expect(written).toMatch(/name: B[\s\S]*tags:[\s\S]*c/);
  expect(read(written).fields).toEqual({ ...file.fields, name: 'B', tags: ['c'] });
});

test('reads a prompt only from an .md file in the same folder', () => {
  writeFileSync(join(folder, 'p.md'), '# Judge\n\nit\n');
  const base = requiredFields.replace('systemPrompt: p\n', '');
  const file = read(`${base}systemPromptFile: p.md\n`);
  expect(file.fields['systemPrompt']).toBe('# Judge\n\nit');
  const { text: written, prompt } = writeDetectionFile({ ...file.fields, systemPrompt: 'new\n' }, file);
  expect([written.includes('systemPrompt:'), prompt]).toEqual([false, 'new\n\n']);
  for (const bad of ['../p.md', '/etc/passwd', 'sub/p.md', '..', 'p.txt'])
    expect(() => read(`${base}systemPromptFile: ${bad}\n`), bad).toThrow('systemPromptFile');
  expect(() => read(`${requiredFields}systemPromptFile: p.md\n`)).toThrow('Specify one of them');
});

test.each([
  ['an unknown field', `${requiredFields}detectionCadance: hourly\n`, 'detectionCadance: is not a field'],
  ['a missing field', 'name: A\n', 'detectionQuery'],
  ['a field twice', `${requiredFields}name: B\n`, 'unique'],
  ['a wrong value', `${requiredFields}detectionCadence: often\n`, 'detectionCadence'],
  ['no mapping', '- a\n', 'must be a mapping'],
  ['broken YAML', 'name: [\n', 'a.yaml'],
  ['an alias bomb', `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n`, 'alias'],
])('reports %s with the file name', (_name, given, message) => {
  expect(() => read(given)).toThrow(/^a\.yaml:( |\d+: )/);
  expect(() => read(given)).toThrow(message);
});

test('derives unique file names from detection names', () => {
  const taken = new Set<string>();
  const names = ['Root logs in!', 'root LOGS in', '../../etc', '日本', 'Ünïcode'].map((name) => {
    const made = chooseFileName(name, taken);
    taken.add(made);
    return made;
  });
  expect(names).toEqual(['root-logs-in.yaml', 'root-logs-in-2.yaml', 'etc.yaml', 'detection.yaml', 'u-ni-code.yaml']);
});

test('reports every problem with its line and field', () => {
  const cases =
    '  - name: x\n    events: []\n    expect: []\n  - name: y\n    events:\n      - {a: 1}\n      - 7\n    expect: ada\n';
  const given = `${requiredFields.replace('custom', 'often')}bad: 1\ntests:\n${cases}  - name: x\n    events: []\n    expect: []\n`;
  const message = (() => {
    try {
      return String(read(given));
    } catch (error) {
      return (error as Error).message;
    }
  })();
  const lines = message.split('\n').map((line) => line.split(': ').slice(0, 2));
  expect(lines).toEqual([
    ['a.yaml:5', 'bad'],
    ['a.yaml:2', 'detectionCategory'],
    ['a.yaml:11', 'tests.1.events'],
    ['a.yaml:14', 'tests.1.expect'],
  ]);
  const twice = `${requiredFields}tests:\n${'  - name: x\n    events: []\n    expect: []\n'.repeat(2)}`;
  expect(() => read(twice)).toThrow('a.yaml:5: tests: test names must be unique');
  expect(() => read('name: A\nb: {c: 1\n')).toThrow(/^a\.yaml:[23]: /);
});

test('writes each event of a test case on one line', () => {
  const one = { user: 'ada', device: { managed: false }, command: 'a\nb' };
  const tests = [{ name: 'x', events: [one], history: { logins: [one, one] }, expect: ['ada'] }];
  const { text: written } = writeDetectionFile({ ...read(requiredFields).fields, tests });
  const line = '- { user: ada, device: { managed: false }, command: "a\\nb" }';
  expect(written.split('\n').filter((text) => text.trim() === line)).toHaveLength(3);
  expect(read(written).fields['tests']).toEqual(tests);
});
