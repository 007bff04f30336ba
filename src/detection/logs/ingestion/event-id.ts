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
  'uid',
];

/**
 * The id that an event brings: long enough text in one of the usual fields. Numbers and short texts there mean something else (the kind of a
 * Windows event, a user), as do security identifiers and resource names.
 */
export function findEventId(event: Record<string, unknown>): string | undefined {
  for (const field of idFields) {
    const value = getValueAtPath(event, field);
    if (typeof value === 'string' && /^[\w\-.:+/=]{16,200}$/.test(value) && !/^(?:S-1-|arn:)/.test(value)) return value;
  }
  return undefined;
}
