import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../test/support/program.ts';

/** Later versions of the program: this one with more migrations. */
export type Versions = {
  /** Creates the next version and returns the folder with its code. */
  create: () => string;
  /** Returns the folder of the newest version, or undefined before the first one. */
  newest: () => string | undefined;
  remove: () => void;
};

const parts = ['src', 'migrations', 'library', 'agents', 'sigma', 'skills', 'test/support', 'package.json', 'openapi.json', 'CHANGELOG.md']; // prettier-ignore

/** Node reads no TypeScript below `node_modules`, so the copies are in the system's temporary directory. */
export function createVersions(): Versions {
  const migrations: { name: string; statements: string }[] = [];
  const folders: string[] = [];
  return {
    create: () => {
      const folder = mkdtempSync(join(tmpdir(), 'tocsin-version-'));
      folders.push(folder);
      mkdirSync(join(folder, 'test'));
      for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true });
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
      const number = 9900 + migrations.length;
      migrations.push({
        name: `${number}_of_a_later_version.sql`,
        statements: `alter table hits add column later_${number} text default 'later';\n`,
      });
      for (const { name, statements } of migrations) writeFileSync(join(folder, 'migrations', name), statements);
      return folder;
    },
    newest: () => folders.at(-1),
    remove: () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}
