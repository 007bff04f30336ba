import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { parseFields } from './file-fields.ts';
import { readDetectionFile, writeDetectionFile } from './detection-file.ts';
import { chooseFileName } from './folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'tocsin-as-code-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string, name = 'a.yaml') {
  writeFileSync(join(folder, name), text);
  return readDetectionFile(folder, name);
}

const least = 'name: A\ndetectionCategory: custom\nsystemPrompt: p\ndetectionQuery: q\n';

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

test('any detection is the same again after it went through a file', () => {
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
        },
        { requiredKeys: ['name', 'detectionCategory', 'systemPrompt', 'detectionQuery'] },
      ),
      (raw) => {
        const fields = parseFields(raw);
        const { text: written } = writeDetectionFile(fields);
        expect(read(written).fields).toEqual(fields);
        // Writing what a file says already changes not a byte.
        expect(writeDetectionFile(fields, { text: written, promptFile: undefined }).text).toBe(written);
      },
    ),
    { numRuns: 150 },
  );
});

test('comments and order of a file survive a change', () => {
  const file = read(`# ours\n${least}tags: [b] # why\n`);
  const { text: written } = writeDetectionFile({ ...file.fields, name: 'B', tags: ['c'] }, file);
  expect(written).toContain('# ours');
  expect(written).toMatch(/name: B[\s\S]*tags:[\s\S]*c/);
  expect(read(written).fields).toEqual({ ...file.fields, name: 'B', tags: ['c'] });
});

test('a prompt may stand in an .md of the same folder, and nowhere else', () => {
  writeFileSync(join(folder, 'p.md'), '# Judge\n\nit\n');
  const base = least.replace('systemPrompt: p\n', '');
  const file = read(`${base}systemPromptFile: p.md\n`);
  expect(file.fields['systemPrompt']).toBe('# Judge\n\nit');
  const { text: written, prompt } = writeDetectionFile({ ...file.fields, systemPrompt: 'new\n' }, file);
  expect([written.includes('systemPrompt:'), prompt]).toEqual([false, 'new\n\n']);
  for (const bad of ['../p.md', '/etc/passwd', 'sub/p.md', '..', 'p.txt'])
    expect(() => read(`${base}systemPromptFile: ${bad}\n`), bad).toThrow('systemPromptFile');
  expect(() => read(`${least}systemPromptFile: p.md\n`)).toThrow('Specify one of them');
});

test.each([
  ['an unknown field', `${least}detectionCadance: hourly\n`, 'detectionCadance: is not a field'],
  ['a missing field', 'name: A\n', 'detectionQuery'],
  ['a field twice', `${least}name: B\n`, 'unique'],
  ['a wrong value', `${least}detectionCadence: often\n`, 'detectionCadence'],
  ['no mapping', '- a\n', 'must be a mapping'],
  ['broken YAML', 'name: [\n', 'a.yaml'],
  ['an alias bomb', `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n`, 'alias'],
])('%s is told with the name of the file', (_name, given, message) => {
  expect(() => read(given)).toThrow(/^a\.yaml:( |\d+: )/);
  expect(() => read(given)).toThrow(message);
});

test('file names are plain words and never taken twice', () => {
  const taken = new Set<string>();
  const names = ['Root logs in!', 'root LOGS in', '../../etc', '日本', 'Ünïcode'].map((name) => {
    const made = chooseFileName(name, taken);
    taken.add(made);
    return made;
  });
  expect(names).toEqual(['root-logs-in.yaml', 'root-logs-in-2.yaml', 'etc.yaml', 'detection.yaml', 'u-ni-code.yaml']);
});

test('every problem is told with the line and the field where it stands', () => {
  const cases =
    '  - name: x\n    events: []\n    expect: []\n  - name: y\n    events:\n      - {a: 1}\n      - 7\n    expect: ada\n';
  const given = `${least.replace('custom', 'often')}bad: 1\ntests:\n${cases}  - name: x\n    events: []\n    expect: []\n`;
  const told = (() => {
    try {
      return String(read(given));
    } catch (error) {
      return (error as Error).message;
    }
  })();
  const lines = told.split('\n').map((line) => line.split(': ').slice(0, 2));
  expect(lines).toEqual([
    ['a.yaml:5', 'bad'],
    ['a.yaml:2', 'detectionCategory'],
    ['a.yaml:11', 'tests.1.events'],
    ['a.yaml:14', 'tests.1.expect'],
  ]);
  const twice = `${least}tests:\n${'  - name: x\n    events: []\n    expect: []\n'.repeat(2)}`;
  expect(() => read(twice)).toThrow('a.yaml:5: tests: test names must be unique');
  expect(() => read('name: A\nb: {c: 1\n')).toThrow(/^a\.yaml:[23]: /);
});

test('an event of a test stands on a line of its own', () => {
  const one = { user: 'ada', device: { managed: false }, command: 'a\nb' };
  const tests = [{ name: 'x', events: [one], history: { logins: [one, one] }, expect: ['ada'] }];
  const { text: written } = writeDetectionFile({ ...read(least).fields, tests });
  const line = '- { user: ada, device: { managed: false }, command: "a\\nb" }';
  expect(written.split('\n').filter((text) => text.trim() === line)).toHaveLength(3);
  expect(read(written).fields['tests']).toEqual(tests);
});
