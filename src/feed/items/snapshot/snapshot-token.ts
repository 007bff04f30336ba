import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { hourMs } from '../../model/expiry.ts';
import type { PoolVersion } from '../items.store.ts';
import { toView, type View } from './snapshot.ts';

/** A view together with the full UTC hour at which the expiry of its indicators is judged. */
export type Moment = { view: View; hour: number };

// A page is kept as long as its UTC hour lasts, so whoever gets it last has this long to read on.
const keptMs = 2 * hourMs;
const [nonceBytes, tagBytes, headBytes, poolBytes, seqBytes] = [12, 16, 4, 8, 6];
const poolsMax = 400;

/**
 * The opaque string that names a moment: which pools at which sequence, and the hour. Sealed, so that it tells nobody anything, and equal for
 * equal moments (the nonce is made from the text, as in RFC 5297), so that equal pages have equal bytes. Undefined for more than 400 pools.
 */
export function sealAsOf(key: Buffer, { view, hour }: Moment): string | undefined {
  if (view.poolIds.length > poolsMax) return undefined;
  const text = Buffer.alloc(headBytes + view.poolIds.length * (poolBytes + seqBytes));
  text.writeUInt32BE(hour / hourMs);
  for (const [index, id] of view.poolIds.entries()) {
    const at = headBytes + index * (poolBytes + seqBytes);
    poolName(id).copy(text, at);
    text.writeUIntBE(view.seqs[index]!, at + poolBytes, seqBytes);
  }
  const nonce = createHmac('sha256', key).update(text).digest().subarray(0, nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
}

/**
 * The moment that a string names, for a caller who sees `view` now. Throws a 400 that names `asOf` for a string that is not one of this
 * installation's or that names what the caller does not see, and `as_of_expired` for one that is too old.
 */
export function openAsOf(key: Buffer, text: string, now: { view: View; at: Date }): Moment {
  const opened = unseal(key, text);
  const ids = new Map(now.view.poolIds.map((id) => [poolName(id).toString('hex'), id]));
  const pools = opened?.pools.map(([name, seq]): PoolVersion => [ids.get(name) ?? '', seq]);
  if (!opened || !pools || pools.some(([id]) => id === ''))
    throw fieldError('query/asOf', 'unknown_as_of', 'asOf is not one that this organization was given.');
  if (now.at.getTime() >= opened.hour + keptMs)
    throw appError('as_of_expired', 'asOf is too old: begin again without it.', {
      errors: [{ pointer: 'query/asOf', code: 'as_of_expired', detail: 'What was then is kept for an hour.' }],
    });
  return { view: toView(pools), hour: opened.hour };
}

function unseal(key: Buffer, text: string): { hour: number; pools: [name: string, seq: number][] } | undefined {
  const sealed = Buffer.from(text, 'base64url');
  const length = sealed.length - nonceBytes - tagBytes - headBytes;
  if (length < 0 || length % (poolBytes + seqBytes) !== 0 || sealed.toString('base64url') !== text) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes));
  decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    const body = Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]);
    const pools = Array.from({ length: length / (poolBytes + seqBytes) }, (_, index): [string, number] => {
      const at = headBytes + index * (poolBytes + seqBytes);
      return [body.toString('hex', at, at + poolBytes), body.readUIntBE(at + poolBytes, seqBytes)];
    });
    return { hour: body.readUInt32BE() * hourMs, pools };
  } catch {
    return undefined;
  }
}

const poolName = (id: string): Buffer => createHash('sha256').update(id).digest().subarray(0, poolBytes);
