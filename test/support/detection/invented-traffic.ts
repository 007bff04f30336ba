/** Bytes that a host sent in an hour. Hours without an entry had none, or were not recorded. */
export type HostHour = { host: string; at: number; bytes: number };

export type TrafficAttack = {
  kind: 'burst' | 'weekend' | 'night' | 'drip' | 'slow';
  host: string;
  from: number;
  to: number;
};
/** The traffic of an invented company, by hour. `note` describes its shape. */
export type InventedTraffic = { hours: HostHour[]; attacks: TrafficAttack[]; hosts: number; note: string };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
export const trafficStart = Date.UTC(2027, 1, 1);
export const trainingDays = 14;
export const trafficDays = 42;

type Random = {
  next: () => number;
  normal: () => number;
  pick: <T>(list: readonly T[]) => T;
  between: (least: number, most: number) => number;
};

/** Returns a random generator that draws the same numbers for a seed (mulberry32). */
function createRandom(seed: number): Random {
  let state = seed * 2_654_435_761;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const between = (least: number, most: number): number => least + (most - least) * next();
  return { next, normal, between, pick: (list) => list[Math.floor(next() * list.length)]! };
}

type Host = {
  name: string;
  /** Bytes an hour at rest, and by how much more during its hours. */
  level: number;
  factor: number;
  from: number;
  length: number;
  offDays: readonly number[];
  spread: number;
  /** The probability that it is switched on on a day. Switched off at night. */
  presence: number;
  /** Adds the jobs of a server. */
  job?: { every: 'day' | 'week' | 'month'; day: number; hour: number; length: number; bytes: number };
  appears: number;
};

const offices: readonly (readonly number[])[] = [[0, 6], [5, 6], [0], [0, 6]];

/** Generates 42 days of a company of one of several shapes: sizes, weekends, shifts, noise, jobs, laptops and outages differ by seed. */
export function generateTraffic(seed: number, hostsMax = 70): InventedTraffic {
  const random = createRandom(seed);
  const hostCount = Math.round(Math.exp(random.between(Math.log(12), Math.log(hostsMax))));
  const serverCount = Math.round(random.between(1, Math.max(2, hostCount / 5)));
  const offDays = random.pick(offices);
  const spread = random.between(0.2, 0.55);
  const laptopShare = random.pick([0, 0, 0.3, 0.6]);
  const shiftShare = random.pick([0, 0, 0.3]);
  const start = random.between(4, 11);
  const hosts: Host[] = Array.from({ length: hostCount }, (_, n) => {
    const isShift = random.next() < shiftShare;
    return {
      name: `pc-${n}`,
      level: Math.exp(random.between(Math.log(1e6), Math.log(2e7))),
      factor: random.between(5, 30),
      from: Math.round((isShift ? start + 10 : start) + random.between(-1, 1)) % 24,
      length: Math.round(random.between(8, 11)),
      offDays: isShift ? [] : offDays,
      spread: spread * random.between(0.8, 1.2),
      presence: n >= 8 && random.next() < laptopShare ? random.between(0.4, 0.95) : 1,
      appears: n === hostCount - 1 ? 24 : 0,
    };
  });
  const servers: Host[] = Array.from({ length: serverCount }, (_, n) => ({
    name: `srv-${n}`,
    level: Math.exp(random.between(Math.log(1e7), Math.log(2e9))),
    factor: random.pick([1, 1, 4]),
    from: Math.round(start),
    length: 10,
    offDays: [],
    spread: spread * random.between(0.7, 1.2),
    presence: 1,
    appears: 0,
    job: {
      every: random.pick(['day', 'week', 'week', 'month'] as const),
      day: Math.floor(random.between(0, 7)),
      hour: Math.floor(random.between(0, 24)),
      length: Math.round(random.between(1, 4)),
      bytes: Math.exp(random.between(Math.log(1e9), Math.log(1e11))),
    },
  }));
  const outages = new Set(Array.from({ length: 6 }, () => Math.floor(random.between(0, trafficDays * 24))));
  const holiday = trainingDays + Math.floor(random.between(0, trafficDays - trainingDays));
  const attacks = planAttacks(hosts, random);
  const hours = [...hosts, ...servers].flatMap((host) =>
    Array.from({ length: trafficDays * 24 }, (_, index) => index).flatMap((index) => {
      if (outages.has(index) || index < host.appears * 24) return [];
      return generateHour(host, index, { holiday, seed, random, attacks });
    }),
  );
  const note = `${hostCount} hosts, ${serverCount} servers, off on ${offDays.join('+')}, spread ${spread.toFixed(2)}, laptops ${laptopShare}, shifts ${shiftShare}`;
  return { hours, attacks, hosts: hostCount + serverCount, note };
}

function isWorking({ from, length, offDays }: Host, index: number, holiday: number): boolean {
  const day = Math.floor(index / 24);
  const sinceStart = ((index % 24) - from + 24) % 24;
  const startDay = sinceStart <= index % 24 ? day : day - 1;
  const weekday = new Date(trafficStart + startDay * dayMs).getUTCDay();
  return sinceStart < length && !offDays.includes(weekday) && (offDays.length === 0 || startDay !== holiday);
}

function generateHour(
  host: Host,
  index: number,
  { holiday, seed, random, attacks }: { holiday: number; seed: number; random: Random; attacks: TrafficAttack[] },
): HostHour[] {
  const at = trafficStart + index * hourMs;
  const works = isWorking(host, index, holiday);
  if (host.presence < 1) {
    const day = Math.floor(index / 24);
    const isOn =
      createRandom(seed * 1000 + day * 100 + host.name.length * 7 + (Math.round(host.level) % 97)).next() <
      host.presence;
    if (!works || !isOn) return [];
  }
  let bytes = host.level * (works ? host.factor : 1) * Math.exp(host.spread * random.normal());
  if (host.job && isJobHour(host.job, at)) bytes += host.job.bytes * Math.exp(0.25 * random.normal());
  for (const attack of attacks)
    if (attack.host === host.name && at >= attack.from && at < attack.to)
      bytes = attackHour(attack, host, { index, works, bytes });
  return [{ host: host.name, at, bytes: Math.round(bytes) }];
}

function isJobHour({ every, day, hour, length }: NonNullable<Host['job']>, at: number): boolean {
  const date = new Date(at);
  const isHour = date.getUTCHours() >= hour && date.getUTCHours() < hour + length;
  if (every === 'day') return isHour;
  return isHour && (every === 'week' ? date.getUTCDay() === day : date.getUTCDate() === 1 + day);
}

function attackHour(
  { kind }: TrafficAttack,
  host: Host,
  { index, works, bytes }: { index: number; works: boolean; bytes: number },
): number {
  if (kind === 'burst') return bytes + 8 * host.level * host.factor;
  if (kind === 'weekend' || kind === 'night') return Math.max(bytes, host.level * host.factor);
  if (kind === 'slow') return works ? bytes * 1.6 : bytes;
  return (index - host.from + 48) % 24 === 18 ? bytes + 10 * host.level : bytes;
}

/** An attack that is less than five times the scatter of an hour cannot be told from it. */
const scattersMin = 5;
/** A day of ten hours scatters by a third of an hour. Below this, 60 % more is at least three times that. */
const slowSpreadMax = 0.4;

/** Returns whether an attack on a host can be told from its usual scatter at all. */
function isNoticeable(kind: TrafficAttack['kind'], { factor, spread }: Host): boolean {
  if (kind === 'slow') return spread <= slowSpreadMax;
  return Math.log(kind === 'drip' ? 10 : factor) >= scattersMin * spread;
}

/** Plans one attack of each kind on hosts that are always switched on, in the weeks after the training. Kinds that no host would show are left out. */
function planAttacks(hosts: readonly Host[], random: Random): TrafficAttack[] {
  const victims = hosts.filter(({ presence, appears }) => presence === 1 && appears === 0);
  const kinds = ['burst', 'weekend', 'night', 'drip', 'slow'] as const;
  return kinds.flatMap((kind): TrafficAttack[] => {
    const index = victims.findIndex((one) => isNoticeable(kind, one) && (kind !== 'weekend' || one.offDays.length > 0));
    const [host] = index < 0 ? [] : victims.splice(index, 1);
    if (!host) return [];
    const length = { burst: 3, weekend: 6, night: 3, drip: 10 * 24, slow: 10 * 24 }[kind];
    const isFree = (index: number): boolean => {
      const works = isWorking(host, index, -1) || isWorking(host, index + length - 1, -1);
      if (kind === 'burst' || kind === 'slow' || kind === 'drip') return true;
      const isOff = host.offDays.includes(new Date(trafficStart + index * hourMs).getUTCDay());
      return kind === 'weekend' ? isOff && index % 24 >= 8 && index % 24 < 14 : !works && !isOff;
    };
    const first = trainingDays * 24 + 24;
    const last = trafficDays * 24 - length - 24;
    const possible = Array.from({ length: last - first }, (_, index) => first + index).filter(isFree);
    const hour = random.pick(possible);
    const from = trafficStart + (kind === 'drip' || kind === 'slow' ? hour - (hour % 24) : hour) * hourMs;
    return [{ kind, host: host.name, from, to: from + length * hourMs }];
  });
}
