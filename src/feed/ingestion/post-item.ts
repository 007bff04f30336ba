import { createHash } from 'node:crypto';
import type { Deps } from '../../app/deps.ts';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import { getItem } from '../items/get-item.ts';
import type { FeedItemDetail } from '../model/item.schema.ts';
import { forgetViews } from '../items/snapshot/snapshot.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { ThreadError } from '../../platform/lib/threads/thread-pool.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { applyPlan } from './apply-plan.ts';
import { toCandidates } from './candidates.ts';
import { planPull } from './pull-plan.ts';
import type { ExtractedItem } from '../extraction/extract-item.ts';
import { toTextRecord } from '../extraction/text/text-record.ts';
import { instant } from '../model/source-record.ts';
import type { PostItem } from '../sources/sources.schema.ts';
import { storedTlp } from '../sources/source-input.ts';
import type { Origin } from '../sources/source-row.ts';
import { findPostedItem, lockPools, privatePool, readOrgName } from '../items/writing/feed-pools.store.ts';

const reliability = 0.6;

/**
 * Makes an item of the caller's own from a report's text, in its private pool, and answers with it (spec/feed.md, "Reading"). The same
 * text again answers with the item that is there. 400 names the field; 503 where too many texts wait already.
 */
export async function postItem(deps: Deps, caller: Caller, input: PostItem): Promise<FeedItemDetail> {
  const recordId = textHash(input.text);
  const { orgId } = caller;
  const held = await inOrg(deps.db, orgId, (tx) => findPostedItem(tx, orgId, recordId));
  if (held) return getItem(deps, caller, held);
  const extracted = await read(deps, input);
  const id = await inOrg(deps.db, orgId, (tx) => insertPosted(tx, deps, caller, { input, recordId, extracted }));
  forgetViews(deps.db);
  return getItem(deps, caller, id);
}

/** Of the text alone: whoever posts it again, under whatever title, means the same report. */
const textHash = (text: string): string => sha256(normal(text));
const normal = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function read({ extractor }: Deps, input: PostItem): Promise<ExtractedItem> {
  const { text, title, publisher, publishTime, sourceUrl } = input;
  try {
    return await extractor.read({ text, title, publisher, publishTime, sourceUrl });
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    if (error.reason === 'timeout' || error.reason === 'crashed')
      throw fieldError('/text', 'not_readable', `The text could not be read: ${error.message}.`);
    throw appError('unavailable', 'Too many texts are being read; try again soon.', {
      headers: { 'retry-after': '5' },
    });
  }
}

type Posted = { input: PostItem; recordId: string; extracted: ExtractedItem };

/** Holds the pool while it looks and writes, so that two requests with one text make one item. */
async function insertPosted(tx: Tx, { clock, extractor }: Deps, caller: Caller, posted: Posted): Promise<string> {
  const { input, recordId, extracted } = posted;
  const { orgId } = caller;
  const pool = await privatePool(tx, orgId, uuidv7());
  await lockPools(tx, [pool]);
  const held = await findPostedItem(tx, orgId, recordId);
  if (held) return held;
  const now = clock();
  const origin = originOf(orgId, { pool, orgName: await readOrgName(tx, orgId), now });
  const publisher = input.publisher ?? origin.publisher!;
  const record = toTextRecord(extracted, {
    recordId,
    canonicalKey: `${orgId}:txt:${sha256(JSON.stringify([publisher, extracted.title, normal(input.text)]))}`,
    publisher,
    url: input.sourceUrl,
    textUrl: input.sourceUrl,
    publishTime: instant(input.publishTime),
    tlp: input.tlp && storedTlp(input.tlp),
  });
  const { candidates, tooLarge } = toCandidates([record], origin, pool);
  if (tooLarge[0]) throw fieldError('/text', 'too_much', `Too much was found in the text: ${tooLarge[0].reason}.`);
  await applyPlan(
    tx,
    origin,
    planPull({ held: [], candidates, present: new Set(), catalogue: false, unread: 0, skipped: [] }),
    { now, knowledge: extractor.knowledge },
  );
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

const originOf = (orgId: OrgId, given: { pool: string; orgName: string; now: Date }): Origin => ({
  organization_id: orgId,
  id: null,
  kind: null,
  url: null,
  visibility: 'private',
  pool_id: given.pool,
  name: 'Own reports',
  publisher: given.orgName,
  tlp: null,
  license: null,
  reliability,
  // What is posted is news, never the first load of a source.
  last_success_at: given.now,
});
