import { context, propagation, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import type { FastifyRequest } from 'fastify';
import type { App } from '../app-type.ts';
import { startSpan } from '../../lib/tracing/spans.ts';

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
