import type { Tx } from '../../../../platform/db/db.ts';
import { startSlices } from '../../../../platform/lib/concurrency/slices.ts';
import { compileAllowList, compileExceptions, namesOfLists, type Exception } from '../../../analysis/exceptions.ts';
import { computeSuppressionKey, decideSuppression, type KnownVerdict } from '../../../analysis/suppression.ts';
import { listActiveExceptions } from '../../../detections/exceptions/exceptions.store.ts';
import { createHitKey } from '../../../hits/hit-key.ts';
import type { DetectionKey } from '../../../scheduling/timeline.ts';
import { readListTests, readValueLists } from '../../../value-lists/value-lists.store.ts';
import type { DetectionTexts, Verdict } from '../../../verdicts/verdict.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import type { StoredCandidate } from '../candidates.store.ts';
import type { Judgment } from '../judge.ts';
import type { Suppression } from './suppressions.store.ts';

/**
 * The outcome of a candidate. `hitKey` is the key of the hit that it creates or joins, `hitId` the hit of an earlier run that
 * it joins.
 */
export type Resolution = SettledResolution | JudgedResolution;

/** A candidate that needs no verdict of its own. `caseId`: it waits with a case that a person reviews, and has no hit yet. */
export type SettledResolution =
  | { candidate: StoredCandidate; outcome: 'occurrence'; hitId: string | null; hitKey: string | null; caseId?: string }
  | { candidate: StoredCandidate; outcome: 'negative' }
  | { candidate: StoredCandidate; outcome: 'excepted'; by: Exception['kind']; exceptionId: string }
  | { candidate: StoredCandidate; outcome: 'allowed'; list: string };

export type JudgedResolution = Judgment & {
  candidate: StoredCandidate;
  outcome: 'judged';
  hitKey: string;
  suppression: NewSuppression | null;
  /** Key of the suppression that the verdict would have if it were decided. Null if there is none. */
  caseKey: string | null;
};

/** `hitKey` identifies a hit of the same batch, which has no ID before it is stored. */
export type NewSuppression = Suppression & { hitKey?: string | null };

/**
 * The settings that a verdict must share with a later candidate to suppress it, and the texts of the detection, from the run that
 * found the candidate.
 */
export type JudgingScope = Pick<ActiveRun, 'detectionId' | 'trigger' | 'model'> & {
  definition: DetectionTexts &
    Pick<
      ActiveRun['definition'],
      'suppressionMinutes' | 'promptVersion' | 'toolNames' | 'skills' | 'structuredOutputSchema' | 'tuning'
    >;
  customInstructions?: string | null;
};

/** Returns the texts of the detection that a verdict on its candidates may repeat. */
export const toDetectionTexts = ({ definition, customInstructions }: JudgingScope): DetectionTexts => ({
  ...definition,
  customInstructions: customInstructions ?? null,
});

export type SettlingContext = {
  getScope: (candidate: StoredCandidate) => JudgingScope;
  /** Stored suppressions by key, the latest first. */
  known: ReadonlyMap<string, readonly NewSuppression[]>;
  /** Finds the active exception or snooze that covers a candidate. */
  findException: (candidate: StoredCandidate) => Exception | undefined;
  /** Finds the first of the named value lists that contains the candidate's entity. */
  findAllowList: (candidate: StoredCandidate, names: readonly string[]) => string | undefined;
  /** Cases that wait for a person, by the key of the suppression. */
  openCases?: ReadonlyMap<string, KnownVerdict & { id: string }>;
};

/** Resolves candidates in order, in slices. A verdict suppresses other candidates of the same batch too. */
export async function resolveCandidates(
  candidates: StoredCandidate[],
  { known, ...context }: SettlingContext,
  getJudgment: (candidate: StoredCandidate) => Judgment | Promise<Judgment>,
): Promise<Resolution[]> {
  const suppressions = new Map(known);
  const resolutions: Resolution[] = [];
  const nextSlice = startSlices();
  for (const candidate of candidates) {
    const pause = nextSlice();
    if (pause) await pause;
    const settled = settleCandidate(candidate, { ...context, known: suppressions });
    const resolution = settled ?? toJudged(candidate, context.getScope(candidate), await getJudgment(candidate));
    if (resolution.outcome === 'judged' && resolution.suppression) addSuppression(suppressions, resolution.suppression);
    resolutions.push(resolution);
  }
  return resolutions;
}

/** Resolves a candidate that an exception, an allow-list or an earlier verdict covers. Returns undefined if it needs a verdict. */
export function settleCandidate(candidate: StoredCandidate, context: SettlingContext): SettledResolution | undefined {
  const exception = context.findException(candidate);
  if (exception) return { candidate, outcome: 'excepted', by: exception.kind, exceptionId: exception.id };
  const list = context.findAllowList(candidate, context.getScope(candidate).definition.tuning?.allowLists ?? []);
  if (list !== undefined) return { candidate, outcome: 'allowed', list };
  const key = findSuppressionKey(context.getScope(candidate), candidate);
  const openCase = key === null ? undefined : context.openCases?.get(key);
  if (openCase && decideSuppression(candidate, openCase) === 'occurrence')
    return { candidate, outcome: 'occurrence', hitId: null, hitKey: null, caseId: openCase.id };
  const known = key === null ? undefined : pickSuppression(candidate.windowTo, context.known.get(key) ?? []);
  switch (decideSuppression(candidate, known)) {
    case 'negative':
      return { candidate, outcome: 'negative' };
    case 'occurrence': {
      const { hitId = null, hitKey = null } = known ?? {};
      return { candidate, outcome: 'occurrence', hitId, hitKey };
    }
    case 'judge':
      return undefined;
  }
}

/** Returns null if nothing is suppressed: the detection disables suppression, or the run is manual. */
export function findSuppressionKey(scope: JudgingScope, candidate: StoredCandidate): string | null {
  const { detectionId, trigger, model, definition } = scope;
  if (definition.suppressionMinutes === 0 || trigger === 'manual') return null;
  return computeSuppressionKey(
    {
      detectionId,
      promptVersion: definition.promptVersion,
      model,
      tools: [...definition.toolNames, ...(definition.skills ?? []).map((name) => `skill ${name}`)],
      schema: definition.structuredOutputSchema === null ? null : JSON.stringify(definition.structuredOutputSchema),
      generation: candidate.generation,
    },
    candidate,
  );
}

/** Adds a suppression to those of its key, in the order of `pickSuppression`. */
export function addSuppression<S extends NewSuppression>(known: Map<string, readonly S[]>, added: S): void {
  const others = (known.get(added.key) ?? []).filter(({ sinceAt }) => sinceAt.getTime() !== added.sinceAt.getTime());
  known.set(
    added.key,
    [...others, added].toSorted((a, b) => b.sinceAt.getTime() - a.sinceAt.getTime()),
  );
}

/**
 * Returns the suppression that applies to a candidate whose window ends at `windowTo`, of those of its key, the latest first. It is the latest
 * that began before. Otherwise a late candidate joins the next hit if it lies before it by no more than the hit's suppression time, so that
 * the same events make the same hits in whatever order they arrive.
 */
export function pickSuppression(windowTo: Date, known: readonly NewSuppression[]): NewSuppression | undefined {
  const before = known.find(({ sinceAt }) => sinceAt <= windowTo);
  if (before && windowTo < before.untilAt) return before;
  const next = known.findLast(({ positive, sinceAt }) => positive && sinceAt > windowTo);
  if (!next) return undefined;
  const reachMs = next.untilAt.getTime() - next.sinceAt.getTime();
  return next.sinceAt.getTime() - windowTo.getTime() < reachMs ? next : undefined;
}

/** Returns whether a verdict leaves the decision to a person. */
export const isHeld = ({ verdict, triggered }: Pick<Verdict, 'verdict' | 'triggered'>): boolean =>
  verdict === 'undecided' && !triggered;

/** Returns the resolution of a candidate with a verdict: its hit, and the suppression of later candidates. A case for a person suppresses nothing. */
export function toJudged(candidate: StoredCandidate, scope: JudgingScope, judgment: Judgment): JudgedResolution {
  const { detectionId, definition } = scope;
  const { triggered } = judgment.verdict;
  const key = findSuppressionKey(scope, candidate);
  const hitKey = createHitKey(detectionId, candidate.entityType, candidate.entity, candidate.kindKey);
  const suppression: NewSuppression | null =
    key === null || isHeld(judgment.verdict)
      ? null
      : {
          key,
          positive: triggered,
          facts: candidate.facts,
          severity: candidate.severity,
          hitId: null,
          hitKey: triggered ? hitKey : null,
          sinceAt: candidate.windowTo,
          untilAt: new Date(candidate.windowTo.getTime() + definition.suppressionMinutes * 60_000),
        };
  return { candidate, outcome: 'judged', ...judgment, hitKey, suppression, caseKey: key };
}

type MuteScope = { listNames: readonly string[]; candidates: readonly Pick<StoredCandidate, 'windowTo'>[] };

/**
 * Returns what mutes candidates of a detection: its exceptions and snoozes, and the value lists that are named. An exception with an end mutes the windows
 * that end before it, whenever they are judged, so that a late run raises the same hits.
 */
export async function loadMutes(
  tx: Tx,
  key: DetectionKey,
  { listNames, candidates }: MuteScope,
): Promise<Pick<SettlingContext, 'findException' | 'findAllowList'> & { missingLists: string[] }> {
  const first = Math.min(...candidates.map(({ windowTo }) => windowTo.getTime()));
  const exceptions = candidates.length === 0 ? [] : await listActiveExceptions(tx, key, new Date(first));
  const tests = await readListTests(tx, key.orgId, exceptions.flatMap(namesOfLists));
  const finders = exceptions.map((exception) => ({ ...exception, find: compileExceptions([exception], tests) }));
  const findException = (candidate: StoredCandidate): Exception | undefined =>
    finders.find(
      ({ expiresAt, find }) => (expiresAt === null || expiresAt > candidate.windowTo) && find(candidate) !== undefined,
    );
  const lists = await readValueLists(tx, key.orgId, listNames);
  return {
    findException,
    findAllowList: createAllowListFinder(lists),
    missingLists: listNames.filter((name) => !lists.has(name)),
  };
}

/** Returns a function that finds the first of the named lists that contains a candidate's entity. */
export function createAllowListFinder(
  lists: ReadonlyMap<string, readonly string[]>,
): (candidate: Pick<StoredCandidate, 'entity'>, names: readonly string[]) => string | undefined {
  const compiled = new Map([...lists].map(([name, values]) => [name, compileAllowList(values)]));
  return ({ entity }, names) => names.find((name) => compiled.get(name)?.(entity));
}
