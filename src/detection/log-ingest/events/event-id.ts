import { getValueAtPath } from './event-time.ts';

const idFields = [
  'eventID',
  'eventId',
  'event_id',
  'event.id',
  '_id',
  'metadata.uid',
  'metadata.event_uid',
  'uuid',
  'id',
];

/**
 * Returns the event's own ID: a string of 16 to 200 characters in one of the usual fields. Numbers and short strings in these fields mean
 * something else (the type of a Windows event, a user), as do security identifiers (`S-1-…`) and resource names (`arn:…`). The field `uid` is
 * none of them: in Zeek's logs, all events of a connection have the same.
 */
export function findEventId(event: Record<string, unknown>): string | undefined {
  for (const field of idFields) {
    const value = getValueAtPath(event, field);
    if (typeof value === 'string' && /^[\w\-.:+/=]{16,200}$/.test(value) && !/^(?:S-1-|arn:)/.test(value)) return value;
  }
  return undefined;
}
