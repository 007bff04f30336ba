import { inOrg, type Tx } from '../../../platform/db/db.ts';
import { appError } from '../../../platform/lib/errors.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { AgentWithPrompt } from '../record/detection-row.ts';
import { findKin, insertAgent } from '../detections.store.ts';
import { checkWouldRun } from '../check-detection.ts';
import { checkModelAlias } from '../record/detection-columns.ts';
import { viewOf, type CreateDeps } from '../create-detection.ts';
import { newAgent } from '../record/new-detection.ts';
import { emitDetection } from '../detection-events.ts';
import { fingerprintOf } from '../record/fingerprint.ts';
import type { CreateSuggestion } from '../record/detection-input.ts';
import { toRecord } from '../record/detection-record.ts';
import type { Detection, Estimate } from '../record/detection.schema.ts';
import { storeTests } from '../test-cases/test-cases.store.ts';
import type { TestCase } from '../test-cases/test-cases.schema.ts';

const lookAlikeDays = 90;
const dayMs = 86_400_000;

/** What the program adds to a suggestion of its own. `key`: proposals of one key are look-alikes whatever their text. */
export type Proposed = { key: string; estimate: Estimate | null; tests: TestCase[] };

/**
 * Makes an open suggestion; it runs once it is accepted. `proposed`: the program's own proposals are refused (409) where a
 * look-alike was dismissed or deleted within 90 days of slot time, or is there already; a person may propose anything.
 */
export async function createSuggestion(
  deps: CreateDeps,
  caller: Caller,
  input: CreateSuggestion,
  { validate = false, proposed }: { validate?: boolean; proposed?: Proposed } = {},
): Promise<Detection> {
  checkModelAlias(deps.models, input.modelAlias);
  const now = deps.clock();
  const made = newAgent(caller, input, now);
  const agent: AgentWithPrompt = {
    ...made,
    is_suggestion: true,
    rationale: input.rationale ?? '',
    source_item_ids: input.sourceItemIds ?? [],
    technique: input.technique ?? null,
    evidence: JSON.stringify(input.evidence ?? []),
    estimate: proposed?.estimate ? JSON.stringify(proposed.estimate) : null,
    suggestion_fingerprint: fingerprintOf(made),
    suggestion_key: proposed?.key ?? null,
  };
  const view = await viewOf(deps, caller, agent);
  if (validate) await checkWouldRun(deps, caller.orgId, view);
  const record = toRecord(view);
  await inOrg(deps.db, caller.orgId, async (tx) => {
    if (proposed) await refuseLookAlike(tx, caller, agent, now);
    await insertAgent(tx, caller, agent, {
      action: 'suggestion.created',
      resourceType: 'detection',
      resourceId: agent.id,
      before: null,
      after: record,
    });
    if (proposed && proposed.tests.length > 0)
      await storeTests(tx, { orgId: caller.orgId, detectionId: agent.id }, { tests: proposed.tests }, now);
    await emitDetection(tx, 'suggestion.created', record);
  });
  return record;
}

async function refuseLookAlike(tx: Tx, { orgId }: Caller, agent: AgentWithPrompt, now: Date): Promise<void> {
  const since = new Date(now.getTime() - lookAlikeDays * dayMs);
  const kin = await findKin(tx, orgId, {
    fingerprint: agent.suggestion_fingerprint!,
    key: agent.suggestion_key!,
    since,
  });
  if (!kin) return;
  const [code, state] = kin.gone
    ? ['suggestion_dismissed', `was dismissed or deleted within ${lookAlikeDays} days`]
    : ['suggestion_known', 'is there already'];
  const detail = `${kin.id} looks like this suggestion and ${state}.`;
  throw appError('conflict', detail, { errors: [{ pointer: '/detectionQuery', code, detail }] });
}
