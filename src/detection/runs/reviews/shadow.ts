import { inOrg, type Db, type Tx, queryRow } from '../../../platform/db/db.ts';
import { type Clock, withIsoTimes } from '../../../platform/lib/time/clock.ts';
import { fieldError } from '../../../platform/lib/errors.ts';
import type { Models } from '../../../platform/models/models.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { requireMatch } from '../../../platform/orgs/record-version.ts';
import { findPromptText } from '../../detections/history/history.store.ts';
import { checkModelAlias } from '../../detections/record/build-detection.ts';
import { auditDetection, lockDetection } from '../../detections/read-detections.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';
import { getDetectionState } from '../run-model/runs.store.ts';
import type { Shadow, ShadowInput, VerdictComparison, Agreement } from '../run-model/run-details.schema.ts';
import { deleteShadow, findShadow, readShadowDifferences, upsertShadow, type ShadowRow } from './reviews.store.ts';

const differencesMax = 50;

type ShadowDeps = { db: Db; clock: Clock };
/** A detection, and the version of its shadow that the caller saw. */
type ShadowSubject = { id: string; ifMatch?: string | undefined };

/** Returns the shadow of a detection and where its verdicts differ. */
export async function getShadow({ db }: { db: Db }, { orgId }: Caller, detectionId: string): Promise<Shadow> {
  return inOrg(db, orgId, async (tx) => {
    await getDetectionState(tx, orgId, detectionId);
    return readShadow(tx, { orgId, detectionId });
  });
}

/**
 * Sets the shadow of a detection: another prompt version or model that judges the candidates of finished runs and delivers no
 * hits. Throws a field error if the input has neither, and 412 if the shadow is another version than `ifMatch`.
 */
export async function setShadow(
  deps: ShadowDeps & { models?: Models },
  caller: Caller,
  subject: ShadowSubject,
  input: ShadowInput,
): Promise<Shadow> {
  const { promptVersion = null, modelAlias = null } = input;
  checkModelAlias(deps.models, input.modelAlias);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await lockShadow(tx, deps, caller, subject);
    if (promptVersion === null && modelAlias === null)
      throw fieldError('/promptVersion', 'required', '`promptVersion` or `modelAlias` is required.');
    const detection = { orgId: caller.orgId, detectionId: subject.id };
    if (promptVersion !== null && !(await findPromptText(tx, { ...detection, version: promptVersion })))
      throw fieldError('/promptVersion', 'unknown_prompt', `The prompt has no version ${promptVersion}.`);
    await upsertShadow(tx, detection, { promptVersion, modelAlias, since: deps.clock() });
    const after = toAudited(await findShadow(tx, detection));
    await auditDetection(tx, caller, subject.id, { action: 'shadow.set', before: toAudited(before), after });
    return readShadow(tx, detection);
  });
}

/** Removes the shadow of a detection, if there is one. Throws 412 if it is another version than `ifMatch`. */
export async function endShadow(deps: ShadowDeps, caller: Caller, subject: ShadowSubject): Promise<Shadow> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await lockShadow(tx, deps, caller, subject);
    const detection = { orgId: caller.orgId, detectionId: subject.id };
    await deleteShadow(tx, detection);
    await auditDetection(tx, caller, subject.id, { action: 'shadow.ended', before: toAudited(before), after: null });
    return readShadow(tx, detection);
  });
}

/** Returns the shadow of a detection with the detection locked. */
async function lockShadow(
  tx: Tx,
  { clock }: ShadowDeps,
  { orgId }: Caller,
  { id, ifMatch }: ShadowSubject,
): Promise<ShadowRow | undefined> {
  await lockDetection(tx, { orgId, now: clock() }, id);
  const shadow = await findShadow(tx, { orgId, detectionId: id });
  const version = { updatedAt: shadow?.since.toISOString() ?? null };
  await requireMatch(tx, ifMatch, version, { resourceType: 'detection', resourceId: id, action: 'shadow.' });
  return shadow;
}

/** The version of a shadow is its time. */
export const versionOfShadow = ({ shadow }: Shadow) => ({ updatedAt: shadow?.since ?? null });

const toAudited = (shadow: ShadowRow | undefined) =>
  shadow && {
    promptVersion: shadow.promptVersion,
    modelAlias: shadow.modelAlias,
    updatedAt: shadow.since.toISOString(),
  };

async function readShadow(tx: Tx, detection: DetectionKey): Promise<Shadow> {
  const shadow = await findShadow(tx, detection);
  const { compared, differing, latest } = await readShadowDifferences(tx, detection, differencesMax);
  return {
    shadow: shadow ? withIsoTimes(shadow) : null,
    compared,
    differing,
    differences: latest.map((difference) => ({
      ...(JSON.parse(difference.compared) as VerdictComparison),
      runId: difference.runId,
      at: difference.at.toISOString(),
    })),
  };
}

/**
 * Returns how often people confirmed what a model raised in a detection: a status of true positive confirms a hit, and one of false positive or
 * benign does not.
 */
export async function getAgreement({ db }: { db: Db }, { orgId }: Caller, detectionId: string): Promise<Agreement> {
  return inOrg(db, orgId, async (tx) => {
    await getDetectionState(tx, orgId, detectionId);
    const counts = await queryRow<{ reviewed: number; agreed: number }>(tx)`
        select count(*) as reviewed, count(*) filter (where status = 'true_positive') as agreed from hits h
        where organization_id = ${orgId} and detection_id = ${detectionId} and judged and verdict = 'raise'
          and status in ('true_positive', 'false_positive', 'benign')
          and exists (select from hit_occurrences s join runs r on r.id = s.run_id and r.organization_id = s.organization_id
            where s.organization_id = h.organization_id and s.hit_id = h.id and r.model <> 'analyst')`;
    const { reviewed, agreed } = counts!;
    return { reviewed, agreed, agreement: reviewed === 0 ? null : Math.round((1000 * agreed) / reviewed) / 10 };
  });
}
