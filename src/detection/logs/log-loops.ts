import type { Deps } from '../../app/deps.ts';
import { runLoop } from '../../platform/lib/loop.ts';
import { cleanSegments } from './storage/clean-segments.ts';
import { compactSegments } from './storage/compact-segments.ts';

/** Makes few large segments of many small ones, until the signal ends it. */
export function compactSegmentsLoop(deps: Deps, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'compact', idleMs: 60_000, signal, log: deps.log }, () => compactSegments(deps));
}

/** Removes files that compaction replaced and files that were written but never listed, each after a time of grace. */
export function cleanSegmentsLoop(deps: Deps, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'clean', idleMs: 10 * 60_000, signal, log: deps.log }, () => cleanSegments(deps));
}
