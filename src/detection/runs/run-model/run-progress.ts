import type { DroppedCounts } from '../../analysis/category.ts';
import type { ResultWarning } from '../../analysis/result-warnings.ts';
import type { VerdictStats } from '../../verdicts/investigation/score.ts';
import type { Verdict } from '../../verdicts/verdict.ts';

const warningsMax = 20;

/**
 * An examined window with the figures that the score needs. `enoughPast` counts candidates with enough history, `candidateRows`
 * counts the rows behind candidates, and `namedShare` is the share of entities with a name. `candidates` are without the `dropped` ones.
 */
export type ExaminedWindow = {
  from: string;
  to: string;
  rowsTotal: number;
  truncated: boolean;
  candidates: number;
  enoughPast: number;
  candidateRows: number;
  entities: number;
  namedShare: number;
  dropped: DroppedCounts;
};

/** A verdict of a run. `unjudgedReason` is set if it comes from the facts. A response agent has no candidate. */
export type RunVerdict = Verdict & { candidateId?: string; unjudgedReason?: string };

/** The results of a run so far, over all its attempts. Stored with each step. `phases` are in milliseconds. */
export type RunProgress = {
  windows: ExaminedWindow[];
  entities: RunVerdict[];
  warnings: ResultWarning[];
  phases: PhaseTime[];
  judging: VerdictStats;
  suppressed: SuppressedCounts;
};

type PhaseTime = { name: string; ms: number };

/** A step of a run. Yields warnings and times of phases, which count even if it fails later, and returns its result. */
export type RunStep<T> = AsyncGenerator<ResultWarning | PhaseTime, T, void>;

/** Runs a step. Adds what it yields to the progress of the run, before the step continues. Returns its result. */
export async function runStep<T>(run: { progress: RunProgress }, step: RunStep<T>): Promise<T> {
  for (;;) {
    const { done, value } = await step.next();
    if (done) return value;
    if ('code' in value) addWarning(run.progress, value.code, value.detail);
    else addPhase(run.progress, value);
  }
}

/** Candidates that were not judged: `known` by a recent verdict, `exceptions` by an exception, `snoozed` by a snooze, `allowed` by a value list. */
export type SuppressedCounts = { known: number; exceptions: number; snoozed: number; allowed: number };

export const noneSuppressed: SuppressedCounts = { known: 0, exceptions: 0, snoozed: 0, allowed: 0 };

const sumDropped = (windows: readonly Pick<ExaminedWindow, 'dropped'>[]): DroppedCounts => ({
  belowMinimum: windows.reduce((sum, { dropped }) => sum + dropped.belowMinimum, 0),
  workingHours: windows.reduce((sum, { dropped }) => sum + dropped.workingHours, 0),
});

/** Returns the counts of candidates that were not judged, with those that the tuning left out of the windows. */
export const countSuppressed = (
  suppressed: Partial<SuppressedCounts>,
  windows: readonly Pick<ExaminedWindow, 'dropped'>[],
): SuppressedCounts & DroppedCounts => ({ ...noneSuppressed, ...suppressed, ...sumDropped(windows) });

/** Adds a warning unless the run has one with the same code. */
export function addWarning(progress: RunProgress, code: string, detail: string): void {
  if (progress.warnings.length >= warningsMax || progress.warnings.some((warning) => warning.code === code)) return;
  progress.warnings.push({ code, detail });
}

/** Adds a warning, or replaces the one with the same code. */
export function setWarning(progress: RunProgress, code: string, detail: string): void {
  const warning = progress.warnings.find((other) => other.code === code);
  if (warning) warning.detail = detail;
  else addWarning(progress, code, detail);
}

function addPhase({ phases }: RunProgress, { name, ms }: PhaseTime): void {
  const phase = phases.find((candidate) => candidate.name === name);
  if (phase) phase.ms = Math.round((phase.ms + ms) * 10) / 10;
  else phases.push({ name, ms });
}

/** Runs `work` and yields its duration, also if it fails. */
export async function* timePhase<T>(name: string, work: () => RunStep<T> | Promise<T>): RunStep<T> {
  const startMs = performance.now();
  try {
    const running = work();
    return running instanceof Promise ? await running : yield* running;
  } finally {
    yield { name, ms: Math.round((performance.now() - startMs) * 10) / 10 };
  }
}

/** Returns the totals over all windows. `from` and `to` are null without windows. */
export function sumWindows({ windows }: RunProgress): {
  rowsTotal: number;
  truncated: boolean;
  from: Date | null;
  to: Date | null;
} {
  const starts = windows.map((window) => Date.parse(window.from));
  const ends = windows.map((window) => Date.parse(window.to));
  return {
    rowsTotal: windows.reduce((sum, window) => sum + window.rowsTotal, 0),
    truncated: windows.some((window) => window.truncated),
    from: windows.length > 0 ? new Date(Math.min(...starts)) : null,
    to: windows.length > 0 ? new Date(Math.max(...ends)) : null,
  };
}
