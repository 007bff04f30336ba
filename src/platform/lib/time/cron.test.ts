import { Cron as Croner } from 'croner';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lastSlot, longestIntervalMs, nextSlot, normalizeCron, parseCron } from './cron.ts';

const hour = 3_600_000;
const day = 24 * hour;
const at = (text: string): Date => new Date(text);

/** Evaluates one field independently of the parser, for a minute-by-minute walk. */
function inField(text: string, low: number, high: number, value: number): boolean {
  return text.split(',').some((element) => {
    const [range, step = '1'] = element.split('/');
    const [from, to = from] = range === '*' ? [low, high] : range!.split('-').map(Number);
    return value >= from! && value <= to! && (value - from!) % Number(step) === 0;
  });
}

function fits(text: string, date: Date): boolean {
  const [minute, hours, dom, month, dow] = text.split(' ') as [string, string, string, string, string];
  const weekday = date.getUTCDay();
  const onDate = inField(dom, 1, 31, date.getUTCDate());
  const onWeekday = inField(dow, 0, 7, weekday) || (weekday === 0 && inField(dow, 0, 7, 7));
  const star = dom.startsWith('*') || dow.startsWith('*');
  return (
    inField(minute, 0, 59, date.getUTCMinutes()) &&
    inField(hours, 0, 23, date.getUTCHours()) &&
    inField(month, 1, 12, date.getUTCMonth() + 1) &&
    (star ? onDate && onWeekday : onDate || onWeekday)
  );
}

function element(low: number, high: number): fc.Arbitrary<string> {
  const number = fc.integer({ min: low, max: high });
  const range = fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: high - low });
  return fc.oneof(
    number.map(String),
    range,
    fc.constant('*'),
    step.map((by) => `*/${by}`),
    fc.tuple(range, step).map(([text, by]) => `${text}/${by}`),
  );
}

const field = (low: number, high: number): fc.Arbitrary<string> =>
  fc.array(element(low, high), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(','));
const plain = (low: number, high: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant('*'),
    fc
      .array(
        element(low, high).filter((text) => !text.startsWith('*')),
        { minLength: 1, maxLength: 3 },
      )
      .map((parts) => parts.join(',')),
  );
const minute = fc.integer({ min: 0, max: 59 }).map(String);
const moment = fc.date({ min: at('2024-01-01T00:00:00Z'), max: at('2031-12-31T00:00:00Z'), noInvalidDate: true });

const anyCron = fc.tuple(minute, field(0, 23), field(1, 31), field(1, 12), field(0, 7)).map((parts) => parts.join(' '));

/** Checks a property of expressions that occur, from any moment. */
function checkCrons(
  crons: fc.Arbitrary<string>,
  numRuns: number,
  check: (cron: ReturnType<typeof parseCron>, from: Date, text: string) => void,
): void {
  const property = fc.property(crons, moment, (text, from) => {
    let cron;
    try {
      cron = parseCron(text);
    } catch (error) {
      expect(String(error)).toContain('never occurs');
    }
    fc.pre(cron !== undefined);
    check(cron, from, text);
  });
  fc.assert(property, { numRuns });
}

describe('slots', () => {
  test('match croner for every expression that both interpret the same way', () => {
    const expression = fc
      .tuple(minute, plain(0, 23), plain(1, 31), plain(1, 12), plain(0, 7))
      .map((parts) => parts.join(' '));
    checkCrons(expression, 300, (cron, from, text) => {
      let slot: Date | null = from;
      for (const expected of new Croner(text, { timezone: 'UTC' }).nextRuns(5, from)) {
        slot = nextSlot(cron, slot!);
        expect(slot).toEqual(expected);
      }
    });
  });

  test('match a minute-by-minute walk', () => {
    checkCrons(anyCron, 60, (cron, from, text) => {
      const first = Math.ceil(from.getTime() / 60_000) * 60_000;
      const walked: number[] = [];
      for (let time = first; time < first + 3 * day; time += 60_000) if (fits(text, new Date(time))) walked.push(time);
      const found: number[] = [];
      let slot = nextSlot(cron, new Date(first - 1));
      while (slot && slot.getTime() < first + 3 * day) {
        found.push(slot.getTime());
        slot = nextSlot(cron, slot);
      }
      expect(found).toEqual(walked);
    });
  });

  test('lastSlot and nextSlot are neighbors', () => {
    checkCrons(anyCron, 80, (cron, from) => {
      const last = lastSlot(cron, from)!;
      const next = nextSlot(cron, from)!;
      expect(last.getTime()).toBeLessThanOrEqual(from.getTime());
      expect(next.getTime()).toBeGreaterThan(from.getTime());
      expect(nextSlot(cron, last)).toEqual(next);
      expect(lastSlot(cron, next)).toEqual(next);
      expect(next.getTime() - last.getTime()).toBeLessThanOrEqual(longestIntervalMs(cron));
    });
  });

  test.each([
    ['0 * * * *', '2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z'],
    ['0 0 * * 1', '2026-03-01T10:00:00Z', '2026-03-02T00:00:00Z'],
    ['0 0 13 * 5', '2026-03-07T00:00:00Z', '2026-03-13T00:00:00Z'],
    ['0 0 13 * 5', '2026-03-13T00:00:00Z', '2026-03-20T00:00:00Z'],
    ['0 0 */2 * 1', '2026-03-02T00:00:00Z', '2026-03-09T00:00:00Z'],
    ['30 4 29 2 *', '2026-03-01T00:00:00Z', '2028-02-29T04:30:00Z'],
    ['0 0 * * 7', '2026-03-02T00:00:00Z', '2026-03-08T00:00:00Z'],
    ['0 0 * * fri-sun', '2026-03-07T00:00:00Z', '2026-03-08T00:00:00Z'],
    ['0 0 1 jan,JUL Mon-Fri/2', '2026-06-30T00:00:00Z', '2026-07-01T00:00:00Z'],
    ['59 23 31 12 *', '2026-12-31T23:59:00Z', '2027-12-31T23:59:00Z'],
  ])('the next slot of %s after %s is %s', (text, after, expected) => {
    expect(nextSlot(parseCron(text), at(after))).toEqual(at(expected));
  });
});

describe('longestIntervalMs', () => {
  test.each([
    ['0 * * * *', hour],
    ['0 9-17 * * *', 16 * hour],
    ['0 0,1 * * *', 23 * hour],
    ['0 0 * * *', day],
    ['0 9 * * 1-5', 3 * day],
    ['0 0 * * 1', 7 * day],
    ['0 0 1 * *', 31 * day],
    ['0 0 31 * *', 61 * day],
    ['0 0 1 1 *', 366 * day],
    ['0 0 29 2 *', 2921 * day],
  ])('of %s is %d ms', (text, expected) => {
    expect(longestIntervalMs(parseCron(text))).toBe(expected);
  });

  test.each([
    ['0 * * * *', hour],
    ['0 * * * 1-5', 50 * hour],
    ['0 9 * * *', 25 * hour],
  ])('of %s in Sydney, where the clocks are set back on a Sunday, is %d ms', (text, expected) => {
    expect(longestIntervalMs(parseCron(text, 'Australia/Sydney'))).toBe(expected);
  });
});

describe('parseCron rejects', () => {
  test.each([
    ['', 'five fields'],
    ['* * * *', 'five fields'],
    ['0 0 * * * *', 'five fields'],
    ['0 0 0 * * *', 'five fields'],
    ['0\n* * * *', 'five fields'],
    ['@hourly', 'macro'],
    ['* * * * *', 'exactly one minute'],
    ['*/30 * * * *', 'exactly one minute'],
    ['0,30 * * * *', 'exactly one minute'],
    ['10-11 * * * *', 'exactly one minute'],
    ['0-59/59 * * * *', 'exactly one minute'],
    ['*/60 * * * *', 'step'],
    ['0 */24 * * *', 'step'],
    ['0 */0 * * *', 'step'],
    ['0 0 */32 * *', 'step'],
    ['0 0 * */13 *', 'step'],
    ['0 0 * * */8', 'step'],
    ['0 5/2 * * *', 'step without a range'],
    ['60 * * * *', 'outside 0-59'],
    ['0 24 * * *', 'outside 0-23'],
    ['0 0 0 * *', 'outside 1-31'],
    ['0 0 32 * *', 'outside 1-31'],
    ['0 0 * 0 *', 'outside 1-12'],
    ['0 0 * 13 *', 'outside 1-12'],
    ['0 0 * * 8', 'outside 0-7'],
    ['0 17-9 * * *', 'backwards'],
    ['0 0 * * sat-mon', 'backwards'],
    ['0 0 L * *', 'does not exist'],
    ['0 0 15W * *', 'does not exist'],
    ['0 0 * * 5L', 'does not exist'],
    ['0 0 * * 1#2', 'not a number'],
    ['0 0 ? * 1', 'not a number'],
    ['0 0 * * monday', 'does not exist'],
    ['0 0 * mon *', 'does not exist'],
    ['jan * * * *', 'does not exist'],
    ['-5 * * * *', 'not a number'],
    ['+5 * * * *', 'not a number'],
    ['1.5 * * * *', 'not a number'],
    ['5, * * * *', 'not a number'],
    ['0 1--2 * * *', 'not a number'],
    ['0 *-5 * * *', 'not a number'],
    ['0 0 30 2 *', 'never occurs'],
    ['0 0 31 4,6,9,11 *', 'never occurs'],
    [`0 ${'1,'.repeat(300)}1 * * *`, 'at most 500'],
  ])('%s (%s)', (text, reason) => {
    expect(() => parseCron(text)).toThrow(reason);
  });
});

test.each(['5,5 * * * *', '5-5 * * * *', '05 * * * *', '7-20/30 * * * *', '0-0 0 * * *'])(
  '%s selects one minute',
  (text) => {
    expect(parseCron(text).text).toBe(text);
  },
);

test('removes outer blanks and collapses inner ones', () => {
  expect(normalizeCron(' \t0  *\t\t* *   mon-Fri ')).toBe('0 * * * mon-Fri');
  expect(parseCron('  0 *  * * *\t').text).toBe('0 * * * *');
});
