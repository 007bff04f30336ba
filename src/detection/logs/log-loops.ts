import type { Logger } from '../../platform/lib/logger.ts';
import { runLoop } from '../../platform/lib/loop.ts';
import { cleanSegments, type CleanSegmentsDeps } from './storage/clean-segments.ts';
import { compactSegments, type CompactSegmentsDeps } from './storage/compact-segments.ts';

/** Merges small segments into large ones until the signal aborts. */
export function compactSegmentsLoop(deps: CompactSegmentsDeps & { log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'compact', idleMs: 60_000, signal, log: deps.log }, () => compactSegments(deps));
}

/** Removes replaced and orphaned segment files, each after a grace period, until the signal aborts. */
export function cleanSegmentsLoop(deps: CleanSegmentsDeps & { log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'clean', idleMs: 10 * 60_000, signal, log: deps.log }, () => cleanSegments(deps));
}
