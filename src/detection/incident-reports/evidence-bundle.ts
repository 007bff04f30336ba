import { createHash } from 'node:crypto';
import { zipSync } from 'fflate';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { AppError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { readAllPages } from '../../platform/lib/page-request.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { requireScopes } from '../../platform/orgs/credentials.ts';
import { findChain, findSequence, listChainedEntries } from '../../platform/orgs/audit/audit-chain.store.ts';
import { getRevision } from '../detections/history/revisions.ts';
import type { EventHitRow } from '../hits/read-hits.store.ts';
import { getHitEvidence, readHitDetail } from '../hits/read-hits.ts';
import type { RunStep } from '../runs/run-model/run-details.schema.ts';
import { getRun, getSteps } from '../runs/read-runs.ts';
import {
  type BundledEntry,
  type BundledEvidence,
  type BundledStory,
  bundleFormat,
  type IncidentReport,
  type Manifest,
} from './incident-reports.schema.ts';
import { getIncidentReport, type ReportDeps } from './read-report.ts';
import { renderHtml, renderMarkdown } from './render-report.ts';

/** The action of the audit entry that a bundle is chained to. */
export const exportAction = 'incident.export';

/** `run` is the one that judged the hit and `steps` those about its entity; null if they were deleted. */
type BundledHit = BundledEvidence & { run: unknown; steps: unknown[] | null; detection: unknown };

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
const toBytes = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

/**
 * Returns a zip archive with the report on an incident, its hits with what they cite, the runs and versions behind them, and the hash of each file.
 * Records it in the audit log, and adds that entry, so that `verifyBundle` can check all of it without the service.
 */
export async function exportBundle(
  deps: ReportDeps,
  caller: Caller,
  id: string,
): Promise<{ incidentId: string; zip: Buffer }> {
  // Runs and versions are readable with this scope only.
  requireScopes(caller, ['detections:read']);
  const { report, rows, run } = await getIncidentReport(deps, caller, id);
  const hits: BundledHit[] = [];
  for (const row of rows) hits.push(await readHit(deps, caller, row));
  const story: BundledStory | undefined = run && { story: run, steps: await listSteps(deps, caller, run.runId) };
  const files: Record<string, Buffer> = {
    'report.json': toBytes(report),
    'report.md': Buffer.from(renderMarkdown(report)),
    'report.html': Buffer.from(renderHtml(report)),
    ...(story && { 'story.json': toBytes(story) }),
    ...Object.fromEntries(hits.map((one) => [`hits/${one.hit.id}.json`, toBytes(one)])),
  };
  const manifest: Manifest = {
    format: bundleFormat,
    incidentId: report.incident.id,
    organizationId: caller.orgId,
    createdAt: report.createdAt,
    removed: [...hits.flatMap(listRemoved), ...listRemovedFromStory(report, hits)],
    files: Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, sha256(bytes)])),
  };
  const manifestBytes = toBytes(manifest);
  const after = { id: manifest.incidentId, manifest: sha256(manifestBytes) };
  const change = { action: exportAction, resourceType: 'incident', resourceId: manifest.incidentId };
  await inOrg(deps.db, caller.orgId, (tx) => insertAudit(tx, caller, { ...change, before: null, after }));
  const entry = await inOrg(deps.db, caller.orgId, async (tx) => {
    const sequence = await findSequence(tx, { ...change, after: JSON.stringify(after) });
    return readEntry(tx, caller.orgId, sequence!);
  });
  const all = { ...files, 'manifest.json': manifestBytes, 'audit.json': toBytes(entry) };
  return { incidentId: manifest.incidentId, zip: Buffer.from(zipSync(all, { level: 6 })) };
}

async function readEntry(tx: Tx, orgId: OrgId, sequence: number): Promise<BundledEntry> {
  const rows = await listChainedEntries(tx, orgId, { after: sequence - 2, through: sequence, limit: 2 });
  const entry = rows.at(-1)!;
  // Without an entry before it, retention deleted that one, or this is the first.
  const previous = rows.length === 2 ? rows[0]!.hash : (await findChain(tx, orgId))?.expired_hash;
  return { ...entry, hash: entry.hash!.toString('hex'), previous: (previous ?? Buffer.alloc(0)).toString('hex') };
}

async function readHit(deps: ReportDeps, caller: Caller, row: EventHitRow): Promise<BundledHit> {
  const hit = await inOrg(deps.db, caller.orgId, (tx) => readHitDetail(tx, caller.orgId, row));
  const evidence = await getHitEvidence(deps, caller, hit.id);
  const runId = hit.runs.at(-1);
  const run = runId === undefined ? null : await unlessRemoved(getRun(deps, caller, runId));
  const steps = run && (await listSteps(deps, caller, run.id)).filter(({ entity }) => entity === hit.entity);
  const revision = run?.revision ?? null;
  const detection =
    revision === null ? null : await unlessRemoved(getRevision(deps, caller, hit.detectionId, revision));
  return { hit, evidence, run, steps, detection };
}

async function listSteps(deps: ReportDeps, caller: Caller, runId: string): Promise<RunStep[]> {
  const { entries } = await readAllPages(async (query) => {
    const { steps, nextCursor } = await getSteps(deps, caller, runId, query);
    return { entries: steps, nextCursor };
  });
  return entries;
}

/** Returns null for a record that retention or an erasure removed. */
const unlessRemoved = <T>(read: Promise<T>): Promise<T | null> =>
  read.catch((error: unknown) => {
    if (error instanceof AppError && error.status === 404) return null;
    throw error;
  });

/** Lists the cells that claims of a hit cite and its evidence does not have. */
export const listRemoved = (one: BundledEvidence): string[] =>
  one.hit.claims
    .filter(({ status }) => status === 'supported' || status === 'cited')
    .flatMap(({ cites }) => cites)
    .filter((cite) => !standsIn(cite, one))
    .map((cite) => nameCell(one.hit.id, cite));

/** Lists the cells that sentences of a written story cite and the evidence of their hits does not have. Those of a composed one are in claims of hits. */
export const listRemovedFromStory = ({ story }: IncidentReport, hits: readonly BundledEvidence[]): string[] =>
  (story.writtenBy === null ? [] : story.paragraphs)
    .flatMap(({ sentences }) => sentences.flatMap(({ cites }) => cites))
    .filter((cite) => !hits.some((one) => one.hit.id === cite.hit && standsIn(cite, one)))
    .map((cite) => nameCell(cite.hit, cite));

type Cell = BundledEvidence['hit']['claims'][number]['cites'][number];

const nameCell = (hitId: string | undefined, { observation, rowId, field }: Cell): string =>
  `hit ${hitId}: ${observation} ${rowId} ${field}`;

/** Returns whether a cited cell is in the evidence of its hit. Anything but a cell is. */
function standsIn({ observation, rowId, field, value }: Cell, { evidence }: BundledEvidence): boolean {
  if (observation === undefined || rowId === undefined || field === undefined) return true;
  const rows = evidence.observations.find(({ id }) => id === observation)?.rows ?? [];
  const row = rows.find((one) => one.rowId === rowId || one.eventIds?.includes(rowId));
  const text = row?.fields[field] ?? (field === 'time' ? row?.time : undefined);
  return text?.includes((value ?? '').trim()) ?? false;
}
