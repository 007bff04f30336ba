import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileAllowList } from './allow-list.ts';

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
