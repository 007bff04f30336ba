import { inOrg, type Tx } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { checkModelAlias } from '../../detections/record/detection-columns.ts';
import { findPrompt } from '../../detections/history/prompts.store.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { Compared, Shadow, ShadowInput } from '../run-details.schema.ts';
import { findDetectionState } from '../read-runs.store.ts';
import { deleteShadow, findShadow, readDifferences, upsertShadow } from './shadow.store.ts';

const differencesMax = 50;
type ShadowDeps = Pick<Deps, 'db' | 'clock' | 'models'>;

/** The second version of a detection, and where it judged otherwise. */
export async function getShadow({ db }: Pick<Deps, 'db'>, caller: Caller, id: string): Promise<Shadow> {
  return inOrg(db, caller.orgId, async (tx) => {
    await mustExist(tx, caller, id);
    return readShadow(tx, caller, id);
  });
}

/** Lets another prompt version or model judge what the detection's runs judge, after them, delivering nothing. 400 without either. */
export async function setShadow(deps: ShadowDeps, caller: Caller, id: string, input: ShadowInput): Promise<Shadow> {
  const { promptVersion = null, modelAlias = null } = input;
  checkModelAlias(deps.models, input.modelAlias);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await mustExist(tx, caller, id);
    if (promptVersion === null && modelAlias === null)
      throw fieldError('/promptVersion', 'required', 'promptVersion or modelAlias is needed.');
    const ref = { orgId: caller.orgId, detectionId: id };
    if (promptVersion !== null && !(await findPrompt(tx, { ...ref, version: promptVersion })))
      throw fieldError('/promptVersion', 'unknown_prompt', `There is no version ${promptVersion} of the prompt.`);
    await upsertShadow(tx, ref, { promptVersion, modelAlias, since: deps.clock() });
    await insertAudit(tx, caller, {
      action: 'shadow.set',
      resourceType: 'detection',
      resourceId: id,
      before: null,
      after: { promptVersion, modelAlias },
    });
    return readShadow(tx, caller, id);
  });
}

/** Ends the second version. Where there is none nothing changes. */
export async function endShadow({ db }: Pick<Deps, 'db'>, caller: Caller, id: string): Promise<Shadow> {
  return inOrg(db, caller.orgId, async (tx) => {
    await mustExist(tx, caller, id);
    await deleteShadow(tx, { orgId: caller.orgId, detectionId: id });
    await insertAudit(tx, caller, {
      action: 'shadow.ended',
      resourceType: 'detection',
      resourceId: id,
      before: null,
      after: null,
    });
    return readShadow(tx, caller, id);
  });
}

async function mustExist(tx: Tx, { orgId }: Caller, id: string): Promise<void> {
  if (!(await findDetectionState(tx, orgId, id))) throw appError('not_found', `Detection ${id} not found.`);
}

async function readShadow(tx: Tx, { orgId }: Caller, detectionId: string): Promise<Shadow> {
  const shadow = await findShadow(tx, { orgId, detectionId });
  const { compared, differing, latest } = await readDifferences(tx, { orgId, detectionId }, differencesMax);
  return {
    shadow: shadow ? { ...shadow, since: shadow.since.toISOString() } : null,
    compared,
    differing,
    differences: latest.map(({ runId, at, compared: text }) => ({
      ...(JSON.parse(text) as Compared),
      runId,
      at: at.toISOString(),
    })),
  };
}
