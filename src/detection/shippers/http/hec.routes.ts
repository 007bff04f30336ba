import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../../platform/http/app-type.ts';
import type { RenderedError } from '../../../platform/http/responses/problem.ts';
import { fieldError, type AppError } from '../../../platform/lib/errors.ts';
import { findFailure, type ReceiveShipperDeps, type ShipperReceipt } from '../receive-shipper-body.ts';
import { parseDocument } from '../formats/body-decoder.ts';
import { bodyOptions, receiveRequest, registerShipperScope, shipperConfig } from './shipper-scope.ts';

const text = z.string().max(1000).optional();
const Metadata = z.looseObject({ host: text, source: text, sourcetype: text, index: text, time: text, channel: text });

const path = '/services/collector';
const acksMax = 10_000;

/** Splunk's HTTP Event Collector. */
export function hecRoutes(app: App, deps: ReceiveShipperDeps): void {
  registerShipperScope(app, renderError, (scope) => {
    const post = (
      urls: string[],
      handler: (request: FastifyRequest, query: z.infer<typeof Metadata>, reply: FastifyReply) => Promise<unknown>,
    ): void => {
      for (const url of urls)
        scope.route({
          method: 'POST',
          url: `${path}${url}`,
          ...bodyOptions,
          config: shipperConfig,
          schema: { hide: true, querystring: Metadata },
          handler: async (request, reply) => reply.send(await handler(request, request.query, reply)),
        });
    };
    const receive =
      (kind: 'hec-event' | 'hec-raw') =>
      async (request: FastifyRequest, query: z.infer<typeof Metadata>, reply: FastifyReply): Promise<unknown> => {
        const { host, source, sourcetype, index, time } = query;
        const receipt = await receiveRequest(deps, request, {
          kind,
          defaults: { host, source, sourcetype, index, time },
        });
        const channel = query.channel ?? request.headers['x-splunk-request-channel'];
        return respond(receipt, reply, channel !== undefined);
      };
    post(['', '/event', '/event/1.0'], receive('hec-event'));
    post(['/raw', '/raw/1.0'], receive('hec-raw'));
    post(['/ack'], async ({ body }) => ({ acks: readAcks(body) }));
    for (const url of ['/health', '/health/1.0'])
      scope.route({
        method: 'GET',
        url: `${path}${url}`,
        config: { isPublic: true },
        schema: { hide: true },
        handler: (_request, reply) => reply.send({ text: 'HEC is healthy', code: 17 }),
      });
  });
}

/** Responds with success, or with the first rejected event. The other events of the request are stored in both cases. */
function respond(receipt: ShipperReceipt, reply: FastifyReply, hasChannel: boolean): unknown {
  const { rejected } = receipt;
  const failure = findFailure(receipt);
  if (failure) {
    void reply.code(400);
    return { text: `Incorrect index: ${failure.message}`, code: 7 };
  }
  const [first] = rejected;
  if (first) {
    void reply.code(400);
    const more = rejected.length > 1 ? ` ${rejected.length} events were rejected.` : '';
    return { text: `${first.reason}.${more}`, code: codeOf(first.reason), 'invalid-event-number': first.item - 1 };
  }
  return { text: 'Success', code: 0, ...(hasChannel && { ackId: nextAckId() }) };
}

const codeOf = (reason: string): number =>
  reason === 'Event field is required' ? 12 : reason === 'Event field cannot be blank' ? 13 : 6;

/** The time in microseconds: any process knows that it was issued, and that its events are stored. */
const nextAckId = (): number => Date.now() * 1000 + Math.floor((performance.now() * 1000) % 1000);

/** An acknowledgment ID is returned once the events are stored, so that every ID that was issued is acknowledged. */
function readAcks(body: unknown): Record<string, boolean> {
  const { acks } = Buffer.isBuffer(body) ? parseDocument(body) : {};
  if (!Array.isArray(acks) || acks.length > acksMax || !acks.every((ack) => Number.isSafeInteger(ack)))
    throw fieldError('/acks', 'invalid', `acks must be a list of at most ${acksMax} integers.`);
  const now = (Date.now() + 1) * 1000;
  return Object.fromEntries((acks as number[]).map((ack) => [String(ack), ack > 0 && ack <= now]));
}

/** Renders an error with the code of the Event Collector that its clients know. */
function renderError(error: AppError): RenderedError {
  const codes: Record<number, number> = { 401: 3, 403: 4, 400: 6, 413: 6, 429: 9, 503: 9 };
  const isEmpty = error.errors?.[0]?.code === 'required';
  const body = JSON.stringify({ text: error.message, code: isEmpty ? 5 : (codes[error.status] ?? 8) });
  return { body, type: 'application/json; charset=utf-8' };
}
