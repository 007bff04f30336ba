import { diffLines } from 'diff';
import { inOrg, type Tx, type Db } from '../../../platform/db/db.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import {
  type PageQuery,
  invalidCursor,
  plainIdPattern,
  readPageRequest,
  toPage,
} from '../../../platform/lib/page-request.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { requireMatch } from '../../../platform/orgs/record-version.ts';
import { storeChange } from '../update-detection.ts';
import { toAuthor, findPromptVersion, insertPromptVersion, listPrompts, type PromptRow } from './history.store.ts';
import type { DiffQuery, NewPrompt, PromptDiff, PromptList, PromptVersion, LineDiff } from './history.schema.ts';
import { toRecord } from '../record/detection-record.ts';
import type { AgentView } from '../record/detection-row.ts';
import type { Detection } from '../record/detection.schema.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';
import { resourceTypeOf } from '../detections.store.ts';
import { findAgent } from '../detection-views.store.ts';
import { auditAgent, lockAuthored, requireAuthored } from '../read-detections.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';

/** Returns the versions of an agent's prompt, newest first. */
export function getPrompts(deps: HistoryDeps, caller: Caller, id: string, query: PageQuery): Promise<PromptList> {
  return readHistory(deps, caller, id, async (tx, agent, key) => {
    const { page, nextCursor } = await listNumbered<PromptRow>(
      query,
      ({ version }) => version,
      (page) => listPrompts(tx, key, page),
    );
    return { prompts: page.map((row) => toPrompt(row, agent.prompt_version)), nextCursor };
  });
}

/** Returns one prompt version. Throws 404 if it does not exist. */
export function getPrompt(deps: HistoryDeps, caller: Caller, id: string, version: number): Promise<PromptVersion> {
  return readHistory(deps, caller, id, async (tx, agent, key) =>
    toPrompt(await getVersion(tx, key, version), agent.prompt_version),
  );
}

/** Returns the line-by-line difference between two prompt versions. Throws 400 if one of them does not exist. */
export function diffPrompts(
  deps: HistoryDeps,
  caller: Caller,
  id: string,
  { from, to }: DiffQuery,
): Promise<PromptDiff> {
  return readHistory(deps, caller, id, async (tx, _agent, key) => {
    const readText = async (parameter: 'from' | 'to', version: number): Promise<string> => {
      const found = await findPromptVersion(tx, key, version);
      if (!found) throw fieldError(`query/${parameter}`, 'unknown_prompt', `The prompt has no version ${version}.`);
      return found.prompt;
    };
    return { from, to, ...diffTexts(await readText('from', from), await readText('to', to)) };
  });
}

/**
 * Stores the next prompt version without activating it, so that replay, shadow runs and backtests can try it first. Throws
 * 409 if the agent is deleted.
 */
export async function writePrompt(
  { db, clock }: HistoryDeps,
  caller: Caller,
  id: string,
  { prompt, description = '' }: NewPrompt,
): Promise<PromptVersion> {
  const now = clock();
  const scope = { orgId: caller.orgId, now };
  return inOrg(db, caller.orgId, async (tx) => {
    const agent = await lockAuthored(tx, scope, id);
    const version = agent.latest_prompt_version + 1;
    const key = { orgId: caller.orgId, detectionId: id };
    const { keyId, subject: actor = null } = caller;
    await insertPromptVersion(tx, key, { id: uuidv7(now), version, prompt, description, createdAt: now, keyId, actor });
    const after = { version, prompt, description };
    await auditAgent(tx, caller, agent, { action: `${resourceTypeOf(agent)}.prompt_written`, before: null, after });
    return toPrompt((await findPromptVersion(tx, key, version))!, agent.prompt_version);
  });
}

/** Activates a prompt version, which creates a revision. Does nothing if the version is active. Throws 409 if the agent is deleted. */
export async function activatePrompt(
  { db, clock }: HistoryDeps,
  caller: Caller,
  { id, version }: { id: string; version: number },
  ifMatch: string | undefined,
): Promise<Detection> {
  const now = clock();
  return inOrg(db, caller.orgId, async (tx) => {
    const before = await lockAuthored(tx, { orgId: caller.orgId, now }, id);
    const resourceType = resourceTypeOf(before);
    await requireMatch(tx, ifMatch, toRecord(before), { resourceType, resourceId: before.id });
    const prompt = await getVersion(tx, { orgId: caller.orgId, detectionId: id }, version);
    const after = { ...before, ...toPromptColumns(prompt) };
    return storeChange(tx, before, after, { caller, action: `${resourceType}.updated`, now, gapReason: 'disabled' });
  });
}

async function getVersion(tx: Tx, key: DetectionKey, version: number): Promise<PromptRow> {
  const found = await findPromptVersion(tx, key, version);
  if (!found) throw appError('not_found', `${key.detectionId} has no prompt version ${version}.`);
  return found;
}

/** Returns the columns that make a prompt version the active one. */
export function toPromptColumns(prompt: PromptRow): Partial<AgentView> {
  return {
    active_prompt_id: prompt.id,
    prompt: prompt.prompt,
    prompt_version: prompt.version,
    prompt_description: prompt.description,
    prompt_created_at: prompt.createdAt,
  };
}

function toPrompt(row: PromptRow, activeVersion: number): PromptVersion {
  const { createdAt, keyId: _, keyName: __, actor: ___, ...rest } = row;
  return { ...rest, createdAt: createdAt.toISOString(), author: toAuthor(row), active: row.version === activeVersion };
}

export type HistoryDeps = { db: Db; clock: Clock };

/** Runs `work` for a detection, suggestion or response agent, deleted or not. Throws 404 for any other id. */
export function readHistory<T>(
  { db, clock }: HistoryDeps,
  caller: Caller,
  id: string,
  work: (tx: Tx, agent: AgentView, key: DetectionKey) => Promise<T>,
): Promise<T> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const agent = requireAuthored(await findAgent(tx, { orgId, now: clock() }, id), id);
    return work(tx, agent, { orgId, detectionId: id });
  });
}

/** Returns a page of numbered versions or revisions, highest number first. */
export async function listNumbered<Row extends { createdAt: Date }>(
  query: PageQuery,
  numberOf: (row: Row) => number,
  list: (page: { below: number | null; limit: number }) => Promise<Row[]>,
): Promise<{ page: Row[]; nextCursor: string | null }> {
  const { limit, after } = readPageRequest(query, plainIdPattern);
  const below = after === null ? null : Number(after.id);
  if (below !== null && !(Number.isInteger(below) && below > 0 && below < 2 ** 31)) throw invalidCursor();
  const found = await list({ below, limit: limit + 1 });
  return toPage(found, limit, (row) => ({ at: row.createdAt, id: String(numberOf(row)) }));
}

type LineOperation = LineDiff['lines'][number]['op'];

// Comparing two long texts with nothing in common would block the process. After this time the diff shows them as one removed and one added text.
const timeMsMax = 200;

/** Returns the line-by-line difference between two texts. */
export function diffTexts(from: string, to: string): LineDiff {
  const changes = diffLines(from, to, { timeout: timeMsMax }) ?? [
    { value: from, removed: true, added: false },
    { value: to, removed: false, added: true },
  ];
  const lines = changes.flatMap(({ value, added, removed }) =>
    splitLines(value).map((text) => ({ op: toOperation(added, removed), text })),
  );
  const count = (op: LineOperation): number => lines.filter((line) => line.op === op).length;
  return { added: count('added'), removed: count('removed'), lines };
}

function toOperation(isAdded: boolean, isRemoved: boolean): LineOperation {
  if (isAdded) return 'added';
  return isRemoved ? 'removed' : 'same';
}

function splitLines(text: string): string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
