import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import type { WorkDone, WorkTask } from '../built-in-agent.ts';
import type { Estimate } from '../../detection/detections/record/detection.schema.ts';
import { createSuggestion } from '../../detection/detections/suggestions/create-suggestion.ts';
import { asSaid, listSaidNow } from '../../feed/items/overrides/apply-overrides.ts';
import { fullHour, settleIndicators } from '../../feed/model/expiry.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { listDatasets } from '../../detection/logs/catalog/list-datasets.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { fromModel } from '../suggestions/drafting/drafts.ts';
import { fromIndicators } from '../suggestions/drafting/from-indicators.ts';
import type { Dataset } from '../suggestions/drafting/log-datasets.ts';
import type { Proposal } from '../suggestions/proposal.ts';
import { proveDraft } from '../suggestions/prove-draft.ts';
import { listKnown, listRecentItems } from './research.store.ts';
import { fromTechniques } from '../suggestions/drafting/from-techniques.ts';

const dayMs = 86_400_000;
const itemDays = 30;
const itemsMax = 500;
const lookAlikeDays = 90;
/** Of one run: a person has to read them. */
const suggestionsMax = 5;
const triesMax = 50;

type Research = {
  deps: Deps;
  task: WorkTask;
  caller: Caller;
  made: string[];
  dropped: { name: string; reason: string }[];
};

/**
 * Suggests detections for what the feed reported in the last 30 days, newest first: shipped detections and query templates for its
 * techniques, queries for its indicators, and, with a model, what that writes. Only what runs on the organization's logs or a SIEM
 * that is connected, with the noise to expect; never what it has, had, or dismissed within 90 days.
 */
export async function research(deps: Deps, task: WorkTask): Promise<WorkDone> {
  const { orgId } = task;
  const caller: Caller = { orgId, keyId: null, scopes: new Set() };
  const work: Research = { deps, task, caller, made: [], dropped: [] };
  const { datasets } = await listDatasets(deps, orgId);
  const items = await readItems(deps, task);
  const drafts = await fromModel(deps, { task, caller, items, datasets });
  work.dropped.push(...drafts.dropped);
  for (const { estimate, ...proposal } of drafts.proposals) await store(work, proposal, estimate);
  const proposals = await freshProposals(work, items, datasets);
  for (const proposal of proposals.slice(0, triesMax)) {
    if (isFull(work)) break;
    await suggest(work, proposal);
  }
  const { made: suggestions, dropped } = work;
  const found = { items: items.length, proposals: proposals.length + drafts.proposals.length };
  return {
    outcome: { ...found, suggestions, dropped, ...(drafts.failure ? { modelFailure: drafts.failure } : {}) },
    triggered: suggestions.length > 0,
  };
}

const isFull = ({ made, task }: Research): boolean => made.length >= suggestionsMax || task.signal.aborted;

async function readItems(deps: Deps, { orgId }: WorkTask): Promise<FeedItem[]> {
  const since = new Date(deps.clock().getTime() - itemDays * dayMs);
  return inOrg(deps.db, orgId, async (tx) => {
    const docs = await listRecentItems(tx, orgId, { since, limit: itemsMax });
    const items = docs.map((doc) => JSON.parse(doc) as FeedItem);
    // What was active when the item was written may have ended since.
    for (const item of items) settleIndicators(item, fullHour(deps.clock()));
    const ids = items.map(({ id }) => id);
    const said = await listSaidNow(tx, ids);
    return items.map((item) => asSaid(item, said.get(item.id)));
  });
}

async function freshProposals({ deps, task }: Research, items: FeedItem[], datasets: Dataset[]): Promise<Proposal[]> {
  const all = items.flatMap((item) => [...fromTechniques(item, datasets), ...fromIndicators(item, datasets)]);
  // The newest report speaks for the others that name the same.
  const proposals = [...new Map(all.toReversed().map((one) => [one.key, one])).values()].toReversed();
  const since = new Date(deps.clock().getTime() - lookAlikeDays * dayMs);
  const known = await inOrg(deps.db, task.orgId, (tx) => listKnown(tx, task.orgId, since));
  return proposals.filter(({ key, body }) => !known.keys.has(key) && !known.queries.has(body.detectionQuery));
}

/** Makes a suggestion of a proposal that holds. */
async function suggest(work: Research, proposal: Proposal): Promise<void> {
  const proven = await proveDraft(work.deps, work.caller, proposal);
  if ('reason' in proven) work.dropped.push({ name: proposal.body.name, reason: proven.reason });
  else await store(work, proposal, proven.estimate);
}

async function store({ deps, caller, made, dropped }: Research, proposal: Proposal, estimate: Estimate): Promise<void> {
  const { key, body, tests, technique, rationale, sourceItemIds, evidence } = proposal;
  const input = { ...body, rationale, sourceItemIds, evidence, ...(technique === null ? {} : { technique }) };
  try {
    const { id } = await createSuggestion(deps, caller, input, { proposed: { key, tests, estimate } });
    made.push(id);
  } catch (error) {
    // A look-alike was dismissed.
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    dropped.push({ name: body.name, reason: error.message });
  }
}
