import { expect, test } from 'vitest';
import type { Candidate } from '../candidate.ts';
import { compileExceptions, type Exception } from './exceptions.ts';

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
