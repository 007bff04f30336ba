import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createSecretbox } from './secretbox.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tocsin-secretbox-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const settings = { secretKey: 'k'.repeat(32), dataDir, databaseUrl: 'postgres://elsewhere' };

test('opens a sealed text only in its own context and only unmodified', () => {
  const box = createSecretbox(settings);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.nat(), (text, context, at) => {
      const sealed = box.seal(text, context);
      expect(box.open(sealed, context)).toBe(Buffer.from(text).toString());
      expect(() => box.open(sealed, `${context}x`)).toThrow('cannot be decrypted');
      const broken = Buffer.from(sealed);
      broken[at % broken.length]! ^= 1;
      expect(() => box.open(broken, context)).toThrow();
    }),
    { numRuns: 50 },
  );
});

test('seals the same text differently each time and hides it', () => {
  const box = createSecretbox(settings);
  const [one, two] = [box.seal('hunter2hunter2', 'a'), box.seal('hunter2hunter2', 'a')];
  expect(one.equals(two)).toBe(false);
  expect(one.includes('hunter2')).toBe(false);
});

test('rejects a text sealed with another key', () => {
  const sealed = createSecretbox(settings).seal('text', 'a');
  const other = createSecretbox({ ...settings, secretKey: 'l'.repeat(32) });
  expect(() => other.open(sealed, 'a')).toThrow('TOCSIN_SECRET_KEY');
});

test('opens a text of the previous key and seals it with the current one', () => {
  const sealed = createSecretbox(settings).seal('text', 'a');
  const current = 'l'.repeat(32);
  const both = createSecretbox({ ...settings, secretKey: current, previousSecretKey: settings.secretKey });
  expect(both.open(sealed, 'a')).toBe('text');
  expect(() => both.open(sealed, 'b')).toThrow('cannot be decrypted');
  const resealed = both.reseal(sealed, 'a')!;
  expect(createSecretbox({ ...settings, secretKey: current }).open(resealed, 'a')).toBe('text');
  expect(both.reseal(resealed, 'a')).toBeUndefined();
});

test('creates an owner-only key file once for the embedded database', () => {
  const embedded = { secretKey: undefined, dataDir, databaseUrl: undefined };
  const sealed = createSecretbox(embedded).seal('text', 'a');
  const path = join(dataDir, 'secret.key');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const key = readFileSync(path, 'utf8');
  expect(createSecretbox(embedded).open(sealed, 'a')).toBe('text');
  expect(readFileSync(path, 'utf8')).toBe(key);
  writeFileSync(path, '');
  expect(() => createSecretbox(embedded).seal('text', 'a')).toThrow('does not contain a key');
});

test('requires a key for an external database', () => {
  expect(() => createSecretbox({ ...settings, secretKey: undefined }).seal('text', 'a')).toThrow(
    'Set TOCSIN_SECRET_KEY',
  );
});
