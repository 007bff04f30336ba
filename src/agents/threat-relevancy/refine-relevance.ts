import type { WorkDone, WorkTask } from '../built-in-agent.ts';
import { ModelError } from '../../platform/models/model-error.ts';
import type { ModelRef } from '../../platform/models/models.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import { forgetViews } from '../../feed/items/snapshot/snapshot.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { mayRead } from '../suggestions/drafting/drafts.ts';
import { openPurse } from '../suggestions/agent-spend.ts';
import { askVerdict } from './ask-verdict.ts';
import { listOpenNewest, listOpenRelevant, type Word } from './judgments.store.ts';
import { keepWord, takeBack } from './keep-judgment.ts';
import { isEmpty, type Profile } from '../../feed/relevance/profile.schema.ts';
import { profileOf } from '../../feed/relevance/profile.ts';
import { findProfile, type ProfileRow } from '../../feed/relevance/profile.store.ts';
import { scoreItem, toMatcher } from '../../feed/relevance/score.ts';

const dayMs = 86_400_000;
const itemDays = 30;
const relevantMax = 100;
const newestMax = 500;
const asksMax = 10;
/** So far below the threshold the rules may have missed something. */
const nearly = 0.15;

type Candidate = { item: FeedItem; isNews: boolean };
type Outcome = {
  relevant: string[];
  irrelevant: string[];
  dropped: { name: string; reason: string }[];
  modelFailure?: { kind: string; message: string };
};

/**
 * Judges the newest items that the rules call relevant, or nearly so, ten of one run at most and each once for a version of it and of the
 * profile. What it said of other versions is taken back first. Without a profile or a model nothing is judged, and the outcome says so.
 */
export async function refine(deps: Deps, task: WorkTask): Promise<WorkDone> {
  const { model, orgId } = task;
  const stored = await inOrg(deps.db, orgId, (tx) => findProfile(tx, orgId));
  const [profile, version] = [profileOf(stored), stored?.version ?? 0];
  const takenBack = await takeBack(deps, orgId, version);
  const candidates = stored && !isEmpty(profile) ? await findCandidates(deps, orgId, stored) : [];
  const judged: Outcome = { relevant: [], irrelevant: [], dropped: [] };
  const open = model ? candidates.filter(({ item }) => mayRead(model, item)) : [];
  if (model) await judgeAll(deps, { task, model, profile, version, open: open.slice(0, asksMax) }, judged);
  forgetViews(deps.db);
  const note = isEmpty(profile) ? 'no_profile' : model ? undefined : 'no_model';
  const figures = { candidates: candidates.length, withheld: model ? candidates.length - open.length : 0, takenBack };
  return {
    outcome: { ...figures, ...judged, ...(note ? { note } : {}) },
    triggered: judged.relevant.length + judged.irrelevant.length > 0,
  };
}

async function findCandidates(deps: Deps, orgId: OrgId, stored: ProfileRow): Promise<Candidate[]> {
  const since = new Date(deps.clock().getTime() - itemDays * dayMs);
  const open = { orgId, version: stored.version, builtVersion: stored.built_version, since };
  const found = await inOrg(deps.db, orgId, async (tx) => [
    ...(await listOpenRelevant(tx, open, relevantMax)),
    ...(await listOpenNewest(tx, open, newestMax)),
  ]);
  const profile = profileOf(stored);
  const matcher = toMatcher(profile);
  const near = found.flatMap(({ doc, isKnown }): Candidate[] => {
    const item = JSON.parse(doc) as FeedItem;
    const { score } = scoreItem(matcher, item);
    const isNear = score > 0 && score >= profile.threshold - nearly;
    if (!isNear || item.provenance.supportingPassages.length === 0) return [];
    return [{ item, isNews: !isKnown && score < profile.threshold }];
  });
  return [...new Map(near.map((one) => [one.item.id, one])).values()];
}

type Judging = { task: WorkTask; model: ModelRef; profile: Profile; version: number; open: Candidate[] };

async function judgeAll(deps: Deps, judging: Judging, judged: Outcome): Promise<void> {
  const { task, model, profile, version, open } = judging;
  const { prompt, signal } = task;
  const purse = openPurse(deps, { ...task, keepsSteps: true }, model);
  for (const candidate of open) {
    if (signal.aborted) break;
    const { item } = candidate;
    const name = item.event.title;
    const keep = (word: Word | null) => keepWord(deps, { ...candidate, orgId: task.orgId, version, word });
    try {
      const word = await askVerdict(item, profile, { model, ...purse, prompt, signal });
      task.askedItems.push(item.id);
      const kept = await keep(word.reasons.length > 0 ? word : null);
      if (kept) judged[word.verdict].push(item.id);
      else judged.dropped.push({ name, reason: word.reasons.length > 0 ? 'Overtaken meanwhile.' : 'No reason held.' });
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const { kind, message } = error.failure;
      if (kind !== 'invalid_draft' && kind !== 'model_refused') return void (judged.modelFailure = { kind, message });
      // It had its try: the next run asks about another item.
      task.askedItems.push(item.id);
      await keep(null);
      judged.dropped.push({ name, reason: message });
    }
  }
}
