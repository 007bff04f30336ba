import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newDataDir } from './harness.ts';
import { root } from './program.ts';

const shipped = join(root, 'migrations');

/** Returns a folder with the migrations of this version and one more, as a later version has it. */
export function folderWithMigration(name: string, statements: string): string {
  const folder = newDataDir();
  cpSync(shipped, folder, { recursive: true });
  writeFileSync(join(folder, name), statements);
  return folder;
}

export type Release = { tag: string; folder: string };

/**
 * Returns the last release before the current commit of a repository, by its tag such as v0.1.0, with a folder that has its migrations. Returns
 * undefined before the first release, and for a copy of the files without their history.
 */
export function findLastRelease(repository = root): Release | undefined {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  let tags: string[];
  try {
    tags = git('tag', '--merged', 'HEAD', '--no-contains', 'HEAD', '--sort=-v:refname', '--list', 'v[0-9]*').split(
      '\n',
    );
  } catch {
    return undefined;
  }
  const [tag] = tags;
  if (!tag) return undefined;
  const folder = join(newDataDir(), 'migrations');
  mkdirSync(folder, { recursive: true });
  for (const name of git('ls-tree', '--name-only', `${tag}:migrations`).trim().split('\n'))
    writeFileSync(join(folder, name), git('show', `${tag}:migrations/${name}`));
  return { tag, folder };
}
