import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { hourMs } from '../../model/expiry.ts';
import type { PoolVersion } from './pools.store.ts';
import { toSnapshot, type Snapshot } from './snapshot.ts';

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
