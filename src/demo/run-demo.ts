import { writeFileSync, readFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Deps } from '../app/deps.ts';
import { sweepDue } from '../agents/sightings/sweep.ts';
import { syncSweepsAcrossOrgs } from '../agents/sightings/sightings.store.ts';
import { type LibraryEntry, loadLibrary } from '../detection/library/load-library.ts';
import { executeDueRuns } from '../detection/runs/workers/run-loops.ts';
import { findNextSlotAcrossOrgs } from '../detection/scheduling/enqueue-runs.ts';
import { type DemoClient, splitByDay, sendEvents } from './client.ts';
import { ACCOUNT, type LogEvent } from './company/shapes.ts';
import { readOutcome, type DemoDetection, type DetectionOutcome } from './demo-summary.ts';
import { dayMs } from './company/people.ts';
import type { Clock } from '../platform/lib/time/clock.ts';
import { startEmbeddedPostgres } from '../platform/embedded-postgres/embedded-postgres.ts';
import { removeHome } from '../platform/embedded-postgres/data-dir.ts';

/** The relevance profile of the demo's company. */
const profile = {
  products: [{ vendor: 'Calder Systems', product: 'EdgeGate VPN' }, { vendor: 'Brightwell' }],
  platforms: ['windows', 'aws'],
  keywords: ['ransomware', 'second factor'],
};

const hourMs = 3_600_000;
/** The hours at the end that scheduled windows examine. Earlier events are history. */
const liveHours = 36;

export type DemoContext = {
  deps: Deps;
  call: DemoClient;
  time: StepClock;
  dataDir: string;
  print: (line: string) => void;
  reportHours: (done: number, total: number, label: string) => void;
};

/** Gives the agent that suggests detections a daily schedule. Its first run starts seconds after the workers. */
export async function scheduleSuggestions(call: DemoClient): Promise<void> {
  const { agents } = await call<{ agents: { id: string; builtInAgentType: string }[] }>(
    'GET',
    '/api/agents?builtIn=true',
  );
  const agent = agents.find(({ builtInAgentType }) => builtInAgentType === 'threat-research')!;
  await call('PUT', `/api/agents/${agent.id}`, { detectionCadence: 'daily' });
}

/** Returns when the demo's schedule starts, for logs that end at `end`. */
export function computeScheduleStart(end: Date): Date {
  return new Date(floorToHour(end).getTime() - liveHours * hourMs);
}

export function floorToHour(at: Date): Date {
  return new Date(Math.floor(at.getTime() / hourMs) * hourMs);
}

/** Loads the history, creates the detections and runs the real scheduler slot by slot up to `end`. */
export async function runDetections(
  context: DemoContext,
  events: LogEvent[],
  { end, detections }: { end: Date; detections: LibraryEntry[] },
): Promise<DetectionOutcome[]> {
  const { deps, call, time, print } = context;
  // Events are stored only after somebody has listed them. The console shows those of the following runs.
  await call('GET', '/api/events?limit=1');
  await call('PUT', '/api/value-lists/own-domains', { values: ['halden.example', ACCOUNT] });
  const start = computeScheduleStart(end);
  const history = events.filter(({ at }) => at < start);
  // The backfill of a first run reads events ingested before its window.
  time.set(new Date(start.getTime() - hourMs));
  for (const day of splitByDay(history)) await sendEvents(call, day, true);
  print(`Loaded ${history.length} past events.`);
  time.set(start);
  const created: DemoDetection[] = [];
  for (const detection of detections) created.push(await createDetection(call, detection));
  print(`Created ${created.length} detections. Running their schedules over the last ${liveHours} hours …`);
  const live = events.slice(history.length);
  for (
    let slot = await findNextSlotAcrossOrgs(deps.db);
    slot && slot <= end;
    slot = await findNextSlotAcrossOrgs(deps.db)
  ) {
    // Events are ingested just before the slot. Those ingested at the slot would belong to the next window.
    time.set(new Date(slot.getTime() - 1));
    const due = live.findIndex(({ at }) => at >= slot!);
    await sendEvents(call, live.splice(0, due === -1 ? live.length : due), false);
    time.set(slot);
    await executeDueRuns(deps, slot, { concurrency: deps.config.runsAtOnce });
    const hoursDone = Math.round((slot.getTime() - start.getTime()) / hourMs);
    context.reportHours(hoursDone, liveHours, `${slot.toISOString().slice(0, 16)}Z`);
  }
  time.set(end);
  await sendEvents(call, live, false);
  const outcomes: DetectionOutcome[] = [];
  for (const detection of created) outcomes.push(await readOutcome(call, detection));
  return outcomes;
}

async function createDetection(call: DemoClient, entry: LibraryEntry): Promise<DemoDetection> {
  const { id } = await call<{ id: string }>('POST', '/api/detections', entry.body);
  await call('PUT', `/api/detections/${id}/tests`, entry.tests);
  return { id, builtInId: entry.id, name: entry.body.name, category: entry.body.detectionCategory };
}

/** A source of the demo's feed, which reads a file. */
type DemoSource = { id: string; name: string; fileName: string };

/**
 * Writes the demo's feed files as they were at the time of the clock, pulls them into the feed and sets the relevance profile. The workers then score the
 * items and search the logs for their indicators. Returns the sources.
 */
export async function loadFeed({ deps, call, dataDir, print }: DemoContext, end: Date): Promise<DemoSource[]> {
  // Only items that arrive after the first, empty search are searched.
  await syncSweepsAcrossOrgs(deps.db);
  while (await sweepDue(deps, AbortSignal.timeout(60_000)));
  const sources: DemoSource[] = [];
  for (const { kind, name, publisher, fileName, text } of buildDemoFeed(end, deps.clock())) {
    const path = join(dataDir, fileName);
    writeFileSync(path, text);
    const source = await call<{ id: string }>('POST', '/api/feed/sources', {
      kind,
      name,
      publisher,
      url: `file://${path}`,
      tlp: 'CLEAR',
    });
    const { added } = await call<{ added: number }>('POST', `/api/feed/sources/${source.id}/pull`);
    print(`Feed source "${name}": ${added} items.`);
    sources.push({ id: source.id, name, fileName });
  }
  await call('PUT', '/api/feed/profile', profile);
  return sources;
}

/** Writes the feed files as they are at `end` and pulls them again, so that the feed also has news. */
export async function pullNews({ call, dataDir, print }: DemoContext, end: Date, sources: DemoSource[]): Promise<void> {
  const files = new Map(buildDemoFeed(end).map(({ fileName, text }) => [fileName, text]));
  for (const { id, name, fileName } of sources) {
    writeFileSync(join(dataDir, fileName), files.get(fileName)!);
    const { added } = await call<{ added: number }>('POST', `/api/feed/sources/${id}/pull`);
    print(`Feed source "${name}": ${added} new.`);
  }
}

/** Returns the shipped detections whose datasets are all in `datasets`. */
export function selectDetections(datasets: Set<string>): LibraryEntry[] {
  return [...loadLibrary().values()].filter((entry) => Object.keys(entry.datasets).every((name) => datasets.has(name)));
}

/** A file of the demo's threat feed. `kind` is the source kind that reads it. */
type FeedFile = { kind: 'kev' | 'stix'; name: string; publisher: string; fileName: string; text: string };

const writtenAtMs = Date.UTC(2026, 1, 1);
const writtenDates = /\b202[56]([-.])\d\d\1\d\d/g;

/** Shifts the dates of a feed file by whole days to just before `end`. The dates of the standard's TLP markings do not match and stay. */
function shiftDates(text: string, end: Date): string {
  const shiftMs = Math.floor((end.getTime() - writtenAtMs) / dayMs) * dayMs;
  return text.replaceAll(writtenDates, (date, mark: string) => {
    const moved = new Date(Date.parse(`${date.replaceAll('.', '-')}T00:00:00Z`) + shiftMs);
    return moved.toISOString().slice(0, 10).replaceAll('-', mark);
  });
}

const files: Omit<FeedFile, 'text'>[] = [
  { kind: 'kev', name: 'Demo exploited vulnerabilities', publisher: 'Demo catalog', fileName: 'exploited.kev.json' },
  { kind: 'stix', name: 'Fjordwatch reports', publisher: 'Fjordwatch Research', fileName: 'fjordwatch.stix.json' },
];

/** Builds the fictional feed that matches the intrusion, dated in the weeks before `end`, as its publishers had it at `at`. */
export function buildDemoFeed(end: Date, at = end): FeedFile[] {
  return files.map((file) => {
    const text = shiftDates(readFileSync(new URL(`feed/${file.fileName}`, import.meta.url), 'utf8'), end);
    return { ...file, text: file.kind === 'kev' ? listedUntil(text, at) : text };
  });
}

/** Returns a catalog without the vulnerabilities of days after `at`. */
function listedUntil(text: string, at: Date): string {
  const catalog = JSON.parse(text) as { vulnerabilities: { dateAdded: string }[] };
  const vulnerabilities = catalog.vulnerabilities.filter(({ dateAdded }) => dateAdded <= at.toISOString());
  return JSON.stringify({ ...catalog, count: vulnerabilities.length, vulnerabilities }, null, 2);
}

/** A clock that stands still until `set`. After `release`, it follows the real time. */
type StepClock = { clock: Clock; set: (at: Date) => void; release: () => void };

export function createStepClock(start: Date): StepClock {
  let at: Date | undefined = start;
  return {
    clock: () => at ?? new Date(),
    set: (next) => {
      at = next;
    },
    release: () => {
      at = undefined;
    },
  };
}

const parent = '.tocsin-demo';
const ownerFile = 'demo.pid';

/** Creates a new data directory for this demo and removes those of demos that have ended. */
export async function createDemoDir(): Promise<string> {
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent)) await removeIfEnded(resolve(parent, name));
  const dir = resolve(parent, new Date().toISOString().replaceAll(/[:.]/g, '-'));
  mkdirSync(dir);
  writeFileSync(join(dir, ownerFile), String(process.pid));
  return dir;
}

async function removeIfEnded(dir: string): Promise<void> {
  if (isAlive(readOwner(dir))) return;
  // A killed demo may have left its PostgreSQL running. Joining and leaving it stops it.
  const leftover = await startEmbeddedPostgres({ dataDir: dir, exclusive: false, log: () => undefined }).catch(
    () => undefined,
  );
  await leftover?.stop();
  removeDemoDir(dir, leftover?.location);
}

/** Removes a demo's directory, and its database if that is elsewhere. */
export function removeDemoDir(dir: string, location: string | undefined): void {
  if (location) removeHome(location);
  rmSync(dir, { recursive: true, force: true });
}

function readOwner(dir: string): number {
  try {
    return Number(readFileSync(join(dir, ownerFile), 'utf8'));
  } catch {
    return Number.NaN;
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
