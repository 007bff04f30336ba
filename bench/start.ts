import { runProgram, startProgram } from '../test/support/program.ts';
import { median, timed, type Figure } from './figure.ts';
import { apiKey, withDir } from './place.ts';

const rounds = 5;

/** Spawn of the process → the first 200 of /readyz. */
async function startToReady(dir: string): Promise<number> {
  let stop = async (): Promise<unknown> => undefined;
  const ms = await timed(async () => {
    const program = await startProgram(dir, { TOCSIN_API_KEY: apiKey });
    stop = () => program.kill('SIGTERM');
    const answer = await fetch(`${program.url}/readyz`);
    if (answer.status !== 200) throw new Error(`/readyz answers ${answer.status}`);
  });
  await stop();
  return ms;
}

export const start: Figure = {
  title: 'Start to ready',
  run: async (say) => {
    const empty: number[] = [];
    const existing: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      say(`round ${round + 1} of ${rounds}`);
      await withDir(async (dir) => {
        empty.push(await startToReady(dir));
        existing.push(await startToReady(dir));
      });
    }
    const command = await withDir((dir) => timed(() => runProgram(['help'], dir)));
    return [
      { what: 'on an empty directory (database made and migrated)', unit: 'ms', ours: median(empty) },
      { what: 'on an existing directory', unit: 'ms', ours: median(existing) },
      { what: 'a command that needs no database (`tocsin help`)', unit: 'ms', ours: command },
    ];
  },
};
