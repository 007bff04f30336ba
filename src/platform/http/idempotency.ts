import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acrossOrgs, inOrg, type Db, type Tx } from '../db/db.ts';
import { appError, fieldError } from '../lib/errors.ts';
import { isObject } from '../lib/json/json-values.ts';
import { stringifyInSlices } from '../lib/concurrency/slices.ts';
import { uuidPattern } from '../lib/org-id.ts';
import type { App } from './app-type.ts';
import {
  claimIdempotencyKey,
  releaseIdempotencyKey,
  storeResponse,
  type IdempotencyClaim,
  type IdempotencyOwner,
} from './idempotency.store.ts';

declare module 'fastify' {
  interface FastifyRequest {
    idempotency: IdempotencyClaim | null;
  }
}

/**
 * Supports `Idempotency-Key` on every POST: replays the first response to the same body for 24 hours, returns 422 for another body and
 * 409 while the first request is in flight. Secrets are removed from stored responses.
 */
export function registerIdempotency(app: App, { db }: { db: Db }): void {
  app.decorateRequest('idempotency', null);
  // Hooks cost every request, so only POST routes get them.
  app.addHook('onRoute', (route) => {
    if (![route.method].flat().includes('POST')) return;
    route.preHandler = [...[route.preHandler ?? []].flat(), replay];
    route.onSend = [...[route.onSend ?? []].flat(), saveResponse];
  });
  async function replay(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const key = request.headers['idempotency-key'];
    const owner = findOwner(request);
    if (key === undefined || !owner) return;
    if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw fieldError(
        'header/idempotency-key',
        'invalid',
        'Idempotency-Key must consist of 1 to 255 visible ASCII characters.',
      );
    }
    const claim = { owner, route: `POST ${normalizedPath(request)}`, key };
    const hash = await hashRequest(request.body, request.query);
    const stored = await inOwner(db, owner, (tx) => claimIdempotencyKey(tx, claim, hash));
    if (stored.isNew) {
      request.idempotency = claim;
      return;
    }
    if (!stored.body_hash.equals(hash))
      throw appError('idempotency_mismatch', 'This Idempotency-Key was already used with another body.');
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
  async function saveResponse(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const claim = request.idempotency;
    if (!claim) return payload;
    await inOwner(db, claim.owner, async (tx) => {
      if (reply.statusCode >= 300 || typeof payload !== 'string') return releaseIdempotencyKey(tx, claim);
      const response = removeSecret(payload, request.routeOptions.config.secretField);
      await storeResponse(tx, claim, reply.statusCode, response);
    });
    return payload;
  }
}

/** Returns who sent a request: its key, its session, or the operator. Returns undefined for a public route. */
function findOwner({ caller, routeOptions }: FastifyRequest): IdempotencyOwner | undefined {
  if (routeOptions.config.isAdmin) return { orgId: null, id: 'installation' };
  const id = caller?.keyId ?? caller?.sessionId;
  return caller && id ? { orgId: caller.orgId, id } : undefined;
}

const inOwner = <T>(db: Db, { orgId }: IdempotencyOwner, work: (tx: Tx) => Promise<T>): Promise<T> =>
  orgId === null ? acrossOrgs(db, work) : inOrg(db, orgId, work);

/** Returns the path of a request in one spelling: the route with its parameters, without a trailing slash, UUIDs in lower case. */
function normalizedPath({ routeOptions, params, url }: FastifyRequest): string {
  const values = (params ?? {}) as Record<string, string>;
  const spelled = (routeOptions.url ?? url).replace(/:(\w+)/g, (_match, name: string) => {
    const value = values[name] ?? '';
    return encodeURIComponent(uuidPattern.test(value) ? value.toLowerCase() : value);
  });
  return spelled.replace(/(.)\/$/, '$1');
}

async function hashRequest(body: unknown, query: unknown): Promise<Buffer> {
  // The order of the parameters means nothing.
  const sorted = Object.entries((query ?? {}) as Record<string, unknown>).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update(JSON.stringify(sorted));
  return hash.update(Buffer.isBuffer(body) ? body : await toText(body)).digest();
}

const toText = async (body: unknown): Promise<string> =>
  isObject(body) ? stringifyInSlices(body) : JSON.stringify(body ?? null);

function removeSecret(payload: string, field: string | undefined): string {
  if (!field) return payload;
  return JSON.stringify({ ...JSON.parse(payload), [field]: null, code: 'secret_already_shown' });
}
