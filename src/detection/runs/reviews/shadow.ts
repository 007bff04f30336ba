import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { fieldError } from '../../../platform/lib/errors.ts';
import type { Models } from '../../../platform/models/models.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { findPromptText } from '../../detections/history/prompts.store.ts';
import { checkModelAlias } from '../../detections/record/check-model-alias.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import { getDetectionState } from '../detection-state.store.ts';
import type { Shadow, ShadowInput, VerdictComparison } from '../run-details.schema.ts';
import { deleteShadow, findShadow, readShadowDifferences, upsertShadow } from './shadow.store.ts';

const differencesMax = 50;

/** Returns the shadow of a detection and where its verdicts differ. */
export async function getShadow({ db }: { db: Db }, { orgId }: Caller, detectionId: string): Promise<Shadow> {
  return inOrg(db, orgId, async (tx) => {
    await getDetectionState(tx, orgId, detectionId);
    return readShadow(tx, { orgId, detectionId });
  });
}

/**
 * Sets the shadow of a detection: another prompt version or model that judges the candidates of finished runs and delivers no
 * hits. Throws a field error if the input has neither.
 */
export async function setShadow(
  deps: { db: Db; clock: Clock; models?: Models },
  caller: Caller,
  detectionId: string,
  input: ShadowInput,
): Promise<Shadow> {
  const { promptVersion = null, modelAlias = null } = input;
  checkModelAlias(deps.models, input.modelAlias);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await getDetectionState(tx, caller.orgId, detectionId);
    if (promptVersion === null && modelAlias === null)
      throw fieldError('/promptVersion', 'required', '`promptVersion` or `modelAlias` is required.');
    const detection = { orgId: caller.orgId, detectionId };
    if (promptVersion !== null && !(await findPromptText(tx, { ...detection, version: promptVersion })))
      throw fieldError('/promptVersion', 'unknown_prompt', `The prompt has no version ${promptVersion}.`);
    await upsertShadow(tx, detection, { promptVersion, modelAlias, since: deps.clock() });
    await auditShadow(tx, caller, { action: 'shadow.set', detectionId, after: { promptVersion, modelAlias } });
    return readShadow(tx, detection);
  });
}

/** Removes the shadow of a detection, if there is one. */
export async function endShadow({ db }: { db: Db }, caller: Caller, detectionId: string): Promise<Shadow> {
  return inOrg(db, caller.orgId, async (tx) => {
    await getDetectionState(tx, caller.orgId, detectionId);
    const detection = { orgId: caller.orgId, detectionId };
    await deleteShadow(tx, detection);
    await auditShadow(tx, caller, { action: 'shadow.ended', detectionId, after: null });
    return readShadow(tx, detection);
  });
}

function auditShadow(
  tx: Tx,
  caller: Caller,
  { action, detectionId, after }: { action: string; detectionId: string; after: object | null },
): Promise<void> {
  return insertAudit(tx, caller, { action, resourceType: 'detection', resourceId: detectionId, before: null, after });
}

async function readShadow(tx: Tx, detection: DetectionKey): Promise<Shadow> {
  const shadow = await findShadow(tx, detection);
  const { compared, differing, latest } = await readShadowDifferences(tx, detection, differencesMax);
  return {
    shadow: shadow ? { ...shadow, since: shadow.since.toISOString() } : null,
    compared,
    differing,
    differences: latest.map((difference) => ({
      ...(JSON.parse(difference.compared) as VerdictComparison),
      runId: difference.runId,
      at: difference.at.toISOString(),
    })),
  };
}
