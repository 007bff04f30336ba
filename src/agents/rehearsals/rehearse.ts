import type { ExceptionSubject } from '../../detection/analysis/exceptions.ts';
import { openForeignStore, type FixtureStore } from '../../detection/log-query/search/fixture-store.ts';
import { inspectQuery } from '../../detection/log-query/search/inspect-query.ts';
import type { SearchLogsDeps } from '../../detection/log-query/search/search-logs.ts';
import { readRuleLists, recallPast } from '../../detection/runs/execution/examine-window.ts';
import { loadMutes } from '../../detection/runs/judging/resolutions/resolve-candidates.ts';
import { createTrialRun } from '../../detection/runs/run-model/active-run.ts';
import { runStep } from '../../detection/runs/run-model/run-progress.ts';
import { searchLimits } from '../../detection/runs/run-model/search-window.ts';
import type { DetectionKey, TimeRange } from '../../detection/scheduling/timeline.ts';
import type { SiemConnection } from '../../detection/siem/connector.ts';
import { isPortableQuery } from '../../detection/siem/query-text.ts';
import { testConnection } from '../../detection/testing/run-test-set.ts';
import { runSimulation } from '../../detection/testing/simulate.ts';
import { acrossOrgs, inOrg } from '../../platform/db/db.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { slotIntervalMs } from '../../platform/lib/time/cron.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { loadAttacks } from './attack-events.ts';
import { prepareAttacks, readTechnique, type AttackChoice, type RehearsedTechnique } from './make-events.ts';
import {
  claimDueAcrossOrgs,
  listFired,
  listRehearsable,
  storeResults,
  storeTechniques,
  type DetectionResult,
  type RehearsedDefinition,
} from './rehearsals.store.ts';

export type RehearseDeps = SearchLogsDeps;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const idleMs = 60_000;
/** Few enough that the next organization has its turn soon. The events are generated once for all of them. */
const claimedMax = 100;
const claimMs = 15 * 60_000;
/** Less than the time for which detections are claimed. */
const stepMsMax = 10 * 60_000;
/** Keeps a slow detection from delaying those after it. */
const detectionMsMax = 60_000;
const nightStartMs = hourMs;
const repeatMsMax = 30_000;

/** Rehearses every attack with each detection once a night and when it was changed, until `signal` aborts. One query at a time runs for it. */
export function rehearsalLoop(deps: RehearseDeps & { log: Logger }, signal: AbortSignal): Promise<void> {
  let last: OrgId | null = null;
  return runLoop({ name: 'rehearse', idleMs, signal, log: deps.log, startsIdle: true }, async () => {
    const done = await rehearseNext(deps, last, AbortSignal.any([signal, AbortSignal.timeout(stepMsMax)]));
    last = done ?? last;
    return done !== undefined;
  });
}

/**
 * Rehearses all attacks with the due detections of one organization, at most 100, and stores what fired. Detections for which time runs out are due again when the claim ends. Returns the organization, the next one after `after`, or undefined if nothing is due.
 */
export async function rehearseNext(
  deps: RehearseDeps,
  after: OrgId | null,
  signal: AbortSignal,
): Promise<OrgId | undefined> {
  const now = deps.clock();
  const until = new Date(now.getTime() + claimMs);
  const claim = await acrossOrgs(deps.db, (tx) => claimDueAcrossOrgs(tx, { after, now, until, limit: claimedMax }));
  if (!claim) return undefined;
  const detections = await inOrg(deps.db, claim.orgId, (tx) => listRehearsable(tx, claim.orgId, claim.ids));
  const attacks: AttackChoice['attacks'] = detections.length === 0 ? new Map() : loadAttacks();
  const techniques = [...attacks.keys()];
  const done = await rehearse(deps, claim.orgId, { attacks, detections, now }, signal);
  await inOrg(deps.db, claim.orgId, async (tx) => {
    await storeTechniques(tx, claim.orgId, done.techniques, now);
    await storeResults(tx, claim.orgId, done.results, { techniques, now, claim, next: nextNight(now) });
  });
  return claim.orgId;
}

const nextNight = (now: Date): Date =>
  new Date(Math.floor((now.getTime() - nightStartMs) / dayMs) * dayMs + dayMs + nightStartMs);

/**
 * Repeats the rehearsals on which a detection fired the last time. Returns what it finds in each, which is nothing if it does not fire anymore. Throws a 503
 * if they cannot be repeated within 30 seconds.
 */
export async function repeatRehearsals(
  deps: RehearseDeps,
  { orgId, detectionId }: DetectionKey,
): Promise<{ technique: string; findings: ExceptionSubject[] }[]> {
  const now = deps.clock();
  const { techniques, detections } = await inOrg(deps.db, orgId, async (tx) => ({
    techniques: await listFired(tx, orgId, detectionId),
    detections: await listRehearsable(tx, orgId, [detectionId]),
  }));
  if (techniques.length === 0 || detections.length === 0) return [];
  const found = new Map<string, ExceptionSubject[]>();
  const attacks = new Map(techniques.map((technique) => [technique, loadAttacks().get(technique) ?? []]));
  const request = { attacks, detections, now, onFired: found.set.bind(found) };
  const { results } = await rehearse(deps, orgId, request, AbortSignal.timeout(repeatMsMax));
  const failure = results.length === 0 ? `It took longer than ${repeatMsMax / 1000} s.` : results[0]!.failure;
  if (failure !== null)
    throw appError('unavailable', `The rehearsals of the detection could not be repeated. ${failure}`);
  return techniques.map((technique) => ({ technique, findings: found.get(technique) ?? [] }));
}

type OnFired = (technique: string, findings: ExceptionSubject[]) => void;
type RehearsalRequest = AttackChoice & { detections: RehearsedDefinition[]; now: Date; onFired?: OnFired };

/**
 * Sends the events of techniques through query, analysis and the built-in analyst of detections. Reads the detections' memory, exceptions and lists,
 * and stores nothing. Returns no result for a detection that `signal` interrupts.
 */
export async function rehearse(
  deps: RehearseDeps,
  orgId: OrgId,
  { detections, now, onFired, ...choice }: RehearsalRequest,
  signal: AbortSignal,
): Promise<{ techniques: RehearsedTechnique[]; results: DetectionResult[] }> {
  const { techniques, background, fields } = await prepareAttacks(deps, orgId, { ...choice, now }, signal);
  const stage: Stage = {
    orgId,
    techniques: techniques.filter(({ eventCount }) => eventCount > 0),
    now,
    openStore,
    onFired,
  };
  const stores = new Map<string, Promise<FixtureStore>>();
  function openStore(name: string, events: RehearsedTechnique['events']): Promise<FixtureStore> {
    const earlier = Object.fromEntries(Object.keys(events).map((dataset) => [dataset, background[dataset] ?? []]));
    const input = { events, earlier, fields, undatedMicros: now.getTime() * 1000 };
    const store = stores.get(name) ?? openForeignStore({ ...deps, organization: orgId }, input);
    stores.set(name, store);
    return store;
  }
  const results: DetectionResult[] = [];
  try {
    for (const detection of detections) {
      const result: DetectionResult = { id: detection.id, fired: [], muted: [], failure: null };
      const own = AbortSignal.any([signal, AbortSignal.timeout(detectionMsMax)]);
      try {
        await rehearseDetection(deps, stage, { detection, result }, own);
      } catch (error) {
        result.failure = toText(error);
      }
      if (signal.aborted) break;
      results.push(own.aborted ? { ...result, failure: 'It took longer than a minute.' } : result);
    }
  } finally {
    for (const store of stores.values()) await (await store).close();
  }
  return { techniques, results };
}

/** What detections are tried on. The events are in files that no other query reads. `openStore` opens those with a name once. */
type Stage = {
  orgId: OrgId;
  onFired?: OnFired | undefined;
  /** Those with events. */
  techniques: RehearsedTechnique[];
  now: Date;
  openStore: (name: string, events: RehearsedTechnique['events']) => Promise<FixtureStore>;
};

const everything = 'all';

/**
 * Tries a detection on each technique as if the others did not happen. A query that looks at each event on its own is run once on the events of all,
 * because their rows are the same, and most find none.
 */
async function rehearseDetection(
  deps: RehearseDeps,
  stage: Stage,
  { detection, result }: { detection: RehearsedDefinition; result: DetectionResult },
  signal: AbortSignal,
): Promise<void> {
  const { orgId, techniques, openStore, onFired } = stage;
  const query = detection.definition.detectionQuery;
  if (isPortableQuery(query)) return;
  const { sources, inspection } = await inspectQuery(deps, orgId, query, signal);
  const isRead = ({ events }: RehearsedTechnique): boolean =>
    sources.some(({ dataset }) => Object.hasOwn(events, dataset));
  const readable = techniques.filter(isRead);
  if (readable.length === 0) return;
  const trial = await openTrial(deps, stage, detection);
  const note = (technique: string, { state, findings }: Outcome): void => {
    if (state) result[state].push(technique);
    if (state === 'fired') onFired?.(technique, findings);
  };
  if (inspection.crossEventPart === null) {
    const { search } = await openStore(everything, mergeEvents(techniques));
    const found = await search(query, { ...trial.window, clock: 'event' }, searchLimits, signal);
    const byTechnique = Map.groupBy(found.rows, ({ _id: id }) =>
      typeof id === 'string' ? readTechnique(id) : undefined,
    );
    if (!byTechnique.has(undefined)) {
      for (const [technique, rows] of byTechnique) {
        const own = { ...found, rows, total: rows.length };
        note(technique!, await tryDetection(deps, trial, () => Promise.resolve(own), signal));
      }
      return;
    }
  }
  for (const { technique, events } of readable) {
    const { search } = await openStore(technique, events);
    note(technique, await tryDetection(deps, trial, search, signal));
  }
}

const mergeEvents = (techniques: readonly RehearsedTechnique[]): RehearsedTechnique['events'] => {
  const lists = techniques.flatMap(({ events }) => Object.entries(events));
  const byDataset = Map.groupBy(lists, ([dataset]) => dataset);
  return Object.fromEntries([...byDataset].map(([dataset, entries]) => [dataset, entries.flatMap(([, list]) => list)]));
};

type Trial = RehearsedDefinition & {
  orgId: OrgId;
  now: Date;
  window: TimeRange;
  mutes: Awaited<ReturnType<typeof loadMutes>>;
};

async function openTrial(deps: RehearseDeps, { orgId, now }: Stage, detection: RehearsedDefinition): Promise<Trial> {
  const { tuning, cronSchedule } = detection.definition;
  const scope = { listNames: tuning?.allowLists ?? [], candidates: [{ windowTo: now }] };
  const mutes = await inOrg(deps.db, orgId, (tx) => loadMutes(tx, { orgId, detectionId: detection.id }, scope));
  const lengthMs = Math.max(hourMs, cronSchedule === null ? 0 : slotIntervalMs(cronSchedule));
  return { ...detection, orgId, now, mutes, window: { from: new Date(now.getTime() - lengthMs), to: now } };
}

/** `findings` are those of which a hit would be raised. */
type Outcome = { state: 'fired' | 'muted' | undefined; findings: ExceptionSubject[] };

/** Returns whether a detection would raise a hit, or would if nothing muted it. */
async function tryDetection(
  deps: RehearseDeps,
  { orgId, id, definition, mutes, window, now }: Trial,
  search: SiemConnection['search'],
  signal: AbortSignal,
): Promise<Outcome> {
  const connection = { ...testConnection, search };
  const run = createTrialRun(
    { orgId, detectionId: id, definition },
    { connection, clock: 'event', model: 'analyst', at: now },
  );
  const { windows } = await runSimulation({
    run,
    connection,
    past: [],
    windows: [window],
    now: new Date(now.getTime() + 1),
    signal,
    mutes,
    ruleLists: await runStep(run, readRuleLists(deps, run)),
    recall: async (prepared) => (await recallPast(deps, run, prepared)).past,
  });
  const outcomes = windows.flatMap(({ resolutions }) => resolutions);
  const raised = outcomes.filter((one) => one.outcome === 'judged' && one.verdict.triggered);
  const isMuted = outcomes.some(({ outcome }) => outcome === 'excepted' || outcome === 'allowed');
  const state = raised.length > 0 ? 'fired' : isMuted ? 'muted' : undefined;
  return { state, findings: raised.map(({ candidate }) => candidate) };
}

const failureCharsMax = 500;
const toText = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, failureCharsMax);
