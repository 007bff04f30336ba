import type { Delimiter } from '../../../platform/models/ask-model.ts';
import { ModelError } from '../../../platform/models/model-error.ts';
import type { ConfiguredModel } from '../../../platform/models/models.ts';
import { type AgentTask, createAgentSpendMeter } from '../../built-in-agent.ts';
import { canModelRead } from '../../../feed/reading/read-with-model.ts';
import { inOrg } from '../../../platform/db/db.ts';
import type { Estimate } from '../../../detection/detections/record/detection.schema.ts';
import { findTechnique } from '../../../feed/reference-data/attack.ts';
import type { FeedItem } from '../../../feed/model/item.schema.ts';
import { AppError } from '../../../platform/lib/errors.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { type DetectionDraft, toProposal, type Proposal, type ValidateDraftDeps } from '../draft.ts';
import type { LogDataset } from '../log-kinds.ts';
import { draftWithModel, type ModelDraft } from './draft-with-model.ts';
import { listItemsSentToModel } from '../drafting-agent.store.ts';
import { listDraftTargets, type DraftTarget } from './draft-targets.ts';

const itemsMax = 3;
const sentDays = 30;
const dayMs = 86_400_000;
const passagesMax = 20;
const passageMaxChars = 1_000;
const reportMaxChars = 20_000;

export type ReportDrafts = {
  proposals: (Proposal & { estimate: Estimate })[];
  dropped: { name: string; reason: string }[];
  /** The model failure that stopped the drafting, if any. */
  failure: { kind: string; message: string } | null;
};

type ReportDraftInput = { task: AgentTask; caller: Caller; items: FeedItem[]; datasets: readonly LogDataset[] };

/**
 * Lets the model write detections for the newest items that were not sent to it in the last 30 days, at most three per run. Keeps drafts that
 * run on the organization's logs, or on a connected SIEM if no logs fit.
 */
export async function draftFromReports(deps: ValidateDraftDeps, input: ReportDraftInput): Promise<ReportDrafts> {
  const { task, caller, items, datasets } = input;
  const { model, promptedItemIds, prompt, signal } = task;
  const drafts: ReportDrafts = { proposals: [], dropped: [], failure: null };
  if (!model) return drafts;
  const since = new Date(deps.clock().getTime() - sentDays * dayMs);
  const sentIds = await inOrg(deps.db, task.orgId, (tx) => listItemsSentToModel(tx, task, since));
  const unsent = items.filter(
    (item) => !sentIds.has(item.id) && canModelRead(model, item) && item.provenance.supportingPassages.length > 0,
  );
  const targets = unsent.length > 0 ? await listDraftTargets(deps, caller, datasets) : [];
  if (targets.length === 0) return drafts;
  const meter = createAgentSpendMeter(deps, { ...task, storesSteps: true }, model);
  for (const item of unsent.slice(0, itemsMax)) {
    if (signal.aborted) break;
    const renderTask = ({ wrap }: Delimiter): string =>
      `Write one detection for the behavior that this report describes.\n${wrap(renderReport(item))}`;
    const request = { model, meter, prompt, signal, subject: item.id, renderTask };
    try {
      const result = await draftForFirstTarget(targets, (target) =>
        draftWithModel(deps, caller, { ...request, target }),
      );
      // An item without a usable draft counts as sent, so that the next run tries another item.
      promptedItemIds.push(item.id);
      if ('reason' in result) drafts.dropped.push({ name: item.event.title, reason: result.reason });
      else drafts.proposals.push({ ...proposeDraft(result.draft, item, model), estimate: result.estimate });
    } catch (error) {
      if (error instanceof ModelError) {
        const { kind, message } = error.failure;
        return { ...drafts, failure: { kind, message } };
      }
      promptedItemIds.push(item.id);
      throw error;
    }
  }
  return drafts;
}

/**
 * Returns the draft for the first target that it runs on, or the reason of the last target. Throws errors that would affect every other item
 * too, such as an unavailable model.
 */
async function draftForFirstTarget(
  targets: readonly DraftTarget[],
  draft: (target: DraftTarget) => Promise<ModelDraft>,
): Promise<ModelDraft | { reason: string }> {
  let reason = '';
  for (const target of targets)
    try {
      return await draft(target);
    } catch (error) {
      if (!isDraftError(error)) throw error;
      reason = error.message;
    }
  return { reason };
}

/** Returns whether an error concerns one draft only: an unusable draft, or a SIEM that did not answer its query. */
const isDraftError = (error: unknown): error is Error =>
  error instanceof ModelError
    ? error.failure.kind === 'invalid_draft' || error.failure.kind === 'model_refused'
    : error instanceof AppError && error.code === 'unavailable';

function proposeDraft(draft: DetectionDraft, item: FeedItem, model: ConfiguredModel): Proposal {
  // A report can persuade the model, whose instructions to later judges nobody outside may write.
  const body = { ...draft.body, systemPrompt: renderJudgingPrompt(draft.technique) };
  const keyedDraft = { ...draft, body, key: `draft:${item.canonicalKey}` };
  const reason = `Drafted by ${model.name} for the behavior reported in`;
  return toProposal(keyedDraft, item, reason, findEvidenceRef(item, draft.technique));
}

function renderJudgingPrompt(techniqueId: string | null): string {
  const technique = techniqueId === null ? undefined : findTechnique(techniqueId);
  const behavior = technique ? `${technique.name} (${technique.id})` : 'a behavior that a threat report describes';
  return `You judge one case of ${behavior}.
Benign: activity that the organization planned, or that its own tools are known for.
State what was done, by whom, and where. Weigh the evidence for and against an attack, and name the next thing to check.`;
}

function findEvidenceRef({ classification }: FeedItem, technique: string | null): string {
  const attack = classification.attack.find(
    (one) => technique !== null && (one.subTechnique ?? one.technique) === technique,
  );
  return attack?.evidenceRef ?? 'provenance.supportingPassages[0]';
}

function renderReport({ event, summary, abstract, classification, provenance }: FeedItem): string {
  const techniques = classification.attack.map((one) => `${one.subTechnique ?? one.technique} ${one.techniqueName}`);
  const passages = provenance.supportingPassages
    .map(({ text }) => `- ${text.slice(0, passageMaxChars)}`)
    .slice(0, passagesMax);
  return [event.title, summary ?? abstract ?? '', `Techniques: ${techniques.join('; ')}`, 'Passages:', ...passages]
    .join('\n')
    .slice(0, reportMaxChars);
}
