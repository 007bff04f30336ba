import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import { inOrg } from '../../../platform/db/db.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import type { PageQuery } from '../../../platform/lib/page-request.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { requireMatch } from '../../../platform/orgs/record-version.ts';
import { storeChange } from '../update-detection.ts';
import { checkModelAlias, type ModelAliases, mergeUpdate } from '../record/build-detection.ts';
import { toDefinition, type Definition, toRecord } from '../record/detection-record.ts';
import { detectionFields, type DetectionField } from '../record/detection-fields.ts';
import { toAuthor, findPromptVersion, findRevision, listRevisions, type RevisionRow } from './history.store.ts';
import { listNumbered, readHistory, type HistoryDeps, diffTexts, toPromptColumns } from './prompts.ts';
import type { DiffQuery, Revision, RevisionDiff, RevisionList } from './history.schema.ts';
import type { Detection } from '../record/detection.schema.ts';
import type { ColumnInput } from '../record/field-types.ts';
import { resourceTypeOf } from '../detections.store.ts';
import { lockAuthored } from '../read-detections.ts';

type DefinitionObject = Record<string, unknown>;

/** Returns the revisions of a detection or response agent, newest first, with the changed fields, the author and the time. */
export function getRevisions(deps: HistoryDeps, caller: Caller, id: string, query: PageQuery): Promise<RevisionList> {
  return readHistory(deps, caller, id, async (tx, agent, key) => {
    const { page, nextCursor } = await listNumbered<RevisionRow>(
      query,
      ({ revision }) => revision,
      (page) => listRevisions(tx, key, page),
    );
    return { revisions: page.map((row) => toSummary(row, agent.revision)), nextCursor };
  });
}

/** Returns one revision with its whole definition. Throws 404 if it does not exist. */
export function getRevision(deps: HistoryDeps, caller: Caller, id: string, revision: number): Promise<Revision> {
  return readHistory(deps, caller, id, async (tx, agent, key) => {
    const found = await findRevision(tx, key, revision);
    if (!found) throw noRevision(id, revision);
    return { ...toSummary(found, agent.revision), definition: parseDefinition(found.definition) };
  });
}

/** Returns the fields in which two revisions differ. Throws 400 if one of them does not exist. */
export function diffRevisions(
  deps: HistoryDeps,
  caller: Caller,
  id: string,
  { from, to }: DiffQuery,
): Promise<RevisionDiff> {
  return readHistory(deps, caller, id, async (tx, _agent, key) => {
    const readDefinition = async (parameter: 'from' | 'to', revision: number): Promise<DefinitionObject> => {
      const found = await findRevision(tx, key, revision);
      if (!found) throw fieldError(`query/${parameter}`, 'unknown_revision', `There is no revision ${revision}.`);
      return parseDefinition(found.definition);
    };
    const [old, next] = [await readDefinition('from', from), await readDefinition('to', to)];
    const changes = listChangedFields(old, next).map((field) => ({
      field,
      from: old[field] ?? null,
      to: next[field] ?? null,
      diff: diffTexts(toText(old[field]), toText(next[field])),
    }));
    return { from, to, changes };
  });
}

/** Returns a value as lines that people can compare. */
const toText = (value: unknown): string =>
  typeof value === 'string' ? value : (value ?? null) === null ? '' : stringify(value, { lineWidth: 0 });

/**
 * Restores the definition of an older revision as a new revision. Does nothing if the definitions are equal. As with any
 * change, the schedule determines whether the agent is enabled. Throws 409 if it is deleted and 400 for the field whose
 * old value is no longer valid.
 */
export async function restoreRevision(
  deps: HistoryDeps & { models?: ModelAliases },
  caller: Caller,
  { id, revision }: { id: string; revision: number },
  ifMatch: string | undefined,
): Promise<Detection> {
  const now = deps.clock();
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await lockAuthored(tx, { orgId: caller.orgId, now }, id);
    const resourceType = resourceTypeOf(before);
    await requireMatch(tx, ifMatch, toRecord(before), { resourceType, resourceId: before.id });
    const key = { orgId: caller.orgId, detectionId: id };
    const found = await findRevision(tx, key, revision);
    if (!found) throw noRevision(id, revision);
    const definition = JSON.parse(found.definition) as Definition;
    checkModelAlias(deps.models, definition.modelAlias);
    const prompt = (await findPromptVersion(tx, key, definition.promptVersion))!;
    const input = diffDefinition(toDefinition(before), definition);
    const after = { ...mergeUpdate(before, input, now), ...toPromptColumns(prompt) };
    return storeChange(tx, before, after, { caller, action: `${resourceType}.updated`, now, gapReason: 'disabled' });
  });
}

/** Returns the fields of `wanted` that differ from `current`. Fields that are unset in `wanted` are null. */
function diffDefinition(current: Definition, wanted: Definition): ColumnInput {
  const names = Object.entries(fields).flatMap(([name, field]) =>
    field.managed || field.outsideDefinition ? [] : [name as keyof ColumnInput],
  );
  const changed = names.filter((name) => !isDeepStrictEqual(current[name], wanted[name]));
  return Object.fromEntries(changed.map((name) => [name, wanted[name] ?? null]));
}

const fields: Record<string, DetectionField> = detectionFields;
/** Fields left out of lists of changes, because they follow from `systemPrompt`, `detectionCadence` and `customCronSchedule`. */
const derivedFields = new Set(['promptId', 'cronSchedule']);

const parseDefinition = (text: string): DefinitionObject => JSON.parse(text) as DefinitionObject;

function listChangedFields(before: DefinitionObject, after: DefinitionObject): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !derivedFields.has(name),
  );
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

function toSummary(row: RevisionRow, activeRevision: number): RevisionList['revisions'][number] {
  return {
    revision: row.revision,
    createdAt: row.createdAt.toISOString(),
    author: toAuthor(row),
    active: row.revision === activeRevision,
    changed:
      row.previous === null ? [] : listChangedFields(parseDefinition(row.previous), parseDefinition(row.definition)),
  };
}

const noRevision = (id: string, revision: number): Error => appError('not_found', `${id} has no revision ${revision}.`);
