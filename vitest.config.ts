import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import LongFirst from './test/support/long-first.ts';

// Test processes, their threads and the programs that they start share compiled code.
process.env['NODE_COMPILE_CACHE'] ??= resolve(import.meta.dirname, 'node_modules/.cache/tocsin-compiled');

export default defineConfig({
  test: {
    testTimeout: 240_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 100 } },
    pool: 'forks',
    // More than the cores of a small machine: the suites that kill and start processes mostly wait.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    isolate: false,
    // Where the runtime is older than the project's own Node the tests would prove nothing.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    projects: [
      {
        extends: true,
        test: {
          name: 'service',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'packages/*/src/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['property-seed.ts', 'rows/check-rows.ts', 'end-file.ts'].map((file) => `test/support/${file}`),
          // Node itself loads the modules, once for all files of a worker, as in the program. Nothing is mocked.
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      { extends: true, test: { name: 'console', include: ['web/src/**/*.test.ts'] } },
    ],
  },
});
