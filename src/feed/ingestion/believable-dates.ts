import type { SourceRecord, UnreadText } from '../model/source-record.ts';
import { createBelievableCheck, isBelievable } from '../model/believable-time.ts';
import { buckets } from '../model/vocabulary.ts';

/**
 * Removes the dates that cannot be true: more than two days in the future, or from before 1981. An unbelievable publish time is replaced by the
 * time of the last change.
 */
export function removeUnbelievableDates(record: SourceRecord, now: Date): SourceRecord {
  const isTrue = createBelievableCheck(now);
  const believe = (time: string | undefined): string | undefined =>
    time !== undefined && isTrue(time) ? time : undefined;
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

/** Removes a publish time that cannot be true from a text before it is read, because the severity depends on it. */
export const removeUnbelievableTime = (text: UnreadText, now: Date): UnreadText =>
  text.publishTime && !isBelievable(text.publishTime, now) ? { ...text, publishTime: undefined } : text;
