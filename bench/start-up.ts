import { runProgram, startProgram } from '../test/support/program.ts';
import { median, measureMs, type Benchmark } from './benchmark.ts';
import { apiKey, withDataDir } from '../test/support/program-environment.ts';

const rounds = 5;

/** Returns the time from starting the process to the first 200 response of /readyz, in milliseconds. */
async function startToReady(dir: string): Promise<number> {
  let stop = async (): Promise<unknown> => undefined;
  const ms = await measureMs(async () => {
    const program = await startProgram(dir, { TOCSIN_API_KEY: apiKey });
    stop = () => program.kill('SIGTERM');
    const { status } = await fetch(`${program.url}/readyz`);
    if (status !== 200) throw new Error(`/readyz returned ${status}`);
  });
  await stop();
  return ms;
}

export const startUpBenchmark: Benchmark = {
  title: 'Startup until ready',
  run: async (report) => {
    const empty: number[] = [];
    const existing: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      report(`round ${round + 1} of ${rounds}`);
      await withDataDir(async (dir) => {
        empty.push(await startToReady(dir));
        existing.push(await startToReady(dir));
      });
    }
    const command = await withDataDir((dir) => measureMs(() => runProgram(['help'], dir)));
    return [
      { label: 'with an empty data directory (creates and migrates the database)', unit: 'ms', tocsin: median(empty) },
      { label: 'with an existing data directory', unit: 'ms', tocsin: median(existing) },
      { label: 'a command without a database (`tocsin help`)', unit: 'ms', tocsin: command },
    ];
  },
};
