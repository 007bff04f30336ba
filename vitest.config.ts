import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { checkedRows } from './test/support/rows/row-sites.ts';
import LongFirst from './test/support/long-first.ts';

// Test processes, their threads and the programs that they start share compiled code.
process.env['NODE_COMPILE_CACHE'] ??= resolve(import.meta.dirname, 'node_modules/.cache/tocsin-compiled');

export default defineConfig({
  plugins: [checkedRows(import.meta.dirname)],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'packages/*/src/**/*.test.ts', 'web/src/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/property-seed.ts', 'test/support/rows/check-rows.ts'],
    testTimeout: 240_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
    // Files of one worker share the loaded packages, which saves two seconds of each. Vitest still evaluates our own modules for every file.
    isolate: false,
    experimental: { fsModuleCache: true },
    // Where the runtime is older than the project's own Node the tests would prove nothing.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  },
});
