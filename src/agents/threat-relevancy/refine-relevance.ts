import { type AgentTaskResult, type AgentTask, createAgentSpendMeter } from '../built-in-agent.ts';
import { canModelRead } from '../../feed/reading/read-with-model.ts';
import { ModelError } from '../../platform/models/model-error.ts';
import type { ConfiguredModel } from '../../platform/models/models.ts';
import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { confirmsIrrelevance, requestRelevanceVerdict, type VerdictRequest } from './request-verdict.ts';
import { listOpenItems, listOpenRelevantItems, type RelevanceVerdict, saveJudgmentRow } from './judgments.store.ts';
import { isEmptyProfile, type Profile } from '../../feed/relevance/profile.schema.ts';
import type { SnapshotCache } from '../../feed/items/snapshot/snapshot.ts';
import { parseProfile, withOwnPoolLocked } from '../../feed/relevance/profile.ts';
import { findProfile, type ProfileRow } from '../../feed/relevance/relevance.store.ts';
import { scoreItem, createMatcher } from '../../feed/relevance/score.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { clearOutdatedModelVerdicts, insertModelVerdict } from '../../feed/items/writing/overrides.store.ts';
import { notifyRelevantItems } from '../../feed/relevance/score-items.ts';

export type RefineRelevanceDeps = { db: Db; clock: Clock; snapshots: SnapshotCache };

const dayMs = 86_400_000;
const itemDays = 30;
const relevantMax = 100;
const newestMax = 500;
const judgedMax = 10;
/** Items with a score this far below the threshold are judged too, since the rules can miss something. */
const thresholdMargin = 0.15;

/** `notifyIfRelevant` is true for an item below the threshold that was never judged before. */
type ItemToJudge = { item: FeedItem; notifyIfRelevant: boolean };
type JudgmentOutcome = {
  relevant: string[];
  irrelevant: string[];
  dropped: { name: string; reason: string }[];
  modelFailure?: { kind: string; message: string };
};

/**
 * Lets the model judge the newest items that the rules score as relevant or close to it: at most ten per run, and once for each version of the
 * item and the profile. First withdraws verdicts on other versions. Without a profile or a model it judges nothing and sets `note`.
 */
export async function refineRelevance(deps: RefineRelevanceDeps, task: AgentTask): Promise<AgentTaskResult> {
  const { model, orgId } = task;
  const stored = await inOrg(deps.db, orgId, (tx) => findProfile(tx, orgId));
  const [profile, version] = [parseProfile(stored), stored?.version ?? 0];
  const takenBack = await withdrawOutdatedVerdicts(deps, orgId, version);
  const hasProfile = stored !== undefined && !isEmptyProfile(profile);
  const candidates = hasProfile ? await listItemsToJudge(deps, orgId, stored) : [];
  const readable = model ? candidates.filter(({ item }) => canModelRead(model, item)) : [];
  const outcome: JudgmentOutcome = { relevant: [], irrelevant: [], dropped: [] };
  if (model) await judgeItems(deps, { task, model, profile, version, items: readable.slice(0, judgedMax) }, outcome);
  deps.snapshots.invalidate();
  const counts = {
    candidates: candidates.length,
    withheld: model ? candidates.length - readable.length : 0,
    takenBack,
  };
  const note = findNote(profile, model);
  return {
    outcome: { ...counts, ...outcome, ...(note ? { note } : {}) },
    triggered: outcome.relevant.length + outcome.irrelevant.length > 0,
  };
}

function findNote(profile: Profile, model: ConfiguredModel | undefined): 'no_profile' | 'no_model' | undefined {
  if (isEmptyProfile(profile)) return 'no_profile';
  return model ? undefined : 'no_model';
}

async function listItemsToJudge(deps: RefineRelevanceDeps, orgId: OrgId, stored: ProfileRow): Promise<ItemToJudge[]> {
  const since = new Date(deps.clock().getTime() - itemDays * dayMs);
  const query = { orgId, version: stored.version, builtVersion: stored.built_version, since };
  const openItems = await inOrg(deps.db, orgId, async (tx) => [
    ...(await listOpenRelevantItems(tx, query, relevantMax)),
    ...(await listOpenItems(tx, query, newestMax)),
  ]);
  const profile = parseProfile(stored);
  const matcher = createMatcher(profile);
  const items = openItems.flatMap(({ doc, wasJudgedBefore }): ItemToJudge[] => {
    const item = JSON.parse(doc) as FeedItem;
    const { score } = scoreItem(matcher, item);
    const isClose = score > 0 && score >= profile.threshold - thresholdMargin;
    if (!isClose || item.provenance.supportingPassages.length === 0) return [];
    return [{ item, notifyIfRelevant: !wasJudgedBefore && score < profile.threshold }];
  });
  return [...new Map(items.map((one) => [one.item.id, one])).values()];
}

type JudgeItemsInput = {
  task: AgentTask;
  model: ConfiguredModel;
  profile: Profile;
  /** The version of the profile. */
  version: number;
  items: ItemToJudge[];
};

/** Judges the items in order and adds the results to `outcome`. Stops at a model failure that would affect every item. */
async function judgeItems(deps: RefineRelevanceDeps, input: JudgeItemsInput, outcome: JudgmentOutcome): Promise<void> {
  const { task, model, profile, version, items } = input;
  const { prompt, signal } = task;
  const meter = createAgentSpendMeter(deps, { ...task, storesSteps: true }, model);
  for (const { item, notifyIfRelevant } of items) {
    if (signal.aborted) break;
    const name = item.event.title;
    const save = (verdict: RelevanceVerdict | null) =>
      saveJudgment(deps, { item, notifyIfRelevant, orgId: task.orgId, profileVersion: version, verdict });
    try {
      const request = { model, ...meter, prompt, signal };
      const verdict = await requestRelevanceVerdict(item, profile, request);
      task.promptedItemIds.push(item.id);
      const problem = await findVerdictProblem(item, profile, verdict, request);
      const wasApplied = await save(problem === null ? verdict : null);
      if (wasApplied) outcome[verdict.verdict].push(item.id);
      else outcome.dropped.push({ name, reason: problem ?? supersededReason });
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const { kind, message } = error.failure;
      if (kind !== 'invalid_draft' && kind !== 'model_refused') {
        outcome.modelFailure = { kind, message };
        return;
      }
      // An item without a usable verdict counts as judged, so that the next run tries another item.
      task.promptedItemIds.push(item.id);
      await save(null);
      outcome.dropped.push({ name, reason: message });
    }
  }
}

/**
 * Returns why a verdict cannot be used, or null. Text of an item may persuade a model that the item is irrelevant, so that such a verdict counts only if
 * the model comes to it again from the names that the item is filed under.
 */
async function findVerdictProblem(
  item: FeedItem,
  profile: Profile,
  verdict: RelevanceVerdict,
  request: VerdictRequest,
): Promise<string | null> {
  if (verdict.reasons.length === 0) return unverifiedReason;
  if (verdict.verdict === 'relevant' || (await confirmsIrrelevance(item, profile, request))) return null;
  return unconfirmedReason;
}

const supersededReason = 'The item, the profile, or its relevance changed during the judgment.';
const unconfirmedReason =
  'The model did not call it irrelevant by the names that it is filed under, so the rules alone decide its relevance.';
const unverifiedReason = 'No reason could be verified.';

type SaveJudgmentDeps = { db: Db; clock: Clock };

type JudgmentInput = {
  orgId: OrgId;
  item: FeedItem;
  profileVersion: number;
  /** Whether to notify the organization if the item is judged relevant. */
  notifyIfRelevant: boolean;
  /** Null if the model gave no verdict with a verified reason. */
  verdict: RelevanceVerdict | null;
};

/**
 * Records a judgment and applies its verdict. Returns false if the verdict was not applied: an analyst or a sighting decided the item's
 * relevance, or the item or the profile changed in the meantime.
 */
async function saveJudgment({ db, clock }: SaveJudgmentDeps, input: JudgmentInput): Promise<boolean> {
  const { orgId, item, profileVersion, notifyIfRelevant, verdict } = input;
  const judgment = { orgId, itemId: item.id, itemVersion: item.version, profileVersion, at: clock() };
  let wasApplied = false;
  await inOrg(db, orgId, (tx) =>
    withOwnPoolLocked(tx, orgId, async () => {
      wasApplied = false;
      const isCurrent = await saveJudgmentRow(tx, judgment);
      if (!isCurrent || verdict === null) return false;
      wasApplied = await insertModelVerdict(tx, { orgId, itemId: item.id, ...verdict, at: judgment.at });
      if (!wasApplied) return false;
      const after = { relevance: verdict.verdict, relevance_by: 'threat-relevancy', reasons: verdict.reasons };
      await insertAudit(tx, { orgId, keyId: null }, { ...auditAction, resourceId: item.id, before: null, after });
      if (notifyIfRelevant && verdict.verdict === 'relevant')
        await notifyRelevantItems(tx, orgId, [{ item, relevance: { score: 1, reasons: verdict.reasons } }]);
      return true;
    }),
  );
  return wasApplied;
}

const auditAction = { action: 'item.overridden', resourceType: 'item' };

/** Withdraws verdicts on other versions of an item or of the profile. Returns the number of affected items. */
async function withdrawOutdatedVerdicts(
  { db, clock }: SaveJudgmentDeps,
  orgId: OrgId,
  profileVersion: number,
): Promise<number> {
  let itemIds: string[] = [];
  await inOrg(db, orgId, (tx) =>
    withOwnPoolLocked(tx, orgId, async () => {
      itemIds = await clearOutdatedModelVerdicts(tx, orgId, profileVersion, clock());
      for (const resourceId of itemIds)
        await insertAudit(tx, { orgId, keyId: null }, { ...auditAction, resourceId, before: null, after: null });
      return itemIds.length > 0;
    }),
  );
  return itemIds.length;
}
