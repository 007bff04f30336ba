import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readFields } from './fields.ts';
import { readDetectionFile, writeDetectionFile } from './file.ts';
import { fileNameFor } from './folder.ts';

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
          inputs: fc.array(fc.record({ type: fc.constantFrom('text', 'date'), name: prose }), { maxLength: 2 }),
        },
        { requiredKeys: ['name', 'detectionCategory', 'systemPrompt', 'detectionQuery'] },
      ),
      (raw) => {
        const fields = readFields(raw);
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
  expect(() => read(`${least}systemPromptFile: p.md\n`)).toThrow('give one of them');
});

test.each([
  ['an unknown field', `${least}detectionCadance: hourly\n`, 'detectionCadance: is no field'],
  ['a missing field', 'name: A\n', 'detectionQuery'],
  ['a field twice', `${least}name: B\n`, 'unique'],
  ['a wrong value', `${least}detectionCadence: often\n`, 'detectionCadence'],
  ['no mapping', '- a\n', 'is no mapping'],
  ['broken YAML', 'name: [\n', 'a.yaml'],
  ['an alias bomb', `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n`, 'alias'],
])('%s is told with the name of the file', (_name, given, message) => {
  expect(() => read(given)).toThrow(/^a\.yaml: /);
  expect(() => read(given)).toThrow(message);
});

test('file names are plain words and never taken twice', () => {
  const taken = new Set<string>();
  const names = ['Root logs in!', 'root LOGS in', '../../etc', '日本', 'Ünïcode'].map((name) => {
    const made = fileNameFor(name, taken);
    taken.add(made);
    return made;
  });
  expect(names).toEqual(['root-logs-in.yaml', 'root-logs-in-2.yaml', 'etc.yaml', 'detection.yaml', 'u-ni-code.yaml']);
});
