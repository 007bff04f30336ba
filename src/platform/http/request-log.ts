import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { context, propagation, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import type { FastifyRequest, FastifyBaseLogger } from 'fastify';
import type { App } from './app-type.ts';
import { startSpan } from '../lib/logging/spans.ts';

/** Probes and scrapes, which come every few seconds and carry no information. */
const untraced = new Set(['/healthz', '/readyz', '/metrics']);

/** Records a span for each request, as part of the trace that its headers name. */
export function traceRequests(app: App): void {
  const contexts = new WeakMap<FastifyRequest, Context>();
  app.addHook('onRequest', (request, _reply, done) => {
    const route = request.routeOptions.url;
    if (route !== undefined && untraced.has(route)) return done();
    const parent = propagation.extract(context.active(), request.headers);
    const span = context.with(parent, () =>
      startSpan(`${request.method} ${route ?? 'unknown route'}`, {
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': request.method,
          'url.path': request.url.split('?', 1)[0]!,
          'tocsin.request.id': request.id,
          ...(route === undefined ? {} : { 'http.route': route }),
        },
      }),
    );
    const ofRequest = trace.setSpan(parent, span);
    contexts.set(request, ofRequest);
    context.with(ofRequest, done);
  });
  // Reading a body continues in the context of the connection.
  app.addHook('preValidation', (request, _reply, done) => {
    context.with(contexts.get(request) ?? context.active(), done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const ofRequest = contexts.get(request);
    const span = ofRequest && trace.getSpan(ofRequest);
    span?.setAttribute('http.response.status_code', reply.statusCode);
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    done();
  });
}

/** Returns a logger that carries the request id. The child logger is created at the first line, since most requests write none. */
export function createRequestLogger(parent: FastifyBaseLogger, bindings: Record<string, unknown>): FastifyBaseLogger {
  let created: FastifyBaseLogger | undefined;
  const childLogger = (): FastifyBaseLogger => (created ??= parent.child(bindings));
  const logAt =
    (level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace') =>
    (...line: unknown[]): void =>
      (childLogger()[level] as (...line: unknown[]) => void)(...line);
  return {
    level: parent.level,
    silent: () => undefined,
    child: (...args) => childLogger().child(...args),
    fatal: logAt('fatal'),
    error: logAt('error'),
    warn: logAt('warn'),
    info: logAt('info'),
    debug: logAt('debug'),
    trace: logAt('trace'),
  };
}

export const requestIdHeader = 'x-request-id';
/** The request IDs accepted from a proxy or client. They are safe in log lines and headers without escaping. */
const accepted = /^[\w.:-]{1,100}$/;

/** Returns the ID that the caller sent, or a new one. */
export function readRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers[requestIdHeader];
  return typeof sent === 'string' && accepted.test(sent) ? sent : randomUUID();
}

/** Returns the ID of the request with every response. The log lines of the request carry it as `requestId`. */
export function registerRequestId(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(requestIdHeader, request.id);
    done();
  });
}
