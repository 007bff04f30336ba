import { join } from 'node:path';
import type { QueryWindow } from '../../siem/connector.ts';
import type { FileScan, SegmentFile } from '../engine/table-sql.ts';
import type { SegmentFilter, SegmentRow } from '../storage/segments.store.ts';

/** Events ingested later than this never were, as far as a query on event time goes that names no bound. */
export const endOfTime = new Date(Date.UTC(9999, 0, 1));

/** What `FROM dataset` sees: the window. */
export function windowFilter(window: QueryWindow): SegmentFilter {
  const { from, to } = window;
  if (window.clock === 'ingest') return { kind: 'ingested', from, to };
  return { kind: 'event', from, to, ingestedBefore: window.ingestedBefore ?? endOfTime };
}

/** What `FROM dataset_history` sees: what lies before the window. */
export function historyFilter(window: QueryWindow): SegmentFilter {
  if (window.clock === 'ingest') return { kind: 'ingested-before', before: window.from };
  return { kind: 'event-before', before: window.from, ingestedBefore: window.ingestedBefore ?? endOfTime };
}

/** The files of a filter's segments with the bounds on their rows. What was loaded as history lies before a window by its own time. */
export function planScans(filter: SegmentFilter, segments: SegmentRow[], folder: string): FileScan[] {
  const files = (history: boolean | undefined): SegmentFile[] =>
    segments
      .filter((segment) => history === undefined || segment.history === history)
      .map((segment) => fileOf(segment, folder));
  switch (filter.kind) {
    case 'ingested':
      return [{ files: files(false), ingestedFrom: filter.from.getTime(), ingestedBefore: filter.to.getTime() }];
    case 'ingested-before':
      return [
        { files: files(false), ingestedBefore: filter.before.getTime() },
        { files: files(true), timeBefore: filter.before.getTime() },
      ];
    case 'event': {
      const [timeFrom, timeBefore, ingestedBefore] = [filter.from, filter.to, filter.ingestedBefore].map((date) =>
        date.getTime(),
      );
      return [
        { files: files(undefined), timeFrom: timeFrom!, timeBefore: timeBefore!, ingestedBefore: ingestedBefore! },
      ];
    }
    case 'event-before':
      return [
        {
          files: files(undefined),
          timeBefore: filter.before.getTime(),
          ingestedBefore: filter.ingestedBefore.getTime(),
        },
      ];
  }
}

function fileOf(segment: SegmentRow, folder: string): SegmentFile {
  return {
    path: join(folder, segment.path),
    format: segment.format,
    ingestedMs: segment.ingestedFrom.getTime(),
    columns: segment.columns,
  };
}
