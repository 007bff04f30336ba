const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const fieldShapes = {
  minute: { low: 0, high: 59, names: [] as string[] },
  hour: { low: 0, high: 23, names: [] as string[] },
  'day of month': { low: 1, high: 31, names: [] as string[] },
  month: { low: 1, high: 12, names: months },
  'day of week': { low: 0, high: 7, names: weekdays },
};

export type CronFieldName = keyof typeof fieldShapes;

/** The values of a field. `isUnrestricted` is Vixie cron's term for a field that begins with `*`. */
export type CronField = { values: Set<number>; isUnrestricted: boolean };

/** Parses one field of a cron expression. Throws an Error that names the field and the invalid element. */
export function parseField(name: CronFieldName, text: string): CronField {
  const values = new Set<number>();
  for (const element of text.split(',')) for (const value of parseElement(name, element)) values.add(value);
  return { values, isUnrestricted: text.startsWith('*') };
}

function parseElement(name: CronFieldName, element: string): number[] {
  const { low, high } = fieldShapes[name];
  const match = /^(?:(\*)|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:\/([0-9]+))?$/i.exec(element);
  if (!match) throw invalidElement(name, element, 'is not a number, name, range or step');
  const [, star, from, to, step] = match;
  if (step !== undefined && !star && to === undefined)
    throw invalidElement(name, element, 'has a step without a range');
  const stepSize = step === undefined ? 1 : Number(step);
  if (stepSize < 1 || stepSize > high) throw invalidElement(name, element, `has a step outside 1-${high}`);
  const [first, last] = star ? [low, high] : parseRange(name, from!, to, element);
  if (first > last) throw invalidElement(name, element, 'is a range that runs backwards');
  const count = Math.floor((last - first) / stepSize) + 1;
  return Array.from({ length: count }, (_, index) => first + index * stepSize);
}

/** Parses a value or a range. `sun` as the end of a range means 7, so `fri-sun` is 5-7. */
function parseRange(name: CronFieldName, from: string, to: string | undefined, element: string): [number, number] {
  const first = parseValue(name, from, element);
  if (to === undefined) return [first, first];
  const endsOnSunday = name === 'day of week' && to.toLowerCase() === 'sun';
  return [first, endsOnSunday ? 7 : parseValue(name, to, element)];
}

function parseValue(name: CronFieldName, text: string, element: string): number {
  const { low, high, names } = fieldShapes[name];
  const nameIndex = names.indexOf(text.toLowerCase());
  if (nameIndex < 0 && !/^[0-9]+$/.test(text)) throw invalidElement(name, element, 'has a name that does not exist');
  const value = nameIndex < 0 ? Number(text) : nameIndex + low;
  if (value < low || value > high) throw invalidElement(name, element, `is outside ${low}-${high}`);
  return value;
}

function invalidElement(name: CronFieldName, element: string, reason: string): Error {
  return new Error(`The ${name} field is invalid: "${element}" ${reason}.`);
}
