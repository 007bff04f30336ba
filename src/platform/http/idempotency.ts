import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { inOrg, row, type Db, type Tx } from '../db/db.ts';
import { appError, fieldError } from '../lib/errors.ts';
import type { Caller } from '../orgs/caller.ts';
import type { App } from './app-type.ts';

/** A request that died in flight holds its key no longer than this. */
const inFlightMax = '2 minutes';

type Claim = { caller: Caller; route: string; key: string };
type Stored = { body_hash: Buffer; status: number | null; answer: string | null; fresh: boolean };

declare module 'fastify' {
  interface FastifyRequest {
    idempotency: Claim | null;
  }
}

/**
 * `Idempotency-Key` on every POST: the first answer again for the same body within 24 h, 422 for another body, 409 while in flight.
 * An answer that holds a secret is stored without it.
 */
export function answerOnce(app: App, { db }: { db: Db }): void {
  app.decorateRequest('idempotency', null);
  // Only on the routes that need them: a hook costs every request that passes it.
  app.addHook('onRoute', (route) => {
    if (![route.method].flat().includes('POST')) return;
    route.preHandler = [...[route.preHandler ?? []].flat(), replay];
    route.onSend = [...[route.onSend ?? []].flat(), keepAnswer];
  });
  async function replay(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const key = request.headers['idempotency-key'];
    if (key === undefined || !request.caller) return;
    if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw fieldError('header/idempotency-key', 'invalid', 'Idempotency-Key is 1 to 255 visible ASCII characters.');
    }
    const claim = { caller: request.caller, route: `POST ${request.url.split('?')[0]}`, key };
    const hash = hashOfRequest(request.body, request.query);
    const stored = await inOrg(db, claim.caller.orgId, (tx) => claimKey(tx, claim, hash));
    if (stored.fresh) {
      request.idempotency = claim;
      return;
    }
    if (!stored.body_hash.equals(hash))
      throw appError('idempotency_mismatch', 'This Idempotency-Key was used with another body.');
    if (stored.status === null)
      throw appError('in_progress', 'The first request with this Idempotency-Key is still in flight.', {
        headers: { 'retry-after': '1' },
      });
    await reply
      .code(stored.status)
      .header('content-type', 'application/json; charset=utf-8')
      .header('idempotent-replayed', 'true')
      .serializer(String)
      .send(stored.answer);
  }
  async function keepAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const claim = request.idempotency;
    if (!claim) return payload;
    const keep = reply.statusCode < 300 && typeof payload === 'string';
    const answer = keep ? withoutSecret(payload, request.routeOptions.config.secretField) : null;
    await inOrg(db, claim.caller.orgId, (tx) =>
      keep ? storeAnswer(tx, claim, reply.statusCode, answer!) : releaseKey(tx, claim),
    );
    return payload;
  }
}

function hashOfRequest(body: unknown, query: unknown): Buffer {
  const hash = createHash('sha256').update(JSON.stringify(query ?? null));
  return hash.update(Buffer.isBuffer(body) ? body : JSON.stringify(body ?? null)).digest();
}

function withoutSecret(payload: string, field: string | undefined): string {
  if (!field) return payload;
  return JSON.stringify({ ...JSON.parse(payload), [field]: null, code: 'secret_already_shown' });
}

async function claimKey(tx: Tx, { caller, route, key }: Claim, hash: Buffer): Promise<Stored> {
  await sql`
    delete from idempotency_keys
    where organization_id = ${caller.orgId} and key_id = ${caller.keyId} and route = ${route} and idempotency_key = ${key}
      and (created_at < now() - interval '24 hours' or (status is null and created_at < now() - ${inFlightMax}::interval))`.execute(
    tx,
  );
  const made = await row<Stored>(
    tx,
    sql<Stored>`
      insert into idempotency_keys (organization_id, key_id, route, idempotency_key, body_hash)
      values (${caller.orgId}, ${caller.keyId}, ${route}, ${key}, ${hash})
      on conflict do nothing returning body_hash, status, answer, true as fresh`,
  );
  if (made) return made;
  const old = await row<Stored>(
    tx,
    sql<Stored>`
      select body_hash, status, answer, false as fresh from idempotency_keys
      where organization_id = ${caller.orgId} and key_id = ${caller.keyId} and route = ${route} and idempotency_key = ${key}`,
  );
  // The other request gave its key back between the two statements: for this one it is as if still in flight.
  return old ?? { body_hash: hash, status: null, answer: null, fresh: false };
}

async function storeAnswer(tx: Tx, { caller, route, key }: Claim, status: number, answer: string): Promise<void> {
  await sql`
    update idempotency_keys set status = ${status}, answer = ${answer}
    where organization_id = ${caller.orgId} and key_id = ${caller.keyId} and route = ${route} and idempotency_key = ${key}`.execute(
    tx,
  );
}

async function releaseKey(tx: Tx, { caller, route, key }: Claim): Promise<void> {
  await sql`
    delete from idempotency_keys
    where organization_id = ${caller.orgId} and key_id = ${caller.keyId} and route = ${route} and idempotency_key = ${key} and status is null`.execute(
    tx,
  );
}
