import { runAtOnce } from '../../../platform/lib/concurrency/slices.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { QueryRow } from '../../siem/connector.ts';
import { groupRows } from './group-rows.ts';

const findEntity = (row: QueryRow, entityField: string | null = null) => {
  const [group] = runAtOnce(groupRows([row], { entityField }));
  return [group!.entity, group!.entityType, group!.isNamed];
};

describe('finds the entity of a row in', () => {
  test.each<[string, QueryRow, string | null, [string, string, boolean]]>([
    ['the entity field', { src: 'x', dst: 'y' }, 'dst', ['y', 'entity', true]],
    ['a dotted path into objects', { a: { b: { c: 'v' } } }, 'a.b.c', ['v', 'entity', true]],
    ['a flat dotted name', { 'user.name': 'alice' }, 'user.name', ['alice', 'user', true]],
    [
      'a path with a flat prefix',
      { 'winlog.event_data': { TargetUserName: 'bob' } },
      'winlog.event_data.TargetUserName',
      ['bob', 'user', true],
    ],
    [
      'a path into JSON text',
      { userIdentity: '{"arn":"arn:aws:iam::1:role/x"}' },
      null,
      ['arn:aws:iam::1:role/x', 'role', true],
    ],
    ['ECS', { user: { name: 'alice' }, host: { name: 'h' } }, null, ['alice', 'user', true]],
    ['ECS host', { host: { name: 'h' } }, null, ['h', 'host', true]],
    ['OCSF', { actor: { user: { name: 'alice' } } }, null, ['alice', 'user', true]],
    [
      'CloudTrail',
      { userIdentity: { arn: 'arn:aws:iam::1:user/ben', userName: 'ben' } },
      null,
      ['arn:aws:iam::1:user/ben', 'user', true],
    ],
    ['Windows', { SubjectUserName: '-', TargetUserName: 'bob', Computer: 'ws' }, null, ['bob', 'user', true]],
    ['Okta', { actor: { alternateId: 'a@example.com' } }, null, ['a@example.com', 'user', true]],
    ['an IP address', { sourceIPAddress: '192.0.2.1' }, null, ['192.0.2.1', 'ip', true]],
    ['`entity`, typed by its value', { entity: '2001:db8::1' }, null, ['2001:db8::1', 'ip', true]],
    ['a common field if the entity field is empty', { who: null, user: 'alice' }, 'who', ['alice', 'user', true]],
    [
      'the whole row without numbers, times and `_` columns',
      { b: 'y', a: 'x', n: 3, at: '2024-01-01', _id: 'e', flag: true },
      null,
      ['a=x, b=y, flag=true', 'entity', false],
    ],
    ['`*` if no value is left', { n: 3, _id: 'e', when: '2024-01-01T00:00:00Z' }, null, ['*', 'entity', false]],
    ['a numeric field', { account: 12 }, 'account', ['12', 'account', true]],
    ['`*` and not in an inherited property', {}, 'constructor', ['*', 'entity', false]],
  ])('%s', (_name, row, entityField, expected) => {
    expect(findEntity(row, entityField)).toEqual(expected);
  });
});

test('shortens an entity, escapes invisible characters and redacts secrets', () => {
  expect(String(findEntity({ user: 'x'.repeat(10_000) })[0])).toHaveLength(200);
  expect(findEntity({ user: 'x'.repeat(10_000) })[0]).not.toBe(findEntity({ user: 'x'.repeat(10_001) })[0]);
  expect(findEntity({ user: 'a\u0000\u202eb' })[0]).toBe('a\\u0000\\u202eb');
  expect(findEntity({ cmd: 'psql --password hunter2' })[0]).toBe('cmd=psql --password [redacted]');
});

test('puts every row in exactly one group, regardless of order', () => {
  const value = fc.oneof(fc.constantFrom('a', 'b', '', '-'), fc.integer(), fc.constant(null));
  const rows = fc.array(fc.record({ user: value, host: value, other: value }, { requiredKeys: [] }), { maxLength: 30 });
  fc.assert(
    fc.property(rows, fc.infiniteStream(fc.nat()), (input, noise) => {
      const groups = runAtOnce(groupRows(input, { entityField: null }));
      expect(groups.flatMap((group) => group.rows.map(({ row }) => row)).length).toBe(input.length);
      expect(new Set(groups.map(({ entity }) => entity)).size).toBe(groups.length);
      const shuffled = input
        .map((row) => ({ row, at: noise.next().value! }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ row }) => row);
      const shape = (all: typeof groups) =>
        all.map(({ entity, entityType, isNamed: named, rows: own }) => [entity, entityType, named, own.length]);
      expect(shape(runAtOnce(groupRows(shuffled, { entityField: null })))).toEqual(shape(groups));
    }),
  );
});
