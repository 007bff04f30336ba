import { z } from 'zod';
import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { contentVersion } from '../../platform/http/etag.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { toUnavailable } from '../../platform/lib/threads/thread-protocol.ts';
import type { Models } from '../../platform/models/models.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import type { CompletedReport } from '../extraction/extract-item.ts';
import { type Claim, textOfQuote, mergeClaims } from '../extraction/reading/claim.ts';
import type { Extractor } from '../ingestion/extractor.ts';
import { isProseSource } from '../ingestion/item-document.ts';
import { toStoredReport } from '../ingestion/rewrite-item.ts';
import { findVisibleItem, type StaleItem } from '../ingestion/stored-items.store.ts';
import { findReaderAlias, findReading, type ReadingRow, setReaderAlias } from './readings.store.ts';
import { Instant } from '../../platform/lib/schema-parts.ts';

const Quote = z
  .object({
    text: z.string(),
    start: z.int(),
    end: z.int(),
    in: z.literal('title').optional().describe('Present if the passage is in the title and not in the text.'),
  })
  .describe('The passage that says so. Offsets in the stored text, in UTF-16 code units. `end` is exclusive.');

const ReaderClaim = z.object({
  field: z
    .string()
    .describe(
      '`name`, `technique`, `product`, `severity`, `role`, `family`, `summary`, `tldr`, `step` (of the attack path), `advice` or `title` (translated).',
    ),
  value: z.string().describe('The canonical name, the technique, the level, the value or the sentence.'),
  kind: z
    .string()
    .optional()
    .describe(
      'Kind of a name (`none`: something that only has the same name), role of a value, the family of a value, the vendor of a product, the deciding rule, the action of advice, or `not_done`.',
    ),
  quote: Quote,
  confidence: z.number(),
  decides: z.boolean().describe('Whether the item follows this claim. If not, the other reader contradicts it.'),
});

const Reader = z.object({
  reader: z.enum(['lexicon', 'model']),
  model: z.string().optional().describe('Provider and model.'),
  at: Instant.optional(),
  claims: z.array(ReaderClaim),
  dropped: z.record(z.string(), z.int()).describe('How many claims did not check out, by reason.'),
  unreadParts: z.int().describe('Parts of the text that were not read: it is too long, or no answer was usable.'),
  tokens: z.int().optional(),
  costUsd: z.number().optional(),
});

export const ItemReading = z
  .object({
    id: z.string(),
    state: z
      .enum(['none', 'waiting', 'done', 'failed', 'withheld'])
      .describe(
        'Of the model: `none` reads it, it is queued, has read it, failed (`problem`), or may not read it because of its marking.',
      ),
    problem: z.string().optional(),
    readers: z.array(Reader).describe('The lexicon first, then the model.'),
  })
  .meta({ id: 'ItemReading' });
export type ItemReading = z.infer<typeof ItemReading>;
type ReaderClaim = z.infer<typeof ReaderClaim>;

export const FeedReader = z
  .strictObject({
    modelAlias: z
      .string()
      .max(64)
      .nullable()
      .describe(
        'The model alias that reads the private items of the organization. Null: none. Items that others see as well are read by the alias `reader`.',
      ),
  })
  .meta({ id: 'FeedReader' });
export type FeedReader = z.infer<typeof FeedReader>;

export type GetReadingDeps = { db: Db; extractor: Pick<Extractor, 'complete'> };

/**
 * Returns what both readers say about an item, with the passages. The lexicon reads the stored text when this is called. Throws `not_found` if
 * the organization does not see the item, and `unavailable` (503) if too many texts are being read.
 */
export async function getReading({ db, extractor }: GetReadingDeps, caller: Caller, id: string): Promise<ItemReading> {
  const { item, row } = await inOrg(db, caller.orgId, async (tx) => {
    const found = await findVisibleItem(tx, id);
    return { item: found, row: found && (await findReading(tx, id)) };
  });
  if (!item) throw appError('not_found', `Item ${id} not found`);
  // A retracted or withdrawn item, and one of a structured source, has no text to read.
  if (!isProseSource(item.kind) || item.status === 'retracted' || item.stored_text === '')
    return { id, state: 'none', readers: [] };
  const read = await readBoth(extractor, item, { row, orgId: caller.orgId });
  const decides = new Set(mergeClaims(read.lexicon.claims, read.model.claims));
  const describe = (claim: Claim): ReaderClaim => describeClaim(claim, read, decides.has(claim));
  return {
    id,
    state: row?.state ?? 'none',
    ...(row?.error ? { problem: row.error } : {}),
    readers: [
      {
        reader: 'lexicon',
        claims: read.lexicon.claims.map(describe),
        dropped: { ...read.lexicon.dropped },
        unreadParts: 0,
      },
      ...(row && row.claims !== null ? [{ ...describeModel(row), claims: read.model.claims.map(describe) }] : []),
    ],
  };
}

async function readBoth(
  extractor: GetReadingDeps['extractor'],
  item: StaleItem,
  { row, orgId }: { row: ReadingRow | undefined; orgId: string },
): Promise<CompletedReport> {
  const claims = row?.claims ? (JSON.parse(row.claims) as Claim[]) : [];
  try {
    return await extractor.complete(toStoredReport(item), { claims }, orgId);
  } catch (error) {
    throw toUnavailable(error, 'Too many texts are being read. Try again in a few seconds.', 5);
  }
}

const describeModel = (row: ReadingRow): Omit<ItemReading['readers'][number], 'claims'> => ({
  reader: 'model',
  ...(row.model ? { model: row.model.replace(/#.*$/, '') } : {}),
  ...(row.read_at ? { at: row.read_at.toISOString() } : {}),
  dropped: JSON.parse(row.dropped ?? '{}') as Record<string, number>,
  unreadParts: row.unread_parts,
  tokens: row.tokens,
  costUsd: row.cost_usd,
});

function describeClaim(claim: Claim, { document }: CompletedReport, isDeciding: boolean): ReaderClaim {
  const { field, value, quote, confidence } = claim;
  const kind = kindOf(claim);
  return {
    field,
    value,
    ...(kind ? { kind } : {}),
    quote: { text: textOfQuote(document, quote), ...quote },
    confidence,
    decides: isDeciding,
  };
}

function kindOf(claim: Claim): string | undefined {
  switch (claim.field) {
    case 'name':
      return claim.kind;
    case 'technique':
      return claim.isDone ? undefined : 'not_done';
    case 'product':
      return claim.vendor;
    case 'severity':
      return claim.rule;
    case 'role':
      return claim.role;
    case 'family':
      return `${claim.kind} ${claim.name}`;
    case 'advice':
      return claim.action;
    default:
      return undefined;
  }
}

export type PutReaderDeps = { db: Db; clock: Clock; models?: Models };

/** Returns the model alias that reads the private items of the organization. */
export const getFeedReader = ({ db }: { db: Db }, { orgId }: Caller): Promise<FeedReader> =>
  inOrg(db, orgId, async (tx) => ({ modelAlias: await findReaderAlias(tx, orgId) }));

/** Sets the model alias that reads the private items of the organization. Throws 400 if no model is behind the alias, and 412 if it is another than `ifMatch` says. */
export async function putFeedReader(
  { db, clock, models }: PutReaderDeps,
  caller: Caller,
  { modelAlias }: FeedReader,
  ifMatch?: string,
): Promise<FeedReader> {
  if (modelAlias !== null && !models?.find(modelAlias))
    throw fieldError('/modelAlias', 'unknown_model_alias', `No model is configured under the alias "${modelAlias}".`);
  await inOrg(db, caller.orgId, async (tx) => {
    const before = { modelAlias: await findReaderAlias(tx, caller.orgId) };
    const resource = { action: 'feed_reader.updated', resourceType: 'organization', resourceId: caller.orgId };
    await requireMatch(tx, ifMatch, contentVersion(before), resource);
    if (before.modelAlias === modelAlias) return;
    await setReaderAlias(tx, caller.orgId, modelAlias, clock());
    await insertAudit(tx, caller, {
      ...resource,
      before: { ...before, ...contentVersion(before) },
      after: { modelAlias, ...contentVersion({ modelAlias }) },
    });
  });
  return { modelAlias };
}
