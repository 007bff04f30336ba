import { parseFeedDate } from '../parse-date.ts';

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
