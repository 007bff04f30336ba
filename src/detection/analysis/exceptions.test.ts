import { expect, test } from 'vitest';
import type { Candidate } from './candidate.ts';
import { exceptionFor, type Exception } from './exceptions.ts';

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
const exception = (given: Partial<Exception>): Exception => ({
  id: 'e',
  kind: 'exception',
  entity: null,
  field: null,
  value: null,
  ...given,
});
const scanner = row('1', { ip: '192.0.2.7' });
const other = row('2', { ip: '192.0.2.8' });

test.each([
  ['its entity', candidate([scanner]), { entity: 'ada' }, true],
  ['another entity', candidate([scanner]), { entity: 'Ada' }, false],
  ['a value in every row', candidate([scanner, scanner]), { field: 'ip', value: '192.0.2.7' }, true],
  ['entity and value', candidate([scanner]), { entity: 'ada', field: 'ip', value: '192.0.2.7' }, true],
  ['the value of another entity', candidate([scanner]), { entity: 'bob', field: 'ip', value: '192.0.2.7' }, false],
  ['one row beside it', candidate([scanner, other]), { field: 'ip', value: '192.0.2.7' }, false],
  ['a field that is missing', candidate([row('1', {})]), { field: 'ip', value: '192.0.2.7' }, false],
  ['a name of the prototype', candidate([row('1', {})]), { field: 'toString', value: null }, false],
  ['no rows at all', candidate([]), { field: 'ip', value: '192.0.2.7' }, false],
  [
    'rows that are not shown',
    candidate([scanner], { facts: { candidateRows: 51 } }),
    { field: 'ip', value: '192.0.2.7' },
    false,
  ],
  ['the whole detection', candidate([other]), { kind: 'snooze' as const }, true],
])('%s', (_name, given, parts, covered) => {
  expect(exceptionFor(given, [exception(parts)]) !== undefined).toBe(covered);
});
