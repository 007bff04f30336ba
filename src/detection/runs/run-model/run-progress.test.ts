import { expect, test } from 'vitest';
import { noneSuppressed, runStep, timePhase, type RunProgress, type RunStep } from './run-progress.ts';
import { emptyVerdictStats } from '../../verdicts/investigation/score.ts';

const newRun = (): { progress: RunProgress } => ({
  progress: {
    windows: [],
    entities: [],
    warnings: [],
    phases: [],
    judging: { ...emptyVerdictStats },
    suppressed: { ...noneSuppressed },
  },
});

async function* examine(rows: number): RunStep<number> {
  return yield* timePhase('query', async function* () {
    yield { code: 'no_data', detail: `Window of ${rows} rows` };
    if (rows === 0) throw new Error('The query failed.');
    return rows;
  });
}

test('adds what steps yield to the progress of a run: the first warning of a code, and the sum of a phase', async () => {
  const run = newRun();
  expect(await runStep(run, examine(1))).toBe(1);
  expect(await runStep(run, examine(2))).toBe(2);
  expect(
    await runStep(
      run,
      timePhase('judge', () => Promise.resolve('judged')),
    ),
  ).toBe('judged');
  expect(run.progress.warnings).toEqual([{ code: 'no_data', detail: 'Window of 1 rows' }]);
  expect(run.progress.phases.map(({ name }) => name)).toEqual(['query', 'judge']);
});

test('keeps the warnings and the duration of a step that fails', async () => {
  const run = newRun();
  await expect(runStep(run, examine(0))).rejects.toThrow('The query failed.');
  expect(run.progress).toMatchObject({
    warnings: [{ code: 'no_data' }],
    phases: [{ name: 'query', ms: expect.any(Number) }],
  });
});
