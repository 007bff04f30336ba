import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../siem/connector.ts';
import { groupRows } from './group-rows.ts';

const of = (row: Row, entityField: string | null = null) => {
  const [group] = groupRows([row], { entityField });
  return [group!.entity, group!.entityType, group!.named];
};

describe('the entity of a row', () => {
  test.each<[string, Row, string | null, [string, string, boolean]]>([
    ['its named field', { src: 'x', dst: 'y' }, 'dst', ['y', 'entity', true]],
    ['a dotted path into objects', { a: { b: { c: 'v' } } }, 'a.b.c', ['v', 'entity', true]],
    ['a flat dotted name', { 'user.name': 'alice' }, 'user.name', ['alice', 'user', true]],
    [
      'a path that is partly flat',
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
    ['an address', { sourceIPAddress: '192.0.2.1' }, null, ['192.0.2.1', 'ip', true]],
    ['entity, typed by its look', { entity: '2001:db8::1' }, null, ['2001:db8::1', 'ip', true]],
    ['the named field is empty: a usual name', { who: null, user: 'alice' }, 'who', ['alice', 'user', true]],
    [
      'the rest of the row',
      { b: 'y', a: 'x', n: 3, at: '2024-01-01', _id: 'e', flag: true },
      null,
      ['a=x, b=y, flag=true', 'entity', false],
    ],
    ['nothing left', { n: 3, _id: 'e', when: '2024-01-01T00:00:00Z' }, null, ['*', 'entity', false]],
    ['a number is a name here', { account: 12 }, 'account', ['12', 'account', true]],
    ['inherited names are none', {}, 'constructor', ['*', 'entity', false]],
  ])('%s', (_name, row, entityField, expected) => {
    expect(of(row, entityField)).toEqual(expected);
  });
});

test('a very long or hostile entity is bounded, visible and without secrets', () => {
  expect(String(of({ user: 'x'.repeat(10_000) })[0])).toHaveLength(200);
  expect(of({ user: 'x'.repeat(10_000) })[0]).not.toBe(of({ user: 'x'.repeat(10_001) })[0]);
  expect(of({ user: 'a\u0000\u202eb' })[0]).toBe('a\\u0000\\u202eb');
  expect(of({ cmd: 'psql --password hunter2' })[0]).toBe('cmd=psql --password [redacted]');
});

test('every row is in exactly one group and no order matters', () => {
  const value = fc.oneof(fc.constantFrom('a', 'b', '', '-'), fc.integer(), fc.constant(null));
  const rows = fc.array(fc.record({ user: value, host: value, other: value }, { requiredKeys: [] }), { maxLength: 30 });
  fc.assert(
    fc.property(rows, fc.infiniteStream(fc.nat()), (given, noise) => {
      const groups = groupRows(given, { entityField: null });
      expect(groups.flatMap((group) => group.rows.map(({ row }) => row)).length).toBe(given.length);
      expect(new Set(groups.map(({ entity }) => entity)).size).toBe(groups.length);
      const shuffled = given
        .map((row) => ({ row, at: noise.next().value! }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ row }) => row);
      const shape = (all: typeof groups) =>
        all.map(({ entity, entityType, named, rows: own }) => [entity, entityType, named, own.length]);
      expect(shape(groupRows(shuffled, { entityField: null }))).toEqual(shape(groups));
    }),
  );
});
