import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newDataDir, startApp } from '../../../test/support/harness.ts';
import { runCommand } from '../../../test/support/run-command.ts';

const { app, newOrg } = await startApp();
const service = await app.listen({ port: 0, host: '127.0.0.1' });
const { key } = await newOrg();
const env = { TOCSIN_URL: service, TOCSIN_API_KEY: key };

const id = 'aws-cloudtrail-disabled';
const folder = join(newDataDir(), 'rules');
mkdirSync(folder);
writeFileSync(
  join(folder, 'rule.yml'),
  'title: T\nlogsource: {product: windows}\ndetection: {one: {a: b}, condition: one}\n',
);

test.each<[args: string[], message: string]>([
  [['library', 'install', 'nope'], 'ID nope: The library has no detection nope'],
  [['library', 'update', 'nope'], 'ID nope: '],
  [['library', 'install', id, '--dataset', 'nope=yours'], '--dataset nope=yours: None of these detections reads'],
  [['sigma', 'import', folder, '--target', 'nope'], '--target nope: "nope" is neither "local" nor'],
])('reports the argument instead of a field of the request (%#)', async (args, message) => {
  expect(await runCommand(args, env)).toEqual({ code: 2, out: expect.stringContaining(message) });
});
