import { createHash, createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { readPools, type PoolVersion, readFeedKey } from './pools.store.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { hourMs, startOfHour } from '../../model/expiry.ts';
import { createPageCache, type CachedPage } from '../../../platform/http/responses/cached-pages.ts';

/**
 * The feed as an organization sees it at one moment: the pools that it sees, each with its sequence number. Snapshots with equal tags have
 * equal content.
 */
export type Snapshot = { tag: string; poolIds: string[]; seqs: number[] };

export type SnapshotCache = {
  /** Returns the organization's current snapshot. Concurrent requests share one query. */
  get: (orgId: OrgId) => Promise<Snapshot>;
  /** Drops all entries. Call it after a commit that changed the feed, so that the next reader in this process sees the change. */
  invalidate: () => void;
};

// Bounds how long the writes of another process stay unseen. Writes of this process call `invalidate`.
const freshMs = 100;
const orgsMax = 10_000;

export function createSnapshotCache(db: Db): SnapshotCache {
  // With a `ttlResolution` above 0, entries would outlive their time while the event loop is too busy to run timers.
  const snapshots = new LRUCache<OrgId, Promise<Snapshot>>({ max: orgsMax, ttl: freshMs, ttlResolution: 0 });
  return {
    get(orgId) {
      const fresh = snapshots.get(orgId);
      if (fresh) return fresh;
      const snapshot = inOrg(db, orgId, readPools).then(toSnapshot);
      snapshots.set(orgId, snapshot);
      snapshot.catch(() => snapshots.delete(orgId));
      return snapshot;
    },
    invalidate: () => snapshots.clear(),
  };
}

export function toSnapshot(pools: PoolVersion[]): Snapshot {
  const tag = createHash('sha256').update(JSON.stringify(pools)).digest('base64url').slice(0, 22);
  return { tag, poolIds: pools.map(([id]) => id), seqs: pools.map(([, seq]) => seq) };
}

/** A snapshot and the full UTC hour, in epoch milliseconds, at which the expiry of its indicators is evaluated. */
export type DatedSnapshot = { snapshot: Snapshot; hour: number };

// A page is served until its UTC hour ends, so that the last client to receive it has one more hour to read on.
const validMs = 2 * hourMs;
const [nonceBytes, authTagBytes, headerBytes, poolBytes, seqBytes] = [12, 16, 4, 8, 6];
const poolsMax = 400;

/**
 * Returns the opaque token of a snapshot (`asOf` on the wire): its pools with their sequence numbers, and the hour, encrypted. Equal snapshots
 * have equal tokens, so that equal pages have equal bytes: the nonce is derived from the plaintext, as in RFC 5297. Returns undefined for more
 * than 400 pools.
 */
export function sealSnapshotToken(key: Buffer, { snapshot, hour }: DatedSnapshot): string | undefined {
  if (snapshot.poolIds.length > poolsMax) return undefined;
  const plaintext = Buffer.alloc(headerBytes + snapshot.poolIds.length * (poolBytes + seqBytes));
  plaintext.writeUInt32BE(hour / hourMs);
  for (const [index, id] of snapshot.poolIds.entries()) {
    const offset = headerBytes + index * (poolBytes + seqBytes);
    poolDigest(id).copy(plaintext, offset);
    plaintext.writeUIntBE(snapshot.seqs[index]!, offset + poolBytes, seqBytes);
  }
  const nonce = createHmac('sha256', key).update(plaintext).digest().subarray(0, nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url');
}

/**
 * Returns the snapshot of a token, for a caller whose current snapshot is `snapshot`. Throws a 400 for `asOf` if the token is not from this
 * installation or contains a pool that the caller does not see, and `as_of_expired` if it is too old.
 */
export function openSnapshotToken(
  key: Buffer,
  token: string,
  { snapshot, now }: { snapshot: Snapshot; now: Date },
): DatedSnapshot {
  const opened = decrypt(key, token);
  const idByDigest = new Map(snapshot.poolIds.map((id) => [poolDigest(id).toString('hex'), id]));
  const pools = opened?.pools.map(([digest, seq]): PoolVersion => [idByDigest.get(digest) ?? '', seq]);
  if (!opened || !pools || pools.some(([id]) => id === ''))
    throw fieldError('query/asOf', 'unknown_as_of', 'Unknown `asOf` token. Request the first page again without it.');
  if (now.getTime() >= opened.hour + validMs)
    throw appError('as_of_expired', 'Expired `asOf` token. Request the first page again without it.', {
      errors: [
        {
          pointer: 'query/asOf',
          code: 'as_of_expired',
          detail: 'A token is valid for at least one hour after its page.',
        },
      ],
    });
  return { snapshot: toSnapshot(pools), hour: opened.hour };
}

function decrypt(key: Buffer, token: string): { hour: number; pools: [digest: string, seq: number][] } | undefined {
  const sealed = Buffer.from(token, 'base64url');
  const length = sealed.length - nonceBytes - authTagBytes - headerBytes;
  if (length < 0 || length % (poolBytes + seqBytes) !== 0 || sealed.toString('base64url') !== token) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes));
  decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + authTagBytes));
  try {
    const plaintext = Buffer.concat([decipher.update(sealed.subarray(nonceBytes + authTagBytes)), decipher.final()]);
    const pools = Array.from({ length: length / (poolBytes + seqBytes) }, (_, index): [string, number] => {
      const offset = headerBytes + index * (poolBytes + seqBytes);
      return [
        plaintext.toString('hex', offset, offset + poolBytes),
        plaintext.readUIntBE(offset + poolBytes, seqBytes),
      ];
    });
    return { hour: plaintext.readUInt32BE() * hourMs, pools };
  } catch {
    return undefined;
  }
}

const poolDigest = (id: string): Buffer => createHash('sha256').update(id).digest().subarray(0, poolBytes);

/** `key` identifies the response within its snapshot. `asOf` is a snapshot token; without one the page shows the feed at `now`. */
type FeedPageRequest = { orgId: OrgId; key: string; asOf?: string | undefined; now: Date };

/** Builds the body of a response from one snapshot, whose token is `token`. */
type BuildPage = (dated: DatedSnapshot, token: string | undefined) => Promise<Buffer>;

/**
 * Returns a response of the feed. Organizations that see the same snapshot share the cached bytes of a page for one UTC hour, and concurrent
 * requests share one build. Builders read the state at the snapshot's sequence numbers, so that later writes never leak into a page.
 */
export type FeedPages = { get: (request: FeedPageRequest, build: BuildPage) => Promise<CachedPage> };

export function createFeedPages(db: Db, snapshots: SnapshotCache): FeedPages {
  const cache = createPageCache();
  const building = new Map<string, Promise<CachedPage>>();
  let feedKey: Promise<Buffer> | undefined;
  const getFeedKey = (orgId: OrgId): Promise<Buffer> => {
    feedKey ??= inOrg(db, orgId, readFeedKey);
    feedKey.catch(() => (feedKey = undefined));
    return feedKey;
  };
  return {
    async get({ orgId, key, asOf, now }, build) {
      const snapshot = await snapshots.get(orgId);
      const dated =
        asOf === undefined
          ? { snapshot, hour: startOfHour(now) }
          : openSnapshotToken(await getFeedKey(orgId), asOf, { snapshot, now });
      const cacheKey = `${dated.snapshot.tag} ${dated.hour} ${key}`;
      const known = cache.get(cacheKey) ?? building.get(cacheKey);
      if (known) return known;
      const page = getFeedKey(orgId)
        .then((feedKey) => build(dated, sealSnapshotToken(feedKey, dated)))
        .then((body) => cache.put(cacheKey, body));
      building.set(cacheKey, page);
      return page.finally(() => building.delete(cacheKey));
    },
  };
}
