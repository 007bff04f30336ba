import { z } from 'zod';
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
import { FeedItemDetail } from '../model/item.schema.ts';
import { parseInstant, removeUnbelievableDates } from '../model/source-record.ts';
import { planCommit, writeCommit } from './apply-actions.ts';
import { normalizeText, sha256 } from './content-hash.ts';
import type { Extractor } from './extractor.ts';
import { buildItemCandidates } from './item-candidates.ts';
import { planRecords } from './pull-plan.ts';
import type { ItemOrigin } from './source-row.ts';
import { findPostedItem, readOrgName } from './stored-items.store.ts';
import { toStoredTlp, TlpInput } from '../model/vocabulary.ts';
import { Instant } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';

const textMaxBytes = 1024 * 1024;
const fileMaxBytes = 15 * 1024 * 1024;
/** The largest body: base64 writes three bytes as four characters, and JSON may escape one byte of a text as six. */
export const postItemBodyMax = Math.ceil((fileMaxBytes * 4) / 3) + 4 * 1024 * 1024;

/** Whether a text is short enough for an item. */
const isShortEnough = (text: string): boolean => Buffer.byteLength(text) <= textMaxBytes;
const tooLongText = `must have at most ${textMaxBytes} bytes in UTF-8`;

const File = z.strictObject({
  name: boundedString({ min: 1, max: 255 }).describe('Name of the file, with its extension.'),
  content: z
    .base64()
    .min(1)
    .max(Math.ceil(fileMaxBytes / 3) * 4, `must have at most ${fileMaxBytes} bytes`)
    .describe('The bytes in base64, at most 15 MiB.'),
});

export const PostItem = z
  .strictObject({
    text: z
      .string()
      .refine((text) => text.trim() !== '', 'must not be blank')
      .refine(isShortEnough, tooLongText)
      .optional()
      .describe('The report, at most 1 MiB in UTF-8. Give either this or `file`.'),
    file: File.optional().describe(
      'A PDF, an e-mail (`.eml` or `.msg`), an HTML page or a text. Its text is read, and the file is not kept.',
    ),
    title: boundedString({ min: 1, max: 300 })
      .optional()
      .describe("Default: the title or subject of the file, else the text's first line."),
    publisher: boundedString({ min: 1, max: 200 })
      .optional()
      .describe('Default: the site of `sourceUrl`, else the name of the organization.'),
    publishTime: Instant.or(z.iso.date())
      .refine((text) => parseInstant(text) !== undefined, 'must be between the years 100 and 4500')
      .optional()
      .describe(
        'RFC 3339, or a date alone. Default: the date of an e-mail, else that in the opening lines or in `sourceUrl`.',
      ),
    sourceUrl: boundedString(
      { max: 2_000 },
      z.url({ protocol: /^https?$/, message: 'must begin with http:// or https://' }),
    )
      .refine(
        (url) => !URL.parse(url)?.username && !URL.parse(url)?.password,
        'must not contain a user name or password',
      )
      .optional()
      .describe('Where the text was published. It is not fetched.'),
    tlp: TlpInput.optional().describe('Default AMBER.'),
  })
  .refine(({ text, file }) => (text === undefined) !== (file === undefined), {
    path: ['text'],
    message: 'needs either `text` or `file`',
  });
export type PostItem = z.infer<typeof PostItem>;

/** The item of a posted report, with what was not read of its file. */
export const PostedItem = FeedItemDetail.extend({
  warnings: z
    .array(z.object({ code: z.literal('attachment_not_read'), message: z.string() }))
    .optional()
    .describe(
      'The attachments of an e-mail that could not be read, at most 20. Absent if all were. Images are never read.',
    ),
}).meta({ id: 'PostedItem' });
export type PostedItem = z.infer<typeof PostedItem>;

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
