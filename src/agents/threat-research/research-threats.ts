import { inOrg } from '../../platform/db/db.ts';
import { type CreateDetectionDeps, createSuggestion } from '../../detection/detections/create-detection.ts';
import type { AgentTaskResult, AgentTask } from '../built-in-agent.ts';
import type { Estimate } from '../../detection/detections/record/detection.schema.ts';
import { applyOverride } from '../../feed/items/snapshot/apply-overrides.ts';
import { listCurrentOverrides } from '../../feed/items/snapshot/override-rows.store.ts';
import { readOrgState } from '../../feed/items/snapshot/org-state.store.ts';
import { startOfHour, updateExpiry } from '../../feed/model/expiry.ts';
import { markFalsePositives } from '../../feed/indicators/indicators.store.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { listDatasets } from '../../detection/log-query/datasets/list-datasets.ts';
import type { ConvertDeps } from '../../detection/sigma/convert/convert-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { draftFromReports } from '../suggestions/drafting/draft-from-reports.ts';
import { proposeForIndicators, proposeForTechniques } from '../suggestions/drafting/propose-detections.ts';
import type { LogDataset } from '../suggestions/log-kinds.ts';
import { type Proposal, validateDraft, type ValidateDraftDeps } from '../suggestions/draft.ts';
import { proposeForRules } from '../suggestions/report-rules.ts';
import { listKnownDetections, listRecentItems, listRuleTexts } from './research.store.ts';

export type ResearchDeps = ConvertDeps & ValidateDraftDeps & CreateDetectionDeps;

const dayMs = 86_400_000;
const itemDays = 30;
const itemsMax = 500;
const duplicateDays = 90;
/** Per run, so that an analyst can read them all. */
const suggestionsMax = 5;
const validationsMax = 50;
/** Their rules are converted in each run. */
const ruleItemsMax = 20;

type ResearchRun = {
  deps: ResearchDeps;
  task: AgentTask;
  caller: Caller;
  /** IDs of the new suggestions. */
  suggestions: string[];
  dropped: { name: string; reason: string }[];
};

/**
 * Suggests detections for the feed items of the last 30 days, relevant ones first, newest first among each: model-written drafts if a model is
 * configured, Sigma rules that the items print, shipped detections and query templates for techniques, and queries for indicators. Every
 * suggestion runs on the organization's logs or a connected SIEM and has a noise estimate. Skips detections that exist or were deleted or
 * dismissed within 90 days.
 */
export async function researchThreats(deps: ResearchDeps, task: AgentTask): Promise<AgentTaskResult> {
  const { orgId } = task;
  const caller: Caller = { orgId, keyId: null, scopes: new Set(), expiresAt: null };
  const run: ResearchRun = { deps, task, caller, suggestions: [], dropped: [] };
  const { datasets } = await listDatasets(deps, orgId);
  const items = await readRecentItems(deps, task);
  const drafts = await draftFromReports(deps, { task, caller, items, datasets });
  run.dropped.push(...drafts.dropped);
  for (const { estimate, ...proposal } of drafts.proposals) await storeSuggestion(run, proposal, estimate);
  const proposals = await listNewProposals(run, items, datasets);
  for (const proposal of proposals.slice(0, validationsMax)) {
    if (run.suggestions.length >= suggestionsMax || task.signal.aborted) break;
    await suggestIfValid(run, proposal);
  }
  const { suggestions, dropped } = run;
  const counts = { items: items.length, proposals: proposals.length + drafts.proposals.length };
  return {
    outcome: { ...counts, suggestions, dropped, ...(drafts.failure ? { modelFailure: drafts.failure } : {}) },
    triggered: suggestions.length > 0,
  };
}

/** Returns recent items, relevant ones first, with the organization's overrides applied. */
async function readRecentItems(deps: Pick<ResearchDeps, 'db' | 'clock'>, { orgId }: AgentTask): Promise<FeedItem[]> {
  const since = new Date(deps.clock().getTime() - itemDays * dayMs);
  return inOrg(deps.db, orgId, async (tx) => {
    const orgState = await readOrgState(tx);
    const docs = await listRecentItems(tx, orgId, { orgState, since, limit: itemsMax });
    const items = docs.map((doc) => JSON.parse(doc) as FeedItem);
    // An indicator that was active when the item was written may have expired since.
    for (const item of items) updateExpiry(item, startOfHour(deps.clock()));
    await markFalsePositives(tx, items);
    const ids = items.map(({ id }) => id);
    const overrides = await listCurrentOverrides(tx, ids);
    return items.map((item) => applyOverride(item, overrides.get(item.id)));
  });
}

/** Returns one proposal per key, from the first item that leads to it. Leaves out those that the organization already knows. */
async function listNewProposals(
  { deps, task }: ResearchRun,
  items: FeedItem[],
  datasets: LogDataset[],
): Promise<Proposal[]> {
  const ruleProposals = await proposeForPrintedRules(deps, task, items);
  const all = items.flatMap((item) => [
    ...(ruleProposals.get(item.id) ?? []),
    ...proposeForTechniques(item, datasets),
    ...proposeForIndicators(item, datasets),
  ]);
  const proposals = [...new Map(all.toReversed().map((one) => [one.key, one])).values()].toReversed();
  const since = new Date(deps.clock().getTime() - duplicateDays * dayMs);
  const known = await inOrg(deps.db, task.orgId, (tx) => listKnownDetections(tx, task.orgId, since));
  return proposals.filter(({ key, body }) => !known.keys.has(key) && !known.queries.has(body.detectionQuery));
}

/** Returns proposals for the Sigma rules that items print, by item. */
async function proposeForPrintedRules(
  deps: ResearchDeps,
  { orgId, signal }: AgentTask,
  items: FeedItem[],
): Promise<Map<string, Proposal[]>> {
  const itemById = new Map(items.map((item) => [item.id, item]));
  const texts = await inOrg(deps.db, orgId, (tx) => listRuleTexts(tx, [...itemById.keys()], ruleItemsMax));
  const proposals = new Map<string, Proposal[]>();
  for (const { itemId, text } of texts) {
    if (signal.aborted) break;
    proposals.set(itemId, await proposeForRules(deps, orgId, { item: itemById.get(itemId)!, text }));
  }
  return proposals;
}

async function suggestIfValid(run: ResearchRun, proposal: Proposal): Promise<void> {
  const validation = await validateDraft(run.deps, run.caller, proposal);
  if ('reason' in validation) run.dropped.push({ name: proposal.body.name, reason: validation.reason });
  else await storeSuggestion(run, proposal, validation.estimate);
}

async function storeSuggestion(run: ResearchRun, proposal: Proposal, estimate: Estimate): Promise<void> {
  const { deps, caller, suggestions, dropped } = run;
  const { key, body, tests, technique, rationale, sourceItemIds, evidence } = proposal;
  const input = { ...body, rationale, sourceItemIds, evidence, ...(technique === null ? {} : { technique }) };
  try {
    const { id } = await createSuggestion(deps, caller, input, { proposal: { key, tests, estimate } });
    suggestions.push(id);
  } catch (error) {
    // A duplicate was dismissed.
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    dropped.push({ name: body.name, reason: error.message });
  }
}
