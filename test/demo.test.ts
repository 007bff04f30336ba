import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { expected } from '../src/demo/expected.ts';

const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(resolve(root, 'node_modules/.cache/demo-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const demo = (...args: string[]) =>
  promisify(execFile)(process.execPath, [resolve(root, 'bin/tocsin.mjs'), 'demo', ...args], {
    cwd: folder,
    timeout: 150_000,
  });

test('the demo finds the whole list and leaves nothing behind', async () => {
  const { stdout } = await demo('--once');
  for (const { entity } of expected) expect(stdout).toContain(entity);
  expect(stdout).toContain('Every stage of the intrusion');
  expect(stdout).toMatch(/Threat feed: \d+ items/);
  expect(readdirSync(resolve(folder, '.tocsin-demo'))).toEqual([]);
}, 180_000);

test('a wrong argument and a folder without logs are refused in a sentence', async () => {
  const failure = async (...args: string[]) =>
    demo(...args).then(
      () => undefined,
      (error: { code: number; stderr: string }) => error,
    );
  expect(await failure('--twice')).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage: tocsin demo') });
  const empty = mkdtempSync(resolve(folder, 'empty-'));
  expect(await failure('--once', '--logs', empty)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No log events'),
  });
});
