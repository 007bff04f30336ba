import { ownValue } from '../../platform/lib/json/json-values.ts';

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
/** Time zones in hours from UTC (RFC 822 and others that feeds use). */
const zones: Record<string, number> = Object.fromEntries(
  `ut:0 utc:0 gmt:0 z:0 wet:0 bst:1 west:1 cet:1 met:1 cest:2 mest:2 eet:2 eest:3 msk:3 ist:5.5 jst:9 kst:9 aest:10
  aedt:11 nzst:12 est:-5 edt:-4 et:-5 cst:-6 cdt:-5 ct:-6 mst:-7 mdt:-6 mt:-7 pst:-8 pdt:-7 pt:-8 akst:-9 hst:-10`
    .split(/\s+/)
    .map((pair) => [pair.split(':')[0]!, Number(pair.split(':')[1])]),
);
const clock = String.raw`(\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,]\d+)?)?)?`;
const zone = String.raw`\s*([A-Za-z]{1,5}|[+-]\d{1,2}:?\d{2})?`;
// RFC 822 and variants: `Thu, 01 Jan 2004 19:48:21 GMT`.
const mail = new RegExp(
  String.raw`^(?:[A-Za-z]+\.?,?\s+)?(\d{1,2})[\s-]+([A-Za-z]{3})[a-z]*\.?,?[\s-]+(\d{2,4})(?:[\sT]+${clock}${zone})?`,
);
// `Jan 1, 2004 19:48:21 GMT` and asctime: `Sun Jan  4 16:29:06 2004`.
const monthFirst = new RegExp(
  String.raw`^(?:[A-Za-z]+\.?,?\s+)?([A-Za-z]{3})[a-z]*\.?\s+(\d{1,2}),?\s+(?:(\d{4})(?:[\sT,]+${clock}${zone})?|${clock}${zone}\s+(\d{4}))`,
);
// W3CDTF and ISO 8601, also partial and without separators: `2003`, `2003-12`, `20031231`, `2003-12-31T10:14:55Z`.
const iso = new RegExp(String.raw`^(\d{4})(?:-?(\d{2})(?:-?(\d{2})(?:[T\s]+${clock}${zone})?)?)?`);

type DateFields = { year: number; month: number; day: number; clock: (string | undefined)[]; zone: string | undefined };

/** Parses a date of a feed and returns it as ISO text, or undefined if it is not a date. A date without a zone is read as UTC. */
export function parseFeedDate(text: string | undefined): string | undefined {
  const fields = parseFields(text?.trim().slice(0, 80) ?? '');
  if (!fields) return undefined;
  const [hour = 0, minute = 0, second = 0] = fields.clock.map((part) => Number(part ?? 0));
  const { year, month, day } = fields;
  if (month < 0 || month > 11 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return undefined;
  const time = Date.UTC(year, month, day, hour, minute, second) - parseOffsetHours(fields.zone) * 3_600_000;
  return Math.abs(time) < 8e13 ? new Date(time).toISOString() : undefined;
}

function parseFields(text: string): DateFields | undefined {
  const byMail = mail.exec(text);
  if (byMail) {
    const [, day, month, year, ...rest] = byMail;
    return {
      year: parseYear(year!),
      month: parseMonth(month!),
      day: Number(day),
      clock: rest.slice(0, 3),
      zone: rest[3],
    };
  }
  const byMonth = monthFirst.exec(text);
  if (byMonth) {
    const [, month, day, early, h, m, s, z, h2, m2, s2, z2, late] = byMonth;
    const isEarly = early !== undefined;
    const time = isEarly ? { clock: [h, m, s], zone: z } : { clock: [h2, m2, s2], zone: z2 };
    return { year: Number(early ?? late), month: parseMonth(month!), day: Number(day), ...time };
  }
  const byIso = iso.exec(text);
  if (!byIso) return undefined;
  const [, year, month = '01', day = '01', ...rest] = byIso;
  return { year: Number(year), month: Number(month) - 1, day: Number(day), clock: rest.slice(0, 3), zone: rest[3] };
}

const parseMonth = (name: string): number => months.indexOf(name.toLowerCase());
const parseYear = (text: string): number =>
  text.length > 2 ? Number(text) : Number(text) + (Number(text) < 70 ? 2_000 : 1_900);

function parseOffsetHours(zone: string | undefined): number {
  const digits = /^([+-])(\d{1,2}):?(\d{2})$/.exec(zone ?? '');
  if (digits) return (digits[1] === '-' ? -1 : 1) * (Number(digits[2]) + Number(digits[3]) / 60);
  return ownValue(zones, zone?.toLowerCase() ?? '') ?? 0;
}

/** `11/27/2026 3:45:10 PM`, `27-11-2026`, `27.11.2026 15:45`. */
const numericDate =
  /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:,?\s+(\d{1,2})(:\d\d(?::\d\d)?)(?:\.\d+)?(?:\s*([AP])\.?M\.?)?)?(?:\s*(?:UTC|GMT|Z))?$/i;

/**
 * Returns a function that parses the dates of a column. Dates such as `11/27/2026` are read in the order that fits the whole column: a number
 * above 12 is a day. Dates of a column that fits both orders, and none is known for it, are not read. Days precede months where dots separate them.
 */
export function createDateReader(
  column: string[],
  isDayFirst: boolean,
): (text: string | undefined) => string | undefined {
  const order = findOrder(column) ?? (isDayFirst ? 'day' : undefined);
  return (text) => {
    const match = text === undefined ? null : numericDate.exec(text);
    return match ? readNumericDate(match, order) : (parseEpoch(text) ?? parseFeedDate(text));
  };
}

type DateOrder = 'day' | 'month';

/** Returns the order of the dates of a column, or undefined if they fit both orders or contradict each other. */
function findOrder(column: string[]): DateOrder | undefined {
  const orders = new Set<DateOrder>();
  for (const text of column) {
    const [, first, separator, second] = numericDate.exec(text) ?? [];
    if (separator === '.' || Number(first) > 12) orders.add('day');
    else if (Number(second) > 12) orders.add('month');
  }
  return orders.size === 1 ? [...orders][0] : undefined;
}

function readNumericDate(match: RegExpExecArray, order: DateOrder | undefined): string | undefined {
  const [, first = '', , second = '', year, hour, minutes, half] = match;
  if (!order) return undefined;
  const [day, month] = order === 'day' ? [first, second] : [second, first];
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  if (hour === undefined) return parseFeedDate(date);
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toUpperCase() === 'P' ? 12 : 0);
  return parseFeedDate(`${date}T${String(hours).padStart(2, '0')}${minutes}`);
}

/** Reads seconds or milliseconds since 1970. */
function parseEpoch(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{10}(?:\d{3})?$/.test(text)) return undefined;
  return new Date(Number(text) * (text.length === 10 ? 1_000 : 1)).toISOString();
}
