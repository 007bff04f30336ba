import { join } from 'node:path';
import type { QueryWindow } from '../../siem/connector.ts';
import type { FileScan, SegmentFile } from '../engine/table-sql.ts';
import type { SegmentFilter, SegmentRow } from '../storage/segments.store.ts';

/** The default for `ingestedBefore` of a window on event time. */
export const endOfTime = new Date(Date.UTC(9999, 0, 1));

/** Selects the segments that `FROM dataset` reads: the window. */
export function windowFilter(window: QueryWindow): SegmentFilter {
  const { from, to } = window;
  if (window.clock === 'ingest') return { kind: 'ingested', from, to };
  return { kind: 'event', from, to, ingestedBefore: window.ingestedBefore ?? endOfTime };
}

/** Selects the segments that `FROM dataset_history` reads: everything before the window. */
export function historyFilter(window: QueryWindow): SegmentFilter {
  if (window.clock === 'ingest') return { kind: 'ingested-before', before: window.from };
  return { kind: 'event-before', before: window.from, ingestedBefore: window.ingestedBefore ?? endOfTime };
}

/** Returns the files of the filtered segments with the bounds of the rows to read. Events loaded as history are bounded by their own time. */
export function planScans(filter: SegmentFilter, segments: SegmentRow[], folder: string): FileScan[] {
  const toFiles = (selected: SegmentRow[]): SegmentFile[] => selected.map((segment) => toSegmentFile(segment, folder));
  const live = (): SegmentFile[] => toFiles(segments.filter((segment) => !segment.history));
  const loadedAsHistory = (): SegmentFile[] => toFiles(segments.filter((segment) => segment.history));
  switch (filter.kind) {
    case 'ingested':
      return [{ files: live(), ingestedFrom: filter.from.getTime(), ingestedBefore: filter.to.getTime() }];
    case 'ingested-before':
      return [
        { files: live(), ingestedBefore: filter.before.getTime() },
        { files: loadedAsHistory(), timeBefore: filter.before.getTime() },
      ];
    case 'event':
      return [
        {
          files: toFiles(segments),
          timeFrom: filter.from.getTime(),
          timeBefore: filter.to.getTime(),
          ingestedBefore: filter.ingestedBefore.getTime(),
        },
      ];
    case 'event-before':
      return [
        {
          files: toFiles(segments),
          timeBefore: filter.before.getTime(),
          ingestedBefore: filter.ingestedBefore.getTime(),
        },
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
