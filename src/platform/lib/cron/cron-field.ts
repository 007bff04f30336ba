const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const shapes = {
  minute: { low: 0, high: 59, names: [] as string[] },
  hour: { low: 0, high: 23, names: [] as string[] },
  'day of month': { low: 1, high: 31, names: [] as string[] },
  month: { low: 1, high: 12, names: months },
  'day of week': { low: 0, high: 7, names: weekdays },
};

export type CronFieldName = keyof typeof shapes;

/** The values that a field denotes, and whether it begins with `*`, which is what Vixie cron calls unrestricted. */
export type CronField = { values: Set<number>; star: boolean };

/** Reads one field of a cron expression. Throws an Error that names the field and the part that is wrong. */
export function parseField(name: CronFieldName, text: string): CronField {
  const values = new Set<number>();
  for (const element of text.split(',')) for (const value of valuesOf(name, element)) values.add(value);
  return { values, star: text.startsWith('*') };
}

function valuesOf(name: CronFieldName, element: string): number[] {
  const { low, high } = shapes[name];
  const match = /^(?:(\*)|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:\/([0-9]+))?$/i.exec(element);
  if (!match) throw wrong(name, element, 'is not a number, name, range or step');
  const [, star, from, to, step] = match;
  if (step !== undefined && !star && to === undefined) throw wrong(name, element, 'has a step without a range');
  const by = step === undefined ? 1 : Number(step);
  if (by < 1 || by > high) throw wrong(name, element, `has a step that is not within 1-${high}`);
  const first = star ? low : valueOf(name, from!, element);
  const last = star ? high : to === undefined ? first : endOf(name, to, element);
  if (first > last) throw wrong(name, element, 'is a range that runs backwards');
  const count = Math.floor((last - first) / by) + 1;
  return Array.from({ length: count }, (_, index) => first + index * by);
}

/** A range that ends on `sun` ends the week: `fri-sun` is 5-7. */
function endOf(name: CronFieldName, text: string, element: string): number {
  return name === 'day of week' && text.toLowerCase() === 'sun' ? 7 : valueOf(name, text, element);
}

function valueOf(name: CronFieldName, text: string, element: string): number {
  const { low, high, names } = shapes[name];
  const named = names.indexOf(text.toLowerCase());
  const value = named >= 0 ? named + low : /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw wrong(name, element, 'has a name that does not exist');
  if (value < low || value > high) throw wrong(name, element, `is outside ${low}-${high}`);
  return value;
}

function wrong(name: CronFieldName, element: string, why: string): Error {
  return new Error(`The ${name} field is wrong: "${element}" ${why}.`);
}
