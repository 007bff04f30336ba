import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { Candidate } from './candidate.ts';
import { compileExceptions, type Exception, compileAllowList, compilePattern } from './exceptions.ts';

/** The definition of a pattern as a regular expression, which is too slow for untrusted patterns. */
const expected = (pattern: string, text: string): boolean => {
  const escaped = pattern
    .trim()
    .toLowerCase()
    .split('*')
    .map((part) => RegExp.escape(part));
  return new RegExp(`^${escaped.join('[^]*')}$`).test(text.trim().toLowerCase());
};

test('agrees with the definition on any pattern and text', () => {
  const some = fc.string({ unit: fc.constantFrom('a', 'B', 'b', '*', '.', ' '), maxLength: 8 });
  fc.assert(
    fc.property(some, some, (pattern, text) => {
      expect(compilePattern(pattern)(text)).toBe(expected(pattern, text));
    }),
    { numRuns: 2000 },
  );
});

test('a pattern with many wildcards takes no time on a long text', () => {
  expect(compilePattern('*a'.repeat(2000) + '*b')(`${'a'.repeat(100_000)}c`)).toBe(false);
});

const row = (rowId: string, fields: Record<string, string>) => ({ rowId, time: null, fields });
const candidate = (rows: Candidate['rows'], more: Partial<Candidate> = {}): Candidate => ({
  entity: 'ada',
  entityType: 'user',
  kind: 'custom',
  kindKey: 'k',
  severity: 'high',
  facts: { candidateRows: rows.length },
  rows,
  ...more,
});
const exception = (overrides: Partial<Exception>): Exception => ({
  id: 'e',
  kind: 'exception',
  entity: null,
  field: null,
  value: null,
  list: null,
  conditions: [],
  ...overrides,
});
const scanner = row('1', { ip: '192.0.2.7' });
const other = row('2', { ip: '192.0.2.8' });

test.each([
  ['matches the entity', candidate([scanner]), { entity: 'ada' }, true],
  ['does not match another entity', candidate([scanner]), { entity: 'adam' }, false],
  ['matches the entity in another case', candidate([scanner]), { entity: ' ADA ' }, true],
  ['matches an entity by a pattern', candidate([scanner], { entity: 'svc-backup-7' }), { entity: 'SVC-*' }, true],
  ['matches a value by a pattern', candidate([scanner]), { field: 'ip', value: '192.0.2.*' }, true],
  [
    'does not match beyond a pattern',
    candidate([scanner, row('2', { ip: '198.51.100.2' })]),
    { field: 'ip', value: '192.0.2.*' },
    false,
  ],
  ['matches a field name in another case', candidate([scanner]), { field: 'IP', value: '192.0.2.7' }, true],
  ['matches a value in every row', candidate([scanner, scanner]), { field: 'ip', value: '192.0.2.7' }, true],
  ['matches entity and value', candidate([scanner]), { entity: 'ada', field: 'ip', value: '192.0.2.7' }, true],
  [
    'does not match the value of another entity',
    candidate([scanner]),
    { entity: 'bob', field: 'ip', value: '192.0.2.7' },
    false,
  ],
  [
    'matches if all conditions hold for every row',
    candidate([row('1', { ip: '192.0.2.7', action: 'Scan' }), row('2', { ip: '192.0.2.200', action: 'scan' })]),
    { field: 'ip', value: '192.0.2.0/24', conditions: [{ field: 'action', value: 'scan' }] },
    true,
  ],
  [
    'does not match if a condition does not hold for a row',
    candidate([row('1', { ip: '192.0.2.7', action: 'scan' }), row('2', { ip: '192.0.2.7', action: 'login' })]),
    {
      conditions: [
        { field: 'ip', value: '192.0.2.0/24' },
        { field: 'action', value: 'scan' },
      ],
    },
    false,
  ],
  [
    'does not match a list that is unknown',
    candidate([scanner]),
    { conditions: [{ field: 'ip', list: 'none' }] },
    false,
  ],
  ['does not match if another row differs', candidate([scanner, other]), { field: 'ip', value: '192.0.2.7' }, false],
  ['does not match a missing field', candidate([row('1', {})]), { field: 'ip', value: '192.0.2.7' }, false],
  ['does not match an inherited property', candidate([row('1', {})]), { field: 'toString', value: null }, false],
  ['does not match without rows', candidate([]), { field: 'ip', value: '192.0.2.7' }, false],
  [
    'does not match if some rows are not shown',
    candidate([scanner], { facts: { candidateRows: 51 } }),
    { field: 'ip', value: '192.0.2.7' },
    false,
  ],
  ['matches the whole detection', candidate([other]), { kind: 'snooze' as const }, true],
])('%s', (_name, tested, parts, isMatch) => {
  expect(compileExceptions([exception(parts)])(tested) !== undefined).toBe(isMatch);
});

const list = compileAllowList(['svc-backup', 'scan-*', '*.lab.example', '10.1.0.0/16', '2001:db8::/32', '192.0.2.7']);

test.each([
  ['svc-backup', true],
  [' SVC-Backup ', true],
  ['svc-backup2', false],
  ['scan-eu-1', true],
  ['my-scan-1', false],
  ['FS-01.LAB.example', true],
  ['10.1.255.3', true],
  ['10.2.0.1', false],
  ['::ffff:10.1.2.3', true],
  ['2001:db8:9::1', true],
  ['2001:db9::1', false],
  ['192.0.2.7', true],
  ['192.0.2.70', false],
  ['10.1.0.0/16', false],
  ['', false],
])('%s is in the list: %s', (entity, expected) => {
  expect(list(entity)).toBe(expected);
});

test('an invalid network is an exact value', () => {
  expect(compileAllowList(['10.0.0.0/33'])('10.0.0.1')).toBe(false);
  expect(compileAllowList(['10.0.0.0/33'])('10.0.0.0/33')).toBe(true);
});

test('every entity is in a list of itself', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (entity) => {
      fc.pre(!/^[0-9a-f.:]+\/\d{1,3}$/i.test(entity.trim()));
      expect(compileAllowList([entity])(entity)).toBe(true);
    }),
  );
});
