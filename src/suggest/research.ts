import { inOrg } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import { createSuggestion } from '../detections/create.ts';
import { putTests } from '../detections/tests.ts';
import type { FeedItem } from '../feed/schema.ts';
import { AppError } from '../lib/errors.ts';
import { loop } from '../lib/loop.ts';
import type { OrgId } from '../lib/org-id.ts';
import { listDatasets } from '../logs/datasets.ts';
import type { Caller } from '../orgs/caller.ts';
import { nextSlot } from '../schedule/cron.ts';
import { cronOf } from '../schedule/crons.ts';
import { fromIndicators } from './indicators.ts';
import type { Proposal } from './proposal.ts';
import { claimResearch, knownQueries, listRecentItems, listResearchersAcrossOrgs } from './store.ts';
import { fromTechniques } from './techniques.ts';

export type ResearchDeps = Pick<Deps, 'db' | 'clock' | 'checkQuery' | 'config' | 'log'>;

const dayMs = 86_400_000;
const itemDays = 30;
const itemsMax = 500;
const lookAlikeDays = 90;
/** Of one run: a person has to read them. */
const suggestionsMax = 5;
const triesMax = 50;

/**
 * Suggests detections for what the feed reported in the last 30 days, newest first: shipped detections for its techniques, queries for its
 * indicators. Only what the organization has logs for and what would run; never what it has, had, or dismissed within 90 days. Answers how many.
 */
export async function research(deps: ResearchDeps, orgId: OrgId): Promise<number> {
  const now = deps.clock();
  const caller: Caller = { orgId, keyId: null, scopes: new Set() };
  const { datasets } = await listDatasets(deps, orgId);
  const docs = await inOrg(deps.db, orgId, (tx) =>
    listRecentItems(tx, orgId, { since: new Date(now.getTime() - itemDays * dayMs), limit: itemsMax }),
  );
  const items = docs.map((doc) => JSON.parse(doc) as FeedItem);
  const all = items.flatMap((item) => [...fromTechniques(item, datasets), ...fromIndicators(item, datasets)]);
  // The newest report speaks for the others that name the same.
  const proposals = [...new Map(all.toReversed().map((one) => [one.detectionQuery, one])).values()].toReversed();
  const queries = proposals.map((one) => one.detectionQuery);
  const since = new Date(now.getTime() - lookAlikeDays * dayMs);
  const known = await inOrg(deps.db, orgId, (tx) => knownQueries(tx, orgId, queries, since));
  let made = 0;
  for (const proposal of proposals.filter((one) => !known.has(one.detectionQuery)).slice(0, triesMax)) {
    if (made === suggestionsMax) break;
    if (await suggest(deps, caller, proposal)) made += 1;
  }
  return made;
}

async function suggest(deps: ResearchDeps, caller: Caller, { tests, ...proposal }: Proposal): Promise<boolean> {
  try {
    const { id } = await createSuggestion(deps, caller, proposal, { validate: true, bySuggester: true });
    if (tests) await putTests(deps, caller, id, tests);
    return true;
  } catch (error) {
    // It would not run on these logs, or a look-alike was dismissed.
    if (error instanceof AppError && (error.code === 'check_failed' || error.code === 'conflict')) return false;
    throw error;
  }
}

/** Runs the researchers whose slot has come, each organization's at most once; a new schedule runs at once. Answers how many ran. */
export async function researchDue(deps: ResearchDeps): Promise<number> {
  const now = deps.clock();
  let ran = 0;
  for (const researcher of await listResearchersAcrossOrgs(deps.db)) {
    const { orgId, lastRunAt, cron } = researcher;
    if (cron === null) continue;
    const dueAt = lastRunAt === null ? now : nextSlot(cronOf(cron), lastRunAt);
    if (dueAt === null || dueAt > now) continue;
    if (!(await inOrg(deps.db, orgId, (tx) => claimResearch(tx, researcher, now)))) continue;
    ran += 1;
    // What goes wrong for one organization is not the others' trouble; its next slot tries again.
    await research(deps, orgId).catch((error: unknown) => {
      deps.log.error({ err: error, orgId }, 'threat research failed');
    });
  }
  return ran;
}

const idleMs = 60_000;

/** Runs due researchers until the signal ends it. */
export function researchLoop(deps: ResearchDeps, signal: AbortSignal): Promise<void> {
  return loop({ name: 'research', idleMs, signal, log: deps.log }, async () => {
    await researchDue(deps);
    return false;
  });
}
