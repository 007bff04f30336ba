import { createEngine } from '../../src/detection/log-engine/process/engine.ts';
import { withDataDir } from '../../test/support/program-environment.ts';
import { readEndedChildrenMs } from '../processor-time.ts';

const starts = 5;

/** Returns the milliseconds of processor time that the query engine of an organization costs until it has parsed its first query. */
export async function measureEngineStart(): Promise<number> {
  return withDataDir(async (directory) => {
    const engine = createEngine({ directoryOf: () => directory, processesMax: 1 });
    const before = readEndedChildrenMs();
    // Each organization's engine starts when the one before has ended, so that all but the last have ended.
    for (let n = 0; n <= starts; n += 1) await engine.inspect(`organization ${n}`, `SELECT ${n} AS n`);
    const ms = (readEndedChildrenMs() - before) / starts;
    await engine.close();
    return ms;
  });
}
