import { join } from 'node:path';
import type { QueryWindow } from '../../siem/connector.ts';
import type { FileScan, SegmentFile } from '../../log-engine/sql/table-sql.ts';
import type { SegmentFilter, SegmentRow } from '../../log-store/segments.store.ts';
import { engineError } from '../../log-engine/engine-failures.ts';
import { withLocalFiles, type SegmentStore, type StoredSegment } from '../../log-store/files/segment-store.ts';

/** The default for `ingestedBefore` of a window on event time. */
export const endOfTime = new Date(Date.UTC(9999, 0, 1));

/** Selects the segments that `FROM dataset` reads: the window. */
export function windowFilter(window: QueryWindow): SegmentFilter {
  const { from, to } = window;
  if (window.clock === 'ingest') return { kind: 'ingested', from, to };
  const ingestedBefore = window.ingestedBefore ?? endOfTime;
  if (window.clock === 'slot') return { kind: 'slot', from, to, ingestedBefore, ...lateRule(window) };
  return { kind: 'event', from, to, ingestedBefore };
}

/** Selects the segments that `FROM dataset_history` reads: everything before the window, or what is less than `lookbackMs` before it. */
export function historyFilter(window: QueryWindow, lookbackMs?: number): SegmentFilter {
  if (lookbackMs !== undefined)
    return windowFilter({ ...window, from: new Date(window.from.getTime() - lookbackMs), to: window.from });
  if (window.clock === 'ingest') return { kind: 'ingested-before', before: window.from };
  const ingestedBefore = window.ingestedBefore ?? endOfTime;
  if (window.clock === 'slot') return { kind: 'slot', to: window.from, ingestedBefore, ...lateRule(window) };
  return { kind: 'event-before', before: window.from, ingestedBefore };
}

const lateRule = ({ lateSince, earlierApart }: QueryWindow): { lateSince?: Date; earlierApart?: boolean } =>
  lateSince === undefined ? {} : { lateSince, ...(earlierApart ? { earlierApart } : {}) };

/** Returns the files of the filtered segments with the bounds of the rows to read. Events loaded as history are bounded by their own time. */
export function planScans(filter: SegmentFilter, segments: SegmentRow[], folder: string): FileScan[] {
  const files = segments.map((segment) => toSegmentFile(segment, folder));
  const live = files.filter((_, index) => !segments[index]!.history);
  const loadedAsHistory = files.filter((_, index) => segments[index]!.history);
  const ms = (time: Date): number => time.getTime();
  switch (filter.kind) {
    case 'ingested':
      return [{ files: live, ingestedFrom: ms(filter.from), ingestedBefore: ms(filter.to) }];
    case 'ingested-before':
      return [
        { files: live, ingestedBefore: ms(filter.before) },
        { files: loadedAsHistory, timeBefore: ms(filter.before) },
      ];
    case 'event': {
      const [timeFrom, timeBefore] = [ms(filter.from), ms(filter.to)];
      return [
        { files: live, timeFrom, timeBefore, ingestedBefore: ms(filter.ingestedBefore) },
        { files: loadedAsHistory, timeFrom, timeBefore },
      ];
    }
    case 'slot': {
      const [timeBefore, ingestedBefore] = [ms(filter.to), ms(filter.ingestedBefore)];
      const since = filter.from === undefined ? {} : { from: ms(filter.from) };
      const { lateSince, earlierApart } = filter;
      const late =
        lateSince === undefined ? {} : { lateSince: ms(lateSince), ...(earlierApart ? { earlierApart } : {}) };
      const timeFrom = filter.from === undefined ? {} : { timeFrom: ms(filter.from) };
      return [
        { files: live, slot: { ...since, before: timeBefore, ...late }, ingestedBefore },
        { files: loadedAsHistory, ...timeFrom, timeBefore },
      ];
    }
    case 'event-before':
      return [
        { files: live, timeBefore: ms(filter.before), ingestedBefore: ms(filter.ingestedBefore) },
        { files: loadedAsHistory, timeBefore: ms(filter.before) },
      ];
  }
}

export function toSegmentFile(segment: SegmentRow, folder: string): SegmentFile {
  return {
    path: join(folder, segment.path),
    format: segment.format,
    ingestedMs: segment.ingestedFrom.getTime(),
    columns: segment.columns,
  };
}

/** Like `withLocalFiles`, but throws `engine_failed`, which is retried, if a file cannot be had. The storage logs why. */
export function withQueryFiles<T>(
  store: SegmentStore,
  orgId: string,
  segments: readonly StoredSegment[],
  work: () => Promise<T>,
): Promise<T> {
  const lease: SegmentStore['lease'] = (org, files) =>
    store.lease(org, files).catch(() => {
      throw engineError('The log storage did not return the files of the window. Try again later.');
    });
  return withLocalFiles({ lease }, orgId, segments, work);
}
