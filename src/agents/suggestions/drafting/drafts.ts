import type { Delimit } from '../../../platform/models/delimit.ts';
import { ModelError } from '../../../platform/models/model-error.ts';
import type { ModelRef } from '../../../platform/models/models.ts';
import type { WorkTask } from '../../built-in-agent.ts';
import { inOrg } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import type { Estimate } from '../../../detection/detections/record/detection.schema.ts';
import type { FeedItem } from '../../../feed/model/item.schema.ts';
import { AppError } from '../../../platform/lib/errors.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { Draft } from '../draft.ts';
import type { Dataset } from './log-datasets.ts';
import { draftByModel, type ModelDraft } from './model-draft.ts';
import { withSource, type Proposal } from '../proposal.ts';
import { openPurse } from '../agent-spend.ts';
import { listAskedItems } from '../../threat-research/research.store.ts';
import { listTargets, type Target } from './target.ts';

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

/**
 * Detections that a model writes for the newest items it was not asked about yet, three of one run at most; only those that run, on the
 * organization's logs or, where none of these fit, on a SIEM that is connected.
 */
export async function fromModel(
  deps: Deps,
  {
    task,
    caller,
    items,
    datasets,
  }: { task: WorkTask; caller: Caller; items: FeedItem[]; datasets: readonly Dataset[] },
): Promise<Drafts> {
  const { model, askedItems, prompt, signal } = task;
  const drafts: Drafts = { proposals: [], dropped: [], failure: null };
  if (!model) return drafts;
  const since = new Date(deps.clock().getTime() - askedDays * dayMs);
  const asked = await inOrg(deps.db, task.orgId, (tx) => listAskedItems(tx, task, since));
  const open = items.filter(
    (item) => !asked.has(item.id) && mayRead(model, item) && item.provenance.supportingPassages.length > 0,
  );
  const targets = open.length > 0 ? await listTargets(deps, caller, datasets) : [];
  if (targets.length === 0) return drafts;
  const purse = openPurse(deps, { ...task, keepsSteps: true }, model);
  for (const item of open.slice(0, asksMax)) {
    if (signal.aborted) break;
    const ask = ({ wrap }: Delimit): string =>
      `Write one detection for the behaviour that this report describes.\n${wrap(textOf(item))}`;
    const drafting = { model, purse, prompt, signal, about: item.id, ask };
    try {
      const found = await firstDraft(targets, (target) => draftByModel(deps, caller, { ...drafting, target }));
      // One for which nothing ran had its try: the next run asks about another item.
      askedItems.push(item.id);
      if ('reason' in found) drafts.dropped.push({ name: item.event.title, reason: found.reason });
      else drafts.proposals.push({ ...proposalOf(found.draft, item, model), estimate: found.estimate });
    } catch (error) {
      if (error instanceof ModelError) {
        const { kind, message } = error.failure;
        return { ...drafts, failure: { kind, message } };
      }
      askedItems.push(item.id);
      throw error;
    }
  }
  return drafts;
}

/** The draft for the first target that it runs on; `reason`: why it did not on the last. Throws what would end every other try too. */
async function firstDraft(
  targets: readonly Target[],
  draft: (target: Target) => Promise<ModelDraft>,
): Promise<ModelDraft | { reason: string }> {
  let reason = '';
  for (const target of targets)
    try {
      return await draft(target);
    } catch (error) {
      if (!isOfOneDraft(error)) throw error;
      reason = error.message;
    }
  return { reason };
}

/** A draft that will not do, or a SIEM that did not answer to it. */
const isOfOneDraft = (error: unknown): error is Error =>
  error instanceof ModelError
    ? error.failure.kind === 'invalid_draft' || error.failure.kind === 'model_refused'
    : error instanceof AppError && error.code === 'unavailable';

function proposalOf(draft: Draft, item: FeedItem, model: ModelRef): Proposal {
  const keyed = { ...draft, key: `draft:${item.canonicalKey}` };
  const reason = `Drafted by ${model.name} for the behaviour reported in`;
  return withSource(keyed, item, reason, evidenceOf(item, draft.technique));
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
