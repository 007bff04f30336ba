import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/*
 * Compiles `src` to `dist` for the npm package, because Node does not strip types below `node_modules`. `dist` has the layout of `src`, so that
 * paths to `migrations`, `library` and the package's other folders stay the same.
 */
const root = resolve(import.meta.dirname, '..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
// `npm run verify` checks the types.
execFileSync(join(root, 'node_modules/.bin/tsc'), ['--project', 'tsconfig.build.json', '--noCheck'], {
  cwd: root,
  stdio: 'inherit',
});
cpSync(join(root, 'src'), dist, { recursive: true, filter: (path) => !/\.ts$|__snapshots__/.test(path) });
