import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dataDir } from '../../../../../test/support/data.ts';
import { inferFieldRole } from './field-roles.ts';
import { findPlantedCue } from './planted-text.ts';

const quality = new URL('../../../../../quality/detections/planted/', import.meta.url);
const read = <Row>(name: string): Row[] => JSON.parse(readFileSync(new URL(name, quality), 'utf8')) as Row[];
const roles = ['label', 'path', 'code', 'script', 'prose'] as const;

describe.each(roles)('in a field of the kind %s', (role) => {
  const missed = (texts: string[]): string[] => texts.filter((text) => findPlantedCue(text, role) === undefined);

  test('finds the texts of the project that are addressed to a model', () => {
    expect(missed(read<{ text: string }>('planted-texts.json').map(({ text }) => text))).toEqual([]);
  });

  test('finds the texts of the project that address a model in other languages', () => {
    expect(missed(read<{ text: string }>('addressed-texts.json').map(({ text }) => text))).toEqual([]);
  });

  const data = dataDir();
  test.skipIf(!data)('finds the recorded texts that are addressed to a model', () => {
    const recorded = JSON.parse(readFileSync(join(data!, 'injection/bipia.json'), 'utf8')) as { text: string }[];
    expect(missed(recorded.map(({ text }) => text))).toEqual([]);
  });
});

test('finds nothing in most texts that only read like instructions', () => {
  const fields: Record<string, string> = { command: 'command_line', script: 'script_block_text', agent: 'user_agent' };
  const texts = read<{ kind: string; text: string }>('benign-texts.json');
  const found = texts.filter(({ kind, text }) => findPlantedCue(text, inferFieldRole(fields[kind] ?? kind)));
  expect(found.length).toBeLessThanOrEqual(0.08 * texts.length);
  expect(found.map(({ kind }) => kind)).not.toContain('help');
  expect(found.map(({ kind }) => kind)).not.toContain('error');
  expect(found.map(({ kind }) => kind)).not.toContain('foreign');
});

test.each([
  ['user_agent', 'label'],
  ['userIdentity.arn', 'label'],
  ['dns.question.query', 'label'],
  ['process.command_line', 'code'],
  ['ScriptBlockText', 'script'],
  ['file.path', 'path'],
  ['url', 'path'],
  ['errorMessage', 'prose'],
  ['subject', 'prose'],
  ['something_else', 'prose'],
])('a field named %s contains %s', (field, role) => {
  expect(inferFieldRole(field)).toBe(role);
});

test('reads any text without an error', () => {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.lorem({ maxCount: 20 }), fc.base64String());
  fc.assert(
    fc.property(text, fc.constantFrom(...roles), (value, role) => {
      expect([undefined, 'string']).toContain(typeof findPlantedCue(value, role) === 'string' ? 'string' : undefined);
    }),
  );
});

test('reads texts that repeat the beginnings of its patterns without backtracking forever', () => {
  const parts = [
    'ignore all ',
    'mark it as ',
    'is the ',
    'your ',
    '%41',
    '\\x41',
    'aGVsbG8',
    'a.',
    '&#65;',
    'what is ',
    '01000001 ',
    '指令',
  ];
  for (const part of parts)
    for (const role of roles) expect(() => findPlantedCue(part.repeat(50_000 / part.length), role)).not.toThrow();
});
