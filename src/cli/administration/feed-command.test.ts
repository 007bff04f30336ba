import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { newProgramDir, removeProgramDir } from '../../../test/support/program.ts';
import { runCommand } from '../../../test/support/run-command.ts';

const { url } = await testDatabase();
const dataDir = newProgramDir();
const env = { DATABASE_URL: url, TOCSIN_DATA_DIR: dataDir };
afterAll(() => removeProgramDir(dataDir));

await runCommand(['org', 'create', 'default'], env);

const create = ['create', '--name', 'List'];

test.each<[args: string[], message: string]>([
  [['add', '--catalogue', 'cisa-kv'], '--catalogue: The catalog has no source "cisa-kv"; did you mean cisa-kev?'],
  [[...create, '--kind', 'csv', '--url', 'list.txt'], '--url: `url` must be an absolute address.'],
  [
    [...create, '--kind', 'cvs', '--url', 'file:///list.txt'],
    '--kind: must be one of kev, epss, stix, taxii, misp, csaf, osv, nvd, rss, csv',
  ],
])('reports an invalid value by its option (%#)', async (args, message) => {
  const { code, out } = await runCommand(['source', ...args], env);
  expect([code, out]).toEqual([2, `${message}\n`]);
});
