#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Entered before anything that needs a current runtime, so that an old one is told what to do in one sentence.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    `Tocsin runs on Node 24 and this is Node ${process.versions.node}: run it through npm (npm start), or as node_modules/.bin/node bin/tocsin.mjs, after npm ci.`,
  );
  process.exit(1);
}
// Code compiled once, and TypeScript read once: the next start takes half the time. Where nothing can be written there, nothing is kept.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/tocsin-compiled', import.meta.url)));
const { main } = await import('../src/main.ts');
process.exitCode = await main(process.argv.slice(2));
// Whatever still holds the event loop (a hung connection) must not hold the exit.
setTimeout(() => process.exit(), 1000).unref();
