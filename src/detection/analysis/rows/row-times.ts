import { exactTimes, type QueryRow } from '../../siem/connector.ts';
import { findField, findFieldAnyCase, parseNumber, flattenRow } from './fields.ts';
import { plainFieldName } from '../../../platform/lib/text/canonical-text.ts';

const timeNames = new Set(
  (
    'time timestamp datetime date eventtime eventdate utctime timecreated systemtime timegenerated creationdate created createdat createtime creationtime ' +
    'updated updatedat updatetime modified modifiedat lastmodified starttime endtime firstseen lastseen ingested ingestedat published receivedat ' +
    'eventfirstseen eventlastseen loggedat occurredat hour minute weekday'
  ).split(' '),
);
const dateTime =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s?(?:Z|UTC|[+-]\d{2}:?\d{2})?)?$|^\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;

/** Returns whether a field contains a time, judging by its name, or the whole value is a date or a time of day. */
export function isTimeField(field: string, value: unknown): boolean {
  if (value instanceof Date || timeNames.has(plainFieldName(field))) return true;
  return typeof value === 'string' && value.length <= 40 && dateTime.test(value);
}

const recordIds = new Set(
  (
    'id eventid requestid sharedeventid recordid eventrecordid eventuid uid uuid guid traceid spanid correlationid transactionid messageid ' +
    'activityid relatedactivityid processguid parentprocessguid logonguid logonid processid parentprocessid executionprocessid newprocessid pid ppid threadid handleid recordnumber sequencenumber xamzid2 ids'
  ).split(' '),
);
const opaque = /^(?:\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?|[0-9a-f]{24,}|\d{15,})$/i;

/**
 * Returns whether a field identifies the record and not the activity: `eventID`, `requestID`, or an opaque value in a field that ends in `id`.
 * Accounts and access keys do not count.
 */
export function isRecordId(field: string, value: string): boolean {
  const name = buildIdName(field);
  // A Windows event ID is a short number that identifies the type of event.
  if (name === 'eventid' && /^\d{1,5}$/.test(value)) return false;
  return (
    recordIds.has(name) ||
    (/(?:id|guid)$/.test(name) && !/(?:account|key|user|client|app)id$/.test(name) && opaque.test(value))
  );
}

/** Prefixes a bare `id` with its parent's name, because `user.id` identifies an account and `event.id` a record. */
function buildIdName(field: string): string {
  const name = plainFieldName(field);
  const dot = field.lastIndexOf('.');
  return dot > 0 && /^(?:id|uid|uuid|guid)$/.test(name) ? plainFieldName(field.slice(0, dot)) + name : name;
}

const commonTimeFields = [
  '_time',
  '@timestamp',
  'eventTime',
  'timestamp',
  'time',
  'TimeCreated',
  'UtcTime',
  'EventTime',
  'TimeGenerated',
];

/**
 * Returns a row's time from `timeField`, else from the first common time field that has one, in epoch milliseconds with the microseconds as
 * their fraction. Undefined without one.
 */
export function findRowTime(row: QueryRow, timeField: string | null): number | undefined {
  const configured = timeField === null ? undefined : readTime(row, (fields) => findFieldAnyCase(fields, timeField));
  if (configured !== undefined) return configured;
  for (const name of commonTimeFields) {
    const time = readTime(row, (fields) => findField(fields, name));
    if (time !== undefined) return time;
  }
  return undefined;
}

function readTime(row: QueryRow, find: (fields: QueryRow) => unknown): number | undefined {
  const micros = find(row[exactTimes] ?? {});
  return typeof micros === 'number' ? micros / 1000 : parseTime(find(row));
}

/** Returns the first and the last time of all time fields of a row that lie in a window, in epoch milliseconds. Undefined without one. */
export function findRowTimeRange(
  row: QueryRow,
  window: { from: Date; to: Date },
): { first: number; last: number } | undefined {
  const own = Object.hasOwn(row, '_time') ? [['_time', row['_time']] as const] : [];
  const times = [...own, ...flattenRow(row)].flatMap(([field, value]) => {
    const at = Math.floor((isTimeField(field, value) ? parseTime(value) : undefined) ?? NaN);
    return at >= window.from.getTime() && at < window.to.getTime() ? [at] : [];
  });
  return times.length === 0 ? undefined : { first: Math.min(...times), last: Math.max(...times) };
}

/**
 * Parses ISO text, `2024-01-02 03:04:05` (as UTC), and epoch times in seconds, milliseconds or microseconds, into epoch milliseconds with the
 * microseconds as their fraction.
 */
function parseTime(value: unknown): number | undefined {
  if (value instanceof Date) return within(value.getTime());
  if (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value) && value.length <= 40) {
    const text = value
      .replace(' UTC', 'Z')
      .replace(/^(\S{10}) /, '$1T')
      .replace(',', '.')
      .trim();
    const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(text.slice(10)) || text.length === 10;
    const ms = Date.parse(zoned ? text.replace(/([+-]\d{2})(\d{2})$/, '$1:$2') : `${text}Z`);
    return within(ms + Number(`0.${/\.\d{3}(\d{1,3})/.exec(text)?.[1] ?? 0}`));
  }
  const epoch = parseNumber(value);
  if (epoch === undefined || epoch < 1e8) return undefined;
  return within(epoch < 1e11 ? epoch * 1000 : epoch < 1e14 ? epoch : epoch / 1000);
}

/** Returns a time of the years 1 to 9999, and undefined for others. */
const within = (ms: number): number | undefined =>
  ms >= -62_135_596_800_000 && ms < 253_402_300_800_000 ? ms : undefined;
