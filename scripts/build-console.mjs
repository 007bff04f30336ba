// Builds the console after `npm ci`. Does nothing where its build tools are absent: in a production install, which brings the built files.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
try {
  require.resolve('vite/package.json');
} catch {
  process.exit(0);
}
const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
  stdio: ['ignore', 'ignore', 'inherit'],
  shell: true,
});
process.exit(status ?? 1);
