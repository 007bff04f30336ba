import { inOrg } from '../../../platform/db/db.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { PageQuery } from '../../../platform/lib/page-request.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { checkIfMatch, etagOf } from '../../../platform/http/etag.ts';
import { storeChange } from '../change-detection.ts';
import { authorOf, numberedPage, readHistory, type HistoryDeps } from './history.ts';
import type { DiffQuery, NewPrompt, PromptDiff, PromptList, PromptVersion } from './history.schema.ts';
import { lineDiffOf } from './line-diff.ts';
import { findPromptVersion, insertPromptVersion, listPrompts, type PromptRow } from './prompts.store.ts';
import { toRecord } from '../record/detection-record.ts';
import type { Detection } from '../record/detection.schema.ts';
import { changeable } from '../update-detection.ts';
import { lockAgent } from '../detection-views.store.ts';

/** The versions of a detection's prompt, newest first. */
export function getPrompts(deps: HistoryDeps, caller: Caller, id: string, query: PageQuery): Promise<PromptList> {
  return readHistory(deps, caller, id, async (tx, agent, ref) => {
    const { page, nextCursor } = await numberedPage<PromptRow>(
      query,
      ({ version }) => version,
      (asked) => listPrompts(tx, ref, asked),
    );
    return { prompts: page.map((row) => toPrompt(row, agent.prompt_version)), nextCursor };
  });
}

/** One version. */
export function getPrompt(deps: HistoryDeps, caller: Caller, id: string, version: number): Promise<PromptVersion> {
  return readHistory(deps, caller, id, async (tx, agent, ref) => {
    const found = await findPromptVersion(tx, ref, version);
    if (!found) throw noVersion(id, version);
    return toPrompt(found, agent.prompt_version);
  });
}

/** How two versions differ, line by line. 400 that names the one that is not there. */
export function diffPrompts(
  deps: HistoryDeps,
  caller: Caller,
  id: string,
  { from, to }: DiffQuery,
): Promise<PromptDiff> {
  return readHistory(deps, caller, id, async (tx, _agent, ref) => {
    const textOf = async (name: 'from' | 'to', version: number): Promise<string> => {
      const found = await findPromptVersion(tx, ref, version);
      if (!found) throw fieldError(`query/${name}`, 'unknown_prompt', `There is no version ${version} of the prompt.`);
      return found.prompt;
    };
    return { from, to, ...lineDiffOf(await textOf('from', from), await textOf('to', to)) };
  });
}

/** Writes the next version and leaves the active one, so that it can be tried (replay, shadow, backtest) before it counts. 409 for a deleted one. */
export async function writePrompt(
  { db, clock }: HistoryDeps,
  caller: Caller,
  id: string,
  { prompt, description = '' }: NewPrompt,
): Promise<PromptVersion> {
  const now = clock();
  const scope = { orgId: caller.orgId, now };
  return inOrg(db, caller.orgId, async (tx) => {
    const agent = changeable(await lockAgent(tx, scope, id), id);
    const version = agent.latest_prompt_version + 1;
    const ref = { orgId: caller.orgId, detectionId: id };
    const { keyId } = caller;
    await insertPromptVersion(tx, ref, { id: uuidv7(now), version, prompt, description, createdAt: now, keyId });
    await insertAudit(tx, caller, {
      action: 'detection.prompt_written',
      resourceType: 'detection',
      resourceId: id,
      before: null,
      after: { version, prompt, description },
    });
    return toPrompt((await findPromptVersion(tx, ref, version))!, agent.prompt_version);
  });
}

/** Makes a version the active one; the definition gets a new revision. The active one already: nothing changes. 409 for a deleted detection. */
export async function activatePrompt(
  { db, clock }: HistoryDeps,
  caller: Caller,
  { id, version }: { id: string; version: number },
  ifMatch: string | undefined,
): Promise<Detection> {
  const now = clock();
  return inOrg(db, caller.orgId, async (tx) => {
    const before = changeable(await lockAgent(tx, { orgId: caller.orgId, now }, id), id);
    checkIfMatch(ifMatch, etagOf(toRecord(before)));
    const found = await findPromptVersion(tx, { orgId: caller.orgId, detectionId: id }, version);
    if (!found) throw noVersion(id, version);
    const after = {
      ...before,
      active_prompt_id: found.id,
      prompt: found.prompt,
      prompt_version: version,
      prompt_description: found.description,
      prompt_created_at: found.createdAt,
    };
    return storeChange(tx, before, after, { caller, action: 'detection.updated', now, reason: 'disabled' });
  });
}

const noVersion = (id: string, version: number): Error =>
  appError('not_found', `Detection ${id} has no version ${version} of its prompt.`);

function toPrompt(row: PromptRow, active: number): PromptVersion {
  const { id, version, prompt, description, createdAt } = row;
  return {
    id,
    version,
    prompt,
    description,
    createdAt: createdAt.toISOString(),
    author: authorOf(row),
    active: version === active,
  };
}
