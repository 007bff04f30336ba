import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createSecretbox } from './secretbox.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tocsin-secretbox-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const given = { secretKey: 'k'.repeat(32), dataDir, databaseUrl: 'postgres://elsewhere' };

test('what is sealed opens again, in its own context only, and any changed byte is seen', () => {
  const box = createSecretbox(given);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.nat(), (text, context, at) => {
      const sealed = box.seal(text, context);
      expect(box.open(sealed, context)).toBe(Buffer.from(text).toString());
      expect(() => box.open(sealed, `${context}x`)).toThrow('does not open');
      const broken = Buffer.from(sealed);
      broken[at % broken.length]! ^= 1;
      expect(() => box.open(broken, context)).toThrow();
    }),
    { numRuns: 50 },
  );
});

test('two seals of one text differ, and neither shows it', () => {
  const box = createSecretbox(given);
  const [one, two] = [box.seal('hunter2hunter2', 'a'), box.seal('hunter2hunter2', 'a')];
  expect(one.equals(two)).toBe(false);
  expect(one.includes('hunter2')).toBe(false);
});

test('another key opens nothing', () => {
  const sealed = createSecretbox(given).seal('text', 'a');
  const other = createSecretbox({ ...given, secretKey: 'l'.repeat(32) });
  expect(() => other.open(sealed, 'a')).toThrow('TOCSIN_SECRET_KEY');
});

test('the embedded default makes a key file that only its owner reads, once', () => {
  const home = { secretKey: undefined, dataDir, databaseUrl: undefined };
  const sealed = createSecretbox(home).seal('text', 'a');
  const path = join(dataDir, 'secret.key');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const key = readFileSync(path, 'utf8');
  expect(createSecretbox(home).open(sealed, 'a')).toBe('text');
  expect(readFileSync(path, 'utf8')).toBe(key);
  writeFileSync(path, '');
  expect(() => createSecretbox(home).seal('text', 'a')).toThrow('holds no key');
});

test('with a database elsewhere a key must be set', () => {
  expect(() => createSecretbox({ ...given, secretKey: undefined }).seal('text', 'a')).toThrow('set TOCSIN_SECRET_KEY');
});
