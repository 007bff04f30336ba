import type { Day, Shift } from './calendar.ts';
import { hourMs, isMonday, minuteMs, drawMoments } from './calendar.ts';
import type { Person } from './people.ts';
import type { Random } from './random.ts';
import { buildAuthEvent, drawLocation, createStamp } from './shapes.ts';
import type { LogEvent } from './shapes.ts';

const apps = ['Mail', 'Chat', 'Wiki', 'Payroll', 'CRM', 'Source', 'Tickets', 'Drive'];

/** Expired passwords: on Monday, many people fail to sign in, then reset their password. */
function* mondayReset(
  person: Person,
  at: number,
  place: ReturnType<typeof drawLocation>,
  random: Random,
): Generator<LogEvent> {
  for (let n = random.int(1, 3); n > 0; n -= 1) {
    const failed = { person, outcome: 'failure', reason: 'password_expired', ...place } as const;
    yield buildAuthEvent(createStamp(random, at - n * minuteMs), failed);
  }
  yield buildAuthEvent(createStamp(random, at - minuteMs / 2), {
    person,
    action: 'user.account.reset_password',
    ...place,
  });
}

function* session(person: Person, at: number, random: Random): Generator<LogEvent> {
  const place = drawLocation(person, random);
  const managed = !random.chance(0.05);
  const typo = random.chance(0.07);
  if (typo) {
    const failed = { person, outcome: 'failure', reason: 'invalid_credentials', managed, ...place } as const;
    yield buildAuthEvent(createStamp(random, at - 20_000), failed);
  }
  yield buildAuthEvent(createStamp(random, at), { person, managed, ...place });
  yield buildAuthEvent(createStamp(random, at + 8000), {
    person,
    action: 'user.authentication.mfa',
    managed,
    ...place,
  });
}

/** Generates a day's sign-ins: in the morning, often after lunch, and to a few applications. */
export function* generateSignIns(person: Person, day: Day, shift: Shift, random: Random): Generator<LogEvent> {
  if (isMonday(day) && random.chance(0.3)) yield* mondayReset(person, shift.from, drawLocation(person, random), random);
  yield* session(person, shift.from, random);
  if (random.chance(0.4)) yield* session(person, shift.from + (4 + random.next()) * hourMs, random);
  for (const at of drawMoments(shift, random.int(1, 4), random)) {
    const app = random.pick(apps);
    const place = drawLocation(person, random);
    yield buildAuthEvent(createStamp(random, at), { person, action: 'user.authentication.sso', app, ...place });
  }
}
