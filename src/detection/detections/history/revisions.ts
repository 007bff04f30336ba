import { isDeepStrictEqual } from 'node:util';
import { inOrg } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import type { PageQuery } from '../../../platform/lib/page-request.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { checkIfMatch, etagOf } from '../../../platform/http/etag.ts';
import { storeChange } from '../change-detection.ts';
import { checkModelAlias } from '../record/detection-columns.ts';
import type { Definition } from '../record/definition.ts';
import { authorOf, numberedPage, readHistory, type HistoryDeps } from './history.ts';
import type { DiffQuery, Revision, RevisionDiff, RevisionList } from './history.schema.ts';
import { lineDiffOf } from './line-diff.ts';
import { findPromptVersion } from './prompts.store.ts';
import { toRecord } from '../record/detection-record.ts';
import { asRevised } from './restore-revision.ts';
import { findRevision, listRevisions, type RevisionRow } from './revisions.store.ts';
import type { Detection } from '../record/detection.schema.ts';
import { changeable } from '../update-detection.ts';
import { lockAgent } from '../detection-views.store.ts';

type Fields = Record<string, unknown>;

/** The revisions of a detection, newest first: what changed, by whom and when. */
export function getRevisions(deps: HistoryDeps, caller: Caller, id: string, query: PageQuery): Promise<RevisionList> {
  return readHistory(deps, caller, id, async (tx, agent, ref) => {
    const { page, nextCursor } = await numberedPage<RevisionRow>(
      query,
      ({ revision }) => revision,
      (asked) => listRevisions(tx, ref, asked),
    );
    return { revisions: page.map((row) => summaryOf(row, agent.revision)), nextCursor };
  });
}

/** One revision with its whole definition. */
export function getRevision(deps: HistoryDeps, caller: Caller, id: string, revision: number): Promise<Revision> {
  return readHistory(deps, caller, id, async (tx, agent, ref) => {
    const found = await findRevision(tx, ref, revision);
    if (!found) throw noRevision(id, revision);
    return { ...summaryOf(found, agent.revision), definition: fieldsOf(found.definition) };
  });
}

/** The fields in which two revisions differ. 400 that names the one that is not there. */
export function diffRevisions(
  deps: HistoryDeps,
  caller: Caller,
  id: string,
  { from, to }: DiffQuery,
): Promise<RevisionDiff> {
  return readHistory(deps, caller, id, async (tx, _agent, ref) => {
    const read = async (name: 'from' | 'to', revision: number): Promise<Fields> => {
      const found = await findRevision(tx, ref, revision);
      if (!found) throw fieldError(`query/${name}`, 'unknown_revision', `There is no revision ${revision}.`);
      return fieldsOf(found.definition);
    };
    const [old, next] = [await read('from', from), await read('to', to)];
    const changes = changedFields(old, next).map((field) => ({
      field,
      from: old[field] ?? null,
      to: next[field] ?? null,
      ...(longTexts.has(field) ? { diff: lineDiffOf(String(old[field]), String(next[field])) } : {}),
    }));
    return { from, to, changes };
  });
}

/**
 * Makes a detection what it was at a revision, under a new revision; what it is already stays. Whether it is enabled follows from
 * its schedule as with any change. 409 for a deleted one, 400 naming the field where the old definition is no longer valid.
 */
export async function restoreRevision(
  deps: HistoryDeps & Pick<Deps, 'models'>,
  caller: Caller,
  { id, revision }: { id: string; revision: number },
  ifMatch: string | undefined,
): Promise<Detection> {
  const now = deps.clock();
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = changeable(await lockAgent(tx, { orgId: caller.orgId, now }, id), id);
    checkIfMatch(ifMatch, etagOf(toRecord(before)));
    const ref = { orgId: caller.orgId, detectionId: id };
    const found = await findRevision(tx, ref, revision);
    if (!found) throw noRevision(id, revision);
    const definition = JSON.parse(found.definition) as Definition;
    checkModelAlias(deps.models, definition.modelAlias);
    const prompt = (await findPromptVersion(tx, ref, definition.promptVersion))!;
    const after = asRevised(before, { definition, prompt, now });
    return storeChange(tx, before, after, { caller, action: 'detection.updated', now, reason: 'disabled' });
  });
}

const longTexts = new Set(['systemPrompt', 'detectionQuery']);
/** They say nothing that `systemPrompt`, `detectionCadence` and `customCronSchedule` do not say, and would be listed beside them. */
const derived = new Set(['promptId', 'cronSchedule']);

const fieldsOf = (definition: string): Fields => JSON.parse(definition) as Fields;

function changedFields(before: Fields, after: Fields): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !derived.has(name));
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

function summaryOf(row: RevisionRow, active: number): RevisionList['revisions'][number] {
  return {
    revision: row.revision,
    createdAt: row.createdAt.toISOString(),
    author: authorOf(row),
    active: row.revision === active,
    changed: row.before === null ? [] : changedFields(fieldsOf(row.before), fieldsOf(row.definition)),
  };
}

const noRevision = (id: string, revision: number): Error =>
  appError('not_found', `Detection ${id} has no revision ${revision}.`);
