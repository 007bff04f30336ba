import fc from 'fast-check';
import { expect, test } from 'vitest';
import '../../../test/support/property-seed.ts';
import { toKey, toOwnNames, type EntityName } from './entity-names.ts';
import { joinNames, type EntityLink } from './join-names.ts';

const own = toOwnNames(['halden.example', '111122223333']);
const user = (name: string): EntityName => ({ type: 'user', name });
const link = (
  a: EntityName,
  b: EntityName,
  isJoined: boolean,
  source: EntityLink['source'] = 'person',
): EntityLink => ({
  a,
  b,
  isJoined,
  source,
  why: `${source} said so.`,
});
const keysOf = (names: EntityName[], links: EntityLink[]): string[] => {
  const joined = joinNames(names, links, own);
  return names.map((name) => joined.get(toKey(name))!.key);
};

const [short, windows, mail, admin] = [
  user('tomas.rehn'),
  user('halden\\tomas.rehn'),
  user('tomas.rehn@halden.example'),
  user('trn'),
];

test('a person joins a name that no rule joins, and the entity keeps its name', () => {
  expect(keysOf([short, windows, admin], [link(short, admin, true)])).toEqual(
    Array.from({ length: 3 }, () => 'user:tomas.rehn'),
  );
  expect(joinNames([admin], [link(short, admin, true)], own).get('user:trn')!.why).toBe('person said so.');
});

test('what a person separated stays apart from the entity, which keeps its other names', () => {
  const separated = [link(short, windows, false)];
  expect(keysOf([short, windows, mail], separated)).toEqual([
    'user:tomas.rehn',
    'user:halden\\tomas.rehn',
    'user:tomas.rehn',
  ]);
  const listed = [...separated, link(mail, windows, true, 'list')];
  expect(keysOf([short, windows, mail], listed)).toEqual([
    'user:tomas.rehn',
    'user:halden\\tomas.rehn',
    'user:tomas.rehn',
  ]);
});

test('a host and an address are one where a person says so', () => {
  const [host, address]: EntityName[] = [
    { type: 'host', name: 'ws-12' },
    { type: 'ip', name: '10.0.0.9' },
  ];
  expect(keysOf([host!, address!], [])).toEqual(['host:ws-12', 'ip:10.0.0.9']);
  expect(keysOf([host!, address!], [link(host!, address!, true)])).toEqual(['host:ws-12', 'host:ws-12']);
});

const name = fc.oneof(
  fc.constantFrom(short, windows, mail, admin, user('root'), user('arn:aws:iam::111122223333:user/tomas.rehn')),
  fc.constantFrom<EntityName>(
    { type: 'host', name: 'ws-1' },
    { type: 'host', name: 'ws-1.halden.example' },
    { type: 'ip', name: '10.0.0.9' },
  ),
);
const links = fc.array(
  fc.record({
    a: name,
    b: name,
    isJoined: fc.boolean(),
    source: fc.constantFrom<EntityLink['source']>('person', 'list'),
    why: fc.constant(''),
  }),
  { maxLength: 12 },
);

test('the order of names and links does not matter', () => {
  const shuffled = fc.tuple(fc.array(name), links).chain(([names, list]) =>
    fc.record({
      names: fc.constant(names),
      list: fc.constant(list),
      otherNames: fc.shuffledSubarray(names, { minLength: names.length }),
      otherList: fc.shuffledSubarray(list, { minLength: list.length }),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ names, list, otherNames, otherList }) => {
      const [one, other] = [joinNames(names, list, own), joinNames(otherNames, otherList, own)];
      for (const [key, entity] of one) expect(other.get(key)?.key).toBe(entity.key);
    }),
  );
});

test('separate wins over every other link, and an entity is its own entity', () => {
  fc.assert(
    fc.property(fc.array(name), links, (names, list) => {
      const joined = joinNames(names, list, own);
      for (const { a, b, isJoined } of list)
        if (!isJoined && toKey(a) !== toKey(b)) expect(joined.get(toKey(a))!.key).not.toBe(joined.get(toKey(b))!.key);
      for (const { key } of joined.values()) expect(joined.get(key)!.key).toBe(key);
    }),
  );
});
