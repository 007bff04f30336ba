import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';
import { toStorableText } from '../../platform/lib/text/storable-text.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { isPoolBusy, ThreadError, toUnavailable } from '../../platform/lib/threads/thread-protocol.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { ExtractedItem } from '../extraction/extract-item.ts';
import { toTextRecord } from '../extraction/text/text-record.ts';
import { getItem } from '../items/get-item.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import { ensurePrivatePool, lockPool, requireItemQuota } from '../items/writing/feed-pools.store.ts';
import type { FeedItemDetail } from '../model/item.schema.ts';
import { parseInstant, removeUnbelievableDates } from '../model/source-record.ts';
import { planCommit, writeCommit } from './apply-actions.ts';
import { normalizeText, sha256 } from './content-hash.ts';
import type { Extractor } from './extractor.ts';
import { buildItemCandidates } from './item-candidates.ts';
import { planRecords } from './pull-plan.ts';
import type { ItemOrigin } from './source-row.ts';
import { findPostedItem, readOrgName } from './stored-items.store.ts';
import { toStoredTlp } from '../model/vocabulary.ts';
import { isShortEnough, tooLongText, type PostedItem, type PostItem } from './post-item.schema.ts';

const reliability = 0.6;

export type PostItemDeps = { db: Db; clock: Clock; extractor: Extractor; snapshots: SnapshotCache };

/** A report as it is stored: what was posted, with the text of its file. */
type Report = Omit<PostItem, 'file' | 'text'> & { text: string; unread?: string[] };

/**
 * Creates an item from a report in the organization's private pool and returns it. Returns the existing
 * item if the organization has already posted the text. Throws 409 if the quota of private items is used up, and `unavailable` (503) if too many texts are waiting.
 */
export async function postItem(deps: PostItemDeps, caller: Caller, posted: PostItem): Promise<PostedItem> {
  const { unread = [], ...input } = await readPosted(deps.extractor, posted, caller.orgId);
  const recordId = sha256(normalizeText(input.text));
  const { orgId } = caller;
  const existing = await inOrg(deps.db, orgId, (tx) => findPostedItem(tx, orgId, recordId));
  const warnings = unread.map((reason) => ({ code: 'attachment_not_read' as const, message: `${reason}.` }));
  const withWarnings = (item: FeedItemDetail): PostedItem => (warnings.length > 0 ? { ...item, warnings } : item);
  if (existing) return withWarnings(await getItem(deps, caller, existing));
  const extracted = await extractText(deps.extractor, input, orgId);
  const id = await inOrg(deps.db, orgId, (tx) => insertPostedItem(tx, deps, caller, { input, recordId, extracted }));
  deps.snapshots.invalidate();
  return withWarnings(await getItem(deps, caller, id));
}

async function readPosted(extractor: Extractor, { file, text, ...stated }: PostItem, orgId: OrgId): Promise<Report> {
  if (!file) return { ...stated, text: text! };
  const bytes = Buffer.from(file.content, 'base64');
  const read = await extractor.readFile({ name: file.name, bytes }, orgId).catch(throwUnreadable('/file/content'));
  const report = { ...read, text: toStorableText(read.text).trim().toWellFormed() };
  if (report.text === '') throw fieldError('/file/content', 'not_readable', 'The file has no text.');
  if (!isShortEnough(report.text))
    throw fieldError('/file/content', 'too_much', `The text of the file ${tooLongText}.`);
  return { ...report, ...stated };
}

async function extractText(extractor: Extractor, input: Report, orgId: OrgId): Promise<ExtractedItem> {
  const { text, title, publisher, publishTime, sourceUrl } = input;
  return extractor
    .read({ text, title, publisher, publishTime, sourceUrl }, undefined, orgId)
    .catch(throwUnreadable('/text'));
}

const throwUnreadable =
  (field: string) =>
  (error: unknown): never => {
    if (error instanceof ExternalError || (error instanceof ThreadError && !isPoolBusy(error)))
      throw fieldError(
        field,
        'not_readable',
        `The ${field === '/text' ? 'text' : 'file'} could not be read: ${error.message}.`,
      );
    throw toUnavailable(error, 'Too many texts are being read. Try again in a few seconds.', 5);
  };

type PostedText = { input: Report; recordId: string; extracted: ExtractedItem };

/** Locks the pool before it looks for an existing item, so that two concurrent requests with one text create one item. */
async function insertPostedItem(tx: Tx, deps: PostItemDeps, caller: Caller, posted: PostedText): Promise<string> {
  const { input, recordId, extracted } = posted;
  const { orgId } = caller;
  const poolId = await ensurePrivatePool(tx, orgId, uuidv7());
  await lockPool(tx, poolId);
  const existing = await findPostedItem(tx, orgId, recordId);
  if (existing) return existing;
  await requireItemQuota(tx, orgId);
  const now = deps.clock();
  const origin = originOf(orgId, { poolId, orgName: await readOrgName(tx, orgId), now });
  const publisher = extracted.publisher ?? origin.publisher!;
  const record = toTextRecord(extracted, {
    recordId,
    canonicalKey: `${orgId}:txt:${sha256(JSON.stringify([publisher, extracted.title, normalizeText(input.text)]))}`,
    publisher,
    url: input.sourceUrl,
    textUrl: input.sourceUrl,
    publishTime: parseInstant(input.publishTime),
    tlp: input.tlp && toStoredTlp(input.tlp),
  });
  const { candidates, tooLarge } = buildItemCandidates([removeUnbelievableDates(record, now)], origin, poolId);
  if (tooLarge[0])
    throw fieldError('/text', 'too_much', `The text contains more than one item can hold: ${tooLarge[0].reason}.`);
  const { referenceDataVersion } = deps.extractor;
  const actions = planRecords(new Map(), candidates);
  await writeCommit(tx, await planCommit(tx, origin, actions, { now, referenceDataVersion }));
  const id = (await findPostedItem(tx, orgId, recordId))!;
  await insertAudit(tx, caller, {
    action: 'item.posted',
    resourceType: 'item',
    resourceId: id,
    before: null,
    after: { id, title: record.title, canonicalKey: record.canonicalKey },
  });
  return id;
}

const originOf = (orgId: OrgId, origin: { poolId: string; orgName: string; now: Date }): ItemOrigin => ({
  organization_id: orgId,
  id: null,
  kind: null,
  url: null,
  visibility: 'private',
  pool_id: origin.poolId,
  name: 'Own reports',
  publisher: origin.orgName,
  tlp: null,
  license: null,
  reliability,
  // A posted text is news, never the first pull of a source.
  last_success_at: origin.now,
});
