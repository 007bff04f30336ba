import { ModelError } from '../agent/model-error.ts';
import type { ModelRef } from '../agent/models.ts';
import type { WorkTask } from '../agent/built-in-work.ts';
import { inOrg } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import type { Estimate } from '../detections/schema.ts';
import type { FeedItem } from '../feed/schema.ts';
import type { Caller } from '../orgs/caller.ts';
import { draftByModel } from './model-draft.ts';
import { withSource, type Proposal } from './proposal.ts';
import { openPurse } from './purse.ts';
import { listAskedItems } from './store.ts';
import type { Target } from './target.ts';

const asksMax = 3;
const askedDays = 30;
const dayMs = 86_400_000;
/** Texts that a recipient may not pass on (TLP 2.0): they go to models on machines of one's own only. */
const ownMachinesOnly: readonly string[] = ['AMBER+STRICT', 'RED'];

export type Drafts = {
  proposals: (Proposal & { estimate: Estimate })[];
  dropped: { name: string; reason: string }[];
  /** Why the model was not asked for more. */
  failure: { kind: string; message: string } | null;
};

/** Detections that a model writes for the newest items it was not asked about yet, three of one run at most; only those that run. */
export async function fromModel(
  deps: Deps,
  { task, caller, items, target }: { task: WorkTask; caller: Caller; items: FeedItem[]; target: Target },
): Promise<Drafts> {
  const { model, askedItems } = task;
  const drafts: Drafts = { proposals: [], dropped: [], failure: null };
  if (!model || target.datasets.length === 0) return drafts;
  const since = new Date(deps.clock().getTime() - askedDays * dayMs);
  const asked = await inOrg(deps.db, task.orgId, (tx) => listAskedItems(tx, task, since));
  const purse = openPurse(deps, { ...task, keepsSteps: true }, model);
  const open = items.filter(
    (item) => !asked.has(item.id) && mayRead(model, item) && item.provenance.supportingPassages.length > 0,
  );
  for (const item of open.slice(0, asksMax)) {
    if (task.signal.aborted) break;
    try {
      const drafting = { model, purse, prompt: task.prompt, target, signal: task.signal };
      const found = await draftByModel(deps, caller, {
        ...drafting,
        about: item.id,
        ask: ({ wrap }) => `Write one detection for the behaviour that this report describes.\n${wrap(textOf(item))}`,
      });
      askedItems.push(item.id);
      const draft = { ...found.draft, key: `draft:${item.canonicalKey}` };
      const reason = `Drafted by ${model.name} for the behaviour reported in`;
      drafts.proposals.push({
        ...withSource(draft, item, reason, evidenceOf(item, draft.technique)),
        estimate: found.estimate,
      });
    } catch (error) {
      if (!(error instanceof ModelError)) {
        askedItems.push(item.id);
        throw error;
      }
      const { kind, message } = error.failure;
      if (kind !== 'invalid_draft' && kind !== 'model_refused') return { ...drafts, failure: { kind, message } };
      // It had its try: the next run asks about another item.
      askedItems.push(item.id);
      drafts.dropped.push({ name: item.event.title, reason: message });
    }
  }
  return drafts;
}

export const mayRead = ({ entry }: ModelRef, item: FeedItem): boolean =>
  entry.local || !ownMachinesOnly.includes(item.source.tlp);

function evidenceOf({ classification }: FeedItem, technique: string | null): string {
  const found = classification.attack.find(
    (one) => technique !== null && (one.subTechnique ?? one.technique) === technique,
  );
  return found?.evidenceRef ?? 'provenance.supportingPassages[0]';
}

function textOf({ event, summary, abstract, classification, provenance }: FeedItem): string {
  const techniques = classification.attack.map((one) => `${one.subTechnique ?? one.technique} ${one.techniqueName}`);
  const passages = provenance.supportingPassages.map(({ text }) => `- ${text.slice(0, 1000)}`).slice(0, 20);
  return [event.title, summary ?? abstract ?? '', `Techniques: ${techniques.join('; ')}`, 'Passages:', ...passages]
    .join('\n')
    .slice(0, 20_000);
}
