import type { SourceRecord } from '../model/source-record.ts';
import { buckets } from '../model/vocabulary.ts';

// No source writes about threats from before 1981. 1970 and 1980 are the zero of two clocks.
const earliest = '1981';
const aheadMaxMs = 2 * 86_400_000;

/**
 * Removes the dates that cannot be true: more than two days in the future, or from before 1981. An unbelievable publish time is replaced by the
 * time of the last change.
 */
export function removeUnbelievableDates(record: SourceRecord, now: Date): SourceRecord {
  const latest = new Date(now.getTime() + aheadMaxMs).toISOString();
  const believe = (time: string | undefined): string | undefined =>
    time !== undefined && time >= earliest && time <= latest ? time : undefined;
  for (const bucket of buckets)
    for (const indicator of record.iocs[bucket]) {
      if (indicator.firstSeen && !believe(indicator.firstSeen)) delete indicator.firstSeen;
      if (indicator.lastSeen && !believe(indicator.lastSeen)) delete indicator.lastSeen;
    }
  const modifiedAt = believe(record.modifiedAt);
  return {
    ...record,
    publishTime: believe(record.publishTime) ?? (record.publishTime ? modifiedAt : undefined),
    modifiedAt,
    eventFirstSeen: believe(record.eventFirstSeen),
    eventLastSeen: believe(record.eventLastSeen),
  };
}
