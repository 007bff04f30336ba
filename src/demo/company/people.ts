import type { Random } from './random.ts';

/** An office with one public address (RFC 5737). `utcOffset` is in hours, without daylight saving time. */
export type Site = { city: string; country: string; utcOffset: number; officeIp: string };

const sites = {
  oslo: { city: 'Oslo', country: 'NO', utcOffset: 1, officeIp: '192.0.2.10' },
  lisbon: { city: 'Lisbon', country: 'PT', utcOffset: 0, officeIp: '192.0.2.20' },
  toronto: { city: 'Toronto', country: 'CA', utcOffset: -5, officeIp: '198.51.100.10' },
  singapore: { city: 'Singapore', country: 'SG', utcOffset: 8, officeIp: '198.51.100.20' },
} as const satisfies Record<string, Site>;

type Team = 'engineering' | 'platform' | 'sales' | 'support' | 'finance' | 'people' | 'production';

export type Person = {
  user: string;
  fullName: string;
  team: Team;
  site: Site;
  host: string;
  /** An IPv6 address of RFC 3849. */
  homeIp: string;
  /** The person has an IAM user of the same name. */
  cloud: boolean;
  /** How many days before the end of the logs the person joined. Set for the newcomer only. */
  joinedDaysAgo?: number;
};

const firstNames =
  'Anna Bjorn Carla Daniel Elif Filip Grete Hugo Ines Jonas Kari Lars Maria Nils Olga Pedro Rita Sven Tiago Ulla Vera Wei Yara Zoe Amir Beatriz Chen Dora Emil Farid'.split(
    ' ',
  );
const lastNames =
  'Aas Berg Costa Duarte Eide Ferreira Gomes Hansen Ivers Jansen Kroken Lima Moe Nunes Olsen Pinto Quist Ramos Silva Tan'.split(
    ' ',
  );
const teamSizes: [Team, number][] = [
  ['engineering', 30],
  ['sales', 20],
  ['support', 16],
  ['production', 14],
  ['finance', 12],
  ['people', 6],
  ['platform', 4],
];
const siteOrder: Site[] = [sites.oslo, sites.lisbon, sites.oslo, sites.toronto, sites.singapore, sites.oslo];

function person(index: number, fullName: string, team: Team, site: Site): Person {
  const hex = (index + 16).toString(16);
  return {
    user: fullName.toLowerCase().replace(' ', '.'),
    fullName,
    team,
    site,
    host: `WS-${String(1000 + index)}.halden.example`,
    homeIp: `2001:db8:${hex}::${hex}`,
    cloud: team === 'engineering' || team === 'platform',
  };
}

/** The people with a role in the story. */
export const cast = {
  victim: person(0, 'Tomas Rehn', 'engineering', sites.oslo),
  admin: person(1, 'Ingrid Solberg', 'platform', sites.oslo),
  newcomer: { ...person(2, 'Paulo Matos', 'engineering', sites.lisbon), joinedDaysAgo: 6 },
  traveller: person(3, 'Claire Tan', 'sales', sites.singapore),
  commuter: person(4, 'Henrik Dahl', 'sales', sites.oslo),
  uploader: person(5, 'Nadia Roy', 'sales', sites.toronto),
  newPhone: person(6, 'Marta Vieira', 'finance', sites.lisbon),
} as const satisfies Record<string, Person>;

function crowd(): Person[] {
  const teams = teamSizes.flatMap(([team, size]) => Array.from({ length: size }, () => team));
  return teams.map((team, n) => {
    const first = firstNames[(n * 7) % firstNames.length]!;
    const last = lastNames[(n * 3 + Math.floor(n / firstNames.length)) % lastNames.length]!;
    return person(n + 10, `${first} ${last}`, team, siteOrder[n % siteOrder.length]!);
  });
}

export const people: Person[] = [...Object.values(cast), ...crowd()];

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** A date of the company's calendar. `midnight` is its start in UTC, `end` the end of the logs, both in epoch milliseconds. */
export type Day = { midnight: number; end: number; seed: number };

/** A person's working hours, in epoch milliseconds. */
export type Shift = { from: number; to: number };

const weekday = (midnight: number): number => new Date(midnight).getUTCDay();

export const isMonday = (day: Day): boolean => weekday(day.midnight) === 1;
export const isWeekend = (day: Day): boolean => [0, 6].includes(weekday(day.midnight));

/** Draws a person's shift, which begins around eight local time. Returns undefined on a day off. Few people work at weekends. */
export function drawShift(person: Person, day: Day, random: Random): Shift | undefined {
  const works = random.chance(isWeekend(day) ? 0.07 : 0.94);
  const localMidnight = day.midnight - person.site.utcOffset * hourMs;
  const from = localMidnight + 7.4 * hourMs + random.next() * 2 * hourMs;
  const joined = person.joinedDaysAgo === undefined || from >= day.end - person.joinedDaysAgo * dayMs;
  return works && joined ? { from, to: from + 7.5 * hourMs + random.next() * 2 * hourMs } : undefined;
}

/** Draws random moments of a shift, in epoch milliseconds. */
export function* drawMoments(shift: Shift, count: number, random: Random): Generator<number> {
  for (let n = 0; n < count; n += 1) yield shift.from + random.next() * (shift.to - shift.from);
}
