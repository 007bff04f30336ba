import { type SourceRecord, type UnreadText, createBelievableCheck, isBelievable } from '../model/source-record.ts';
import { buckets } from '../model/vocabulary.ts';

/**
 * Removes the dates that cannot be true: more than two days in the future, or from before 1981. An unbelievable publish time is replaced by the
 * time of the last change.
 */
export const removeUnbelievableDates = (record: SourceRecord, now: Date): SourceRecord =>
  createDateFilter(now).filterDates(record);

type RecordTimes = Pick<SourceRecord, 'publishTime' | 'modifiedAt'>;

/** The functions of `removeUnbelievableDates` for one time of the pull. `filterPublishTime` returns the publish time that a record has after it. */
type DateFilter = {
  filterDates: (record: SourceRecord) => SourceRecord;
  filterPublishTime: (times: RecordTimes) => string | undefined;
};

export function createDateFilter(now: Date): DateFilter {
  const isTrue = createBelievableCheck(now);
  const believe: Believe = (time) => (time !== undefined && isTrue(time) ? time : undefined);
  return {
    filterDates: (record) => filterDates(record, believe),
    filterPublishTime: (times) => filterPublishTime(times, believe),
  };
}

type Believe = (time: string | undefined) => string | undefined;

const filterPublishTime = ({ publishTime, modifiedAt }: RecordTimes, believe: Believe): string | undefined =>
  believe(publishTime) ?? (publishTime ? believe(modifiedAt) : undefined);

function filterDates(record: SourceRecord, believe: Believe): SourceRecord {
  for (const bucket of buckets)
    for (const indicator of record.iocs[bucket]) {
      if (indicator.firstSeen && !believe(indicator.firstSeen)) delete indicator.firstSeen;
      if (indicator.lastSeen && !believe(indicator.lastSeen)) delete indicator.lastSeen;
    }
  return {
    ...record,
    publishTime: filterPublishTime(record, believe),
    modifiedAt: believe(record.modifiedAt),
    eventFirstSeen: believe(record.eventFirstSeen),
    eventLastSeen: believe(record.eventLastSeen),
  };
}

/** Removes a publish time that cannot be true from a text before it is read, because the severity depends on it. */
export const removeUnbelievableTime = (text: UnreadText, now: Date): UnreadText =>
  text.publishTime && !isBelievable(text.publishTime, now) ? { ...text, publishTime: undefined } : text;
