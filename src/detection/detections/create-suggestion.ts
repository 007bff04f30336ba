import { inOrg, type Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { checkCanRun } from './check-detection.ts';
import { toNewAgentView, type CreateDetectionDeps } from './create-detection.ts';
import { emitDetections, findLookAlike, insertAgents, storeQueryWarnings } from './detections.store.ts';
import { withQueryWarnings } from './record/warnings.ts';
import { checkModelAlias, buildAgent } from './record/build-detection.ts';
import type { CreateSuggestion } from './record/detection-input.schema.ts';
import { toRecord } from './record/detection-record.ts';
import { type AgentWithPrompt, suggestionFingerprint } from './record/detection-row.ts';
import type { Detection, Estimate } from './record/detection.schema.ts';
import type { TestCase } from './test-cases.schema.ts';
import { storeTestsSql } from './test-cases.store.ts';

const lookAlikeDays = 90;
const dayMs = 86_400_000;

/** The data that threat research adds to a suggestion. Suggestions with the same `key` are look-alikes, even if their texts differ. */
export type ResearchProposal = { key: string; estimate: Estimate | null; tests: TestCase[] };

/**
 * Creates an open suggestion, which runs once it is accepted. A suggestion with a `proposal` is refused with 409 if a
 * look-alike exists, or was dismissed or deleted within 90 days of slot time. People may suggest anything.
 */
export async function createSuggestion(
  deps: CreateDetectionDeps,
  caller: Caller,
  input: CreateSuggestion,
  { validate = false, proposal }: { validate?: boolean; proposal?: ResearchProposal } = {},
): Promise<Detection> {
  checkModelAlias(deps.models, input.modelAlias);
  const now = deps.clock();
  const detection = buildAgent(caller, input, now);
  const agent = {
    ...detection,
    is_suggestion: true,
    rationale: input.rationale ?? '',
    source_item_ids: input.sourceItemIds ?? [],
    technique: input.technique ?? null,
    evidence: JSON.stringify(input.evidence ?? []),
    estimate: proposal?.estimate ? JSON.stringify(proposal.estimate) : null,
    suggestion_fingerprint: suggestionFingerprint(detection),
    suggestion_key: proposal?.key ?? null,
  } satisfies AgentWithPrompt;
  const view = await inOrg(deps.db, caller.orgId, (tx) => toNewAgentView(tx, caller.orgId, agent));
  const warnings = validate ? await checkCanRun(deps, caller.orgId, view) : [];
  const record = toRecord(withQueryWarnings(view, warnings));
  await inOrg(deps.db, caller.orgId, async (tx) => {
    if (proposal)
      await refuseLookAlike(tx, caller, { fingerprint: agent.suggestion_fingerprint, key: proposal.key, now });
    await insertAgents(tx, caller, [{ agent, action: 'suggestion.created', record }]);
    if (warnings.length > 0)
      await storeQueryWarnings(tx, { orgId: caller.orgId, detectionId: agent.id }, { revision: 1, warnings });
    if (proposal && proposal.tests.length > 0)
      await storeTestsSql({ orgId: caller.orgId, detectionId: agent.id }, { tests: proposal.tests }, now).execute(tx);
    await emitDetections(tx, 'suggestion.created', [record]);
  });
  return record;
}

async function refuseLookAlike(
  tx: Tx,
  { orgId }: Caller,
  { fingerprint, key, now }: { fingerprint: string; key: string; now: Date },
): Promise<void> {
  const since = new Date(now.getTime() - lookAlikeDays * dayMs);
  const lookAlike = await findLookAlike(tx, orgId, { fingerprint, key, since });
  if (!lookAlike) return;
  const [code, state] = lookAlike.isDeleted
    ? ['suggestion_dismissed', `was dismissed or deleted within ${lookAlikeDays} days`]
    : ['suggestion_known', 'already exists'];
  const detail = `${lookAlike.id} is similar to this suggestion and ${state}.`;
  throw appError('conflict', detail, { errors: [{ pointer: '/detectionQuery', code, detail }] });
}
