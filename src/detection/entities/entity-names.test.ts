import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import '../../../test/support/property-seed.ts';
import { foldName, nameEntity, toOwnNames, toStem } from './entity-names.ts';

const own = toOwnNames(['halden.example', 'haldengruppe.example', 'HGRP', '111122223333', 'gmail.com']);
const keyOf = (type: string | null, value: string, host?: string): string => nameEntity({ type, value, host }, own).key;

describe('names of one entity', () => {
  test.each([
    ['user', 'tomas.rehn'],
    ['user', 'Tomas.Rehn '],
    ['user', 'HALDEN\\tomas.rehn'],
    ['account', 'HALDEN\\tomas.rehn'],
    ['account', 'tomas.rehn'],
    [null, 'hgrp\\Tomas.Rehn'],
    ['user', 'tomas.rehn@halden.example'],
    [null, 'tomas.rehn@HALDENGRUPPE.example'],
    [null, 'arn:aws:iam::111122223333:user/tomas.rehn'],
    ['role', 'arn:aws:iam::111122223333:user/staff/oslo/tomas.rehn'],
    ['role', 'arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_0f/tomas.rehn@halden.example'],
  ])('%s %s is the user tomas.rehn', (type, value) => {
    expect(nameEntity({ type, value }, own)).toMatchObject({ key: 'user:tomas.rehn', isShared: false });
  });

  test.each([
    ['host', 'WS-12', 'host:ws-12'],
    ['host', 'ws-12.halden.example.', 'host:ws-12'],
    ['host', 'WS-12.oslo.halden.example', 'host:ws-12'],
    ['host', '\\\\WS-12', 'host:ws-12'],
    ['host', '10.0.0.9', 'ip:10.0.0.9'],
    ['ip', '::ffff:10.0.0.9', 'ip:10.0.0.9'],
    ['ip', '2001:DB8:0:0::1', 'ip:2001:db8::1'],
    [null, 'arn:aws:sts::111122223333:assumed-role/deployer/run-7', 'role:arn:aws:iam::111122223333:role/deployer'],
    ['role', 'arn:aws:iam::111122223333:role/ci/deployer', 'role:arn:aws:iam::111122223333:role/deployer'],
    [null, 'arn:aws:iam::111122223333:root', 'account:111122223333'],
    ['hash', 'ABCDEF', 'hash:abcdef'],
    ['file', '/Bin/Sh', 'file:/Bin/Sh'],
    ['request', 'x', 'entity:x'],
  ])('%s %s is %s', (type, value, key) => {
    expect(keyOf(type, value)).toBe(key);
  });

  test('a reason states what joins a name', () => {
    const why = (type: string | null, value: string): string => nameEntity({ type, value }, own).why;
    expect(why('user', 'HALDEN\\tomas.rehn')).toContain('`HALDEN` is a domain of the organization');
    expect(why('user', 'arn:aws:iam::111122223333:user/tomas.rehn')).toContain('own account 111122223333');
    expect(why('user', 'Tomas.Rehn')).toContain('upper and lower case');
  });
});

describe('names of different entities', () => {
  test.each([
    ['mail domains of others', ['user', 'a@partner.example'], ['user', 'a']],
    ['a public mail domain, even if somebody lists it', ['user', 'a@gmail.com'], ['user', 'a']],
    ['two mail domains', ['user', 'a@partner.example'], ['user', 'a@other.example']],
    ['a Windows domain of others', ['user', 'PARTNER\\a'], ['user', 'a']],
    ['an account of others', ['user', 'arn:aws:iam::999999999999:user/a'], ['user', 'a']],
    ['roles of two accounts', ['role', 'arn:aws:iam::1:role/a'], ['role', 'arn:aws:iam::2:role/a']],
    ['a session that its caller named', [null, 'arn:aws:sts::111122223333:assumed-role/x/a'], ['user', 'a']],
    ['hosts of two companies', ['host', 'web.partner.example'], ['host', 'web']],
    ['a domain that only ends alike', ['host', 'web.nothalden.example'], ['host', 'web']],
    ['an address and a host', ['ip', '10.0.0.9'], ['host', 'ip-10-0-0-9']],
    ['a well-known account of a domain', ['user', 'HALDEN\\Administrator'], ['user', 'administrator']],
    ['a well-known user of an account', [null, 'arn:aws:iam::111122223333:user/admin'], ['user', 'admin']],
    ['a user and a host', ['user', 'ws-12'], ['host', 'ws-12']],
  ] as [string, [string | null, string], [string | null, string]][])('%s', (_, one, other) => {
    expect(keyOf(...one)).not.toBe(keyOf(...other));
  });

  test.each(['root', 'NT AUTHORITY\\SYSTEM', 'Administrator', '.\\guest'])('%s on two hosts', (value) => {
    const [one, other] = ['WS-1.halden.example', 'WS-2.halden.example'].map((host) =>
      nameEntity({ type: 'user', value, host }, own),
    );
    expect(one!.key).not.toBe(other!.key);
    expect(one!.isShared).toBe(false);
    expect(keyOf('user', value, 'ws-1')).toBe(one!.key);
    expect(nameEntity({ type: 'user', value }, own).isShared).toBe(true);
  });
});

const part = fc.constantFrom(
  'a',
  'tomas.rehn',
  'root',
  'WS-1',
  '10.0.0.9',
  'HALDEN',
  'x y',
  '\\',
  '@',
  '.',
  'halden.example',
  '111122223333',
);
const arn = fc.constantFrom(
  'arn:aws:iam::111122223333:user/',
  'arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_x/',
  '',
);
const value = fc.oneof(
  fc
    .tuple(arn, part, fc.constantFrom('\\', '@', '.', '/', ''), part, fc.constantFrom('\\', '@', ''), part)
    .map((parts) => parts.join('')),
  fc.string(),
);
const raw = fc.record({ type: fc.constantFrom(null, 'user', 'host', 'account', 'role', 'domain', 'ip', 'odd'), value });

test('naming an entity by its name returns the same entity', () => {
  fc.assert(
    fc.property(raw, (name) => {
      const { type, name: entity, key } = nameEntity(name, own);
      expect(nameEntity({ type, value: entity }, own).key).toBe(key);
    }),
    { numRuns: 2000 },
  );
});

test('a name has the stem of its entity', () => {
  fc.assert(
    fc.property(raw, (name) => {
      expect(toStem(foldName(name))).toBe(toStem(nameEntity(name, own)));
    }),
    { numRuns: 2000 },
  );
});

test('what is added to the own names never divides an entity', () => {
  const less = toOwnNames(['halden.example']);
  fc.assert(
    fc.property(raw, raw, (one, other) => {
      if (nameEntity(one, less).key === nameEntity(other, less).key)
        expect(nameEntity(one, own).key).toBe(nameEntity(other, own).key);
    }),
    { numRuns: 2000 },
  );
});
