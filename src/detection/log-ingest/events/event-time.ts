/** Where an event can have its time. Dots in a path lead into objects. */
type TimeField =
  | string
  /** A time in two fields. The first of `zones` that the event has is its zone. */
  | { date: string; time: string; zones: readonly string[] }
  /** A text that begins with the stamp of Linux Audit, `audit(1700000000.123:456)`. */
  | { auditStamp: string };

/** The fields that are tried for an event's time, most reliable first. The first one with a usable time counts. */
const timeFields: readonly TimeField[] = [
  '@timestamp', 'eventTime', 'timestamp', 'TimeCreated', 'UtcTime', 'time', 'TimeGenerated', 'EventTime', 'published', 'creationTime',
  'CreationTime', 'createdDateTime', 'created_at', 'createdAt', 'event_time', 'eventTimestamp', 'datetime', 'date', 'Timestamp', 'Time', 'ts',
  'time_dt', '_time', 'event.created', 'activityDateTime', 'date_create',
  'requestReceivedTimestamp', 'stageTimestamp', 'id.time', 'System.TimeCreated', 'Event.System.TimeCreated', 'EventReceivedTime',
  // FortiGate (`tz`; `eventtime` has nanoseconds, or seconds before FortiOS 6.2), Sophos (`timezone`) and W3C extended logs (IIS, CloudFront).
  'eventtime', { date: 'date', time: 'time', zones: ['tz', 'timezone'] }, { date: 'Date', time: 'Time', zones: ['TimeZone'] },
  // Palo Alto Networks.
  'high_res_timestamp', 'time_generated', 'TimeReceived', 'receive_time',
  // Linux: journald (microseconds), osquery (seconds) and Audit.
  '__REALTIME_TIMESTAMP', 'unixTime', 'calendarTime', { auditStamp: 'msg' }, { auditStamp: 'message' },
  // Cloudflare.
  'EdgeStartTimestamp', 'Datetime', 'QueryTimestamp', 'SessionStartTime', 'When',
  // Amazon: Route 53 Resolver, S3 access logs and VPC flow logs.
  'query_timestamp', 'requestDateTime', 'start', 'end',
  // Google Cloud, Kubernetes events, MongoDB, nginx, Akamai, Meraki, GitLab and Salesforce.
  'receiveTimestamp', 'lastTimestamp', 'firstTimestamp', 'metadata.creationTimestamp', 't', 'time_iso8601', 'time_local', 'reqTimeSec',
  'occurredAt', 'TIMESTAMP_DERIVED', 'CreatedDate',
  // CrowdStrike Falcon, Carbon Black, Duo, Atlassian and GuardDuty.
  'metadata.eventCreationTime', 'ContextTimeStamp', 'device_timestamp', 'isotimestamp', 'attributes.time', 'UpdatedAt', 'CreatedAt',
]; // prettier-ignore

type Json = Record<string, unknown>;
type DateAndTime = Extract<TimeField, { date: string }>;

const earliest = Date.UTC(1990, 0, 1);
const latest = Date.UTC(2100, 0, 1);

const findUsual = timeFields.map((field) => toFinder(field));

function toFinder(field: TimeField): (event: Json) => number | undefined {
  if (typeof field !== 'string')
    return 'date' in field
      ? (event) => joinDateAndTime(event, field)
      : (event) => fromAuditStamp(event, field.auditStamp);
  if (field.includes('.')) return (event) => parseTime(getValueAtPath(event, field));
  return (event) => (Object.hasOwn(event, field) ? parseTime(event[field]) : undefined);
}

/**
 * Returns the time in microseconds since 1970 of the dotted path `timeField`, or of the first usable usual field. Only `timeField` can be a
 * date without a time of day, which is its midnight unless the event has the time of day in another field.
 */
export function findEventTime(event: Json, timeField?: string): number | undefined {
  if (timeField !== undefined) {
    const time = findRequestedTime(event, timeField);
    if (time !== undefined) return time;
  }
  for (const find of findUsual) {
    const time = find(event);
    if (time !== undefined) return time;
  }
  return undefined;
}

function findRequestedTime(event: Json, timeField: string): number | undefined {
  const value = getValueAtPath(event, timeField);
  const time = parseTime(value);
  if (time !== undefined) return time;
  for (const field of timeFields)
    if (typeof field !== 'string' && 'date' in field && field.date === timeField) {
      const joined = joinDateAndTime(event, field);
      if (joined !== undefined) return joined;
    }
  return parseTimeOrDate(value);
}

function joinDateAndTime(event: Json, { date, time, zones }: DateAndTime): number | undefined {
  const [day, hour] = [getOwnText(event, date), getOwnText(event, time)];
  if (day === undefined || hour === undefined) return undefined;
  const zone = zones.map((name) => getOwnText(event, name)).find((text) => text !== undefined);
  return parseTime(`${day} ${hour} ${zone ?? ''}`);
}

function getOwnText(event: Json, key: string): string | undefined {
  const value = Object.hasOwn(event, key) ? event[key] : undefined;
  return typeof value === 'string' ? value.trim() : undefined;
}

const auditStamp = /^(?:node=\S{1,255} )?(?:type=\S{1,50} )?(?:msg=)?audit\((\d{9,10}(?:\.\d{1,9})?):\d+\)/;

function fromAuditStamp(event: Json, name: string): number | undefined {
  const seconds = auditStamp.exec(getOwnText(event, name) ?? '')?.[1];
  return seconds === undefined ? undefined : fromNumber(Number(seconds));
}

/** Returns the value of a key or a dotted path. A key that itself contains the dots comes first. */
export function getValueAtPath(event: Json, path: string): unknown {
  if (Object.hasOwn(event, path)) return event[path];
  const [head, ...rest] = path.split('.');
  const inner = rest.length > 0 && Object.hasOwn(event, head!) ? event[head!] : undefined;
  if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return undefined;
  return getValueAtPath(inner as Json, rest.join('.'));
}

/**
 * Parses a time in the formats that logs use, into microseconds since 1970: ISO 8601, Unix times in seconds to nanoseconds, Windows times
 * (FILETIME, `/Date(…)/`, `M/D/YYYY h:mm:ss AM`, `{SystemTime}`), and web server, email, syslog and `ctime` times that include the year. A time
 * without a zone is UTC. Returns undefined for anything else, such as a date without a time of day, and for times before 1990 or after 2099.
 */
export const parseTime = (value: unknown): number | undefined => parseValue(value, false);

/** Like `parseTime`, but a date without a time of day is its midnight. */
export const parseTimeOrDate = (value: unknown): number | undefined => parseValue(value, true);

function parseValue(value: unknown, allowsDate: boolean): number | undefined {
  if (typeof value === 'number') return fromNumber(value);
  if (typeof value === 'string') return value.length <= 64 ? fromText(value.trim(), allowsDate) : undefined;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const object = value as Json;
  const inner = object['SystemTime'] ?? object['@SystemTime'] ?? object['#attributes'] ?? object['$date'];
  return inner === undefined ? undefined : parseValue(inner, allowsDate);
}

function within(micros: number): number | undefined {
  const ms = micros / 1000;
  return ms >= earliest && ms < latest ? Math.floor(micros) : undefined;
}

function fromNumber(value: number): number | undefined {
  if (!Number.isFinite(value) || value <= 0) return undefined;
  if (value < 1e11) return within(Math.round(value * 1e6));
  if (value < 1e14) return within(Math.round(value * 1e3));
  if (value < 1e17) return within(value);
  if (value < 3e17) return within((value - fileTimeEpoch) / 10);
  // A number of this size is up to 128 ns off.
  return within(Math.round(value / 1000));
}

/** 1970 as FILETIME: units of 100 ns since 1601. */
const fileTimeEpoch = 116_444_736_000_000_000;

/** Reads a FILETIME or nanoseconds that a number would round. */
function fromLongInteger(value: bigint): number | undefined {
  return within(value < 3e17 ? Number(value - BigInt(fileTimeEpoch)) / 10 : Number(value / 1000n));
}

const iso =
  /^(\d{4})([-/.]?)(\d{2})\2(\d{2})(?:[T ]+(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d{1,12}))?)?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;
const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4}),?\s+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s*([AP]M)?$/i;
const webServer = /^\[?(\d{1,2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})\s*([+-]\d{4})?\]?$/;
const ctime =
  /^(?:[A-Z][a-z]{2} )?([A-Z][a-z]{2}) +(\d{1,2}) (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?: (?:UTC|GMT))? (\d{4})(?: (Z|UTC|GMT|[+-]\d{4}))?$/;
const microsoft = /^\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\/$/;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

function fromText(text: string, allowsDate: boolean): number | undefined {
  if (/^\d{18,20}$/.test(text)) return fromLongInteger(BigInt(text));
  if (/^\d{9,20}(?:\.\d{1,9})?$/.test(text)) return fromNumber(Number(text));
  const standard = iso.exec(text);
  if (standard && standard[5] === undefined && !allowsDate) return undefined;
  if (standard) return fromParts([standard[1], ...standard.slice(3, 8)], standard[8], standard[9]);
  const us = american.exec(text);
  if (us) return fromParts([us[3], us[1], us[2], hour24(us[4]!, us[8]), us[5], us[6]], us[7], undefined);
  const web = webServer.exec(text);
  if (web) return fromParts([web[3], monthOf(web[2]!), web[1], web[4], web[5], web[6]], undefined, web[7]);
  const c = ctime.exec(text);
  if (c) return fromParts([c[7], monthOf(c[1]!), c[2], c[3], c[4], c[5]], c[6], c[8]);
  const date = microsoft.exec(text);
  if (date) return within(Number(date[1]) * 1000);
  // Email and syslog times with a year. `Date.parse` would assume the local zone for a text without one.
  if (!/^(?:[A-Z][a-z]{2},? )?(?:\d{1,2} [A-Z][a-z]{2}|[A-Z][a-z]{2} +\d{1,2},?) \d{4} \d{1,2}:\d{2}/.test(text))
    return undefined;
  const zoned = /(?:Z|UTC|GMT|[+-]\d{4})$/.test(text) ? text : `${text} UTC`;
  const ms = Date.parse(zoned);
  return Number.isNaN(ms) ? undefined : within(ms * 1000);
}

function hour24(hour: string, half: string | undefined): string {
  if (half === undefined) return hour;
  return String((Number(hour) % 12) + (half.toUpperCase() === 'PM' ? 12 : 0));
}

function monthOf(name: string): string {
  return String(months.indexOf(name.toLowerCase()) + 1);
}

function fromParts(
  parts: (string | undefined)[],
  fraction: string | undefined,
  zone: string | undefined,
): number | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map((part) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return undefined;
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  if (new Date(Date.UTC(year, month - 1, day)).getUTCDate() !== day) return undefined;
  const micros = fraction === undefined ? 0 : Number(fraction.padEnd(6, '0').slice(0, 6));
  return within((ms - offsetMs(zone)) * 1000 + micros);
}

function offsetMs(zone: string | undefined): number {
  const match = zone === undefined ? null : /^([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  if (!match) return 0;
  const [, sign, hours, minutes = 0] = match;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
