#!/usr/bin/env -S node --max-semi-space-size=16
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Check the version before importing anything that needs a current Node.js, so that an old one gets a clear message.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    `Tocsin requires Node 24, but this is Node ${process.versions.node}. Run it through npm, which uses the Node 24 that comes with it: npm start in a checkout, npx tocsin where the package is installed.`,
  );
  process.exit(1);
}
// A reader such as `head` may close the pipe before everything is printed.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
// Cache compiled code, which halves the time of the next start. An unwritable folder disables the cache.
const compiled = fileURLToPath(new URL('../node_modules/.cache/tocsin-compiled', import.meta.url));
module.enableCompileCache(compiled);
// Threads read the folder from the environment.
process.env.NODE_COMPILE_CACHE ??= compiled;
// The repository has the sources, the npm package has them compiled.
const source = new URL('../src/main.ts', import.meta.url);
const { main } = await import(existsSync(source) ? source : new URL('../dist/main.js', import.meta.url));
process.exitCode = await main(process.argv.slice(2));
// A hung connection must not delay the exit.
setTimeout(() => process.exit(), 1000).unref();
