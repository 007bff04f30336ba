import { Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { App } from './app-type.ts';

export type Metrics = { registry: Registry; requests: Histogram<'method' | 'route' | 'status'> };

/** Gauges of prom-client with the suffix of a counter, which Prometheus reports as a mistake. The gauges without it have the same figures by type. */
const miscalledTotals = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Creates the metrics registry of one app. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of miscalledTotals) registry.removeSingleMetric(name);
  const requests = new Histogram({
    name: 'tocsin_http_request_seconds',
    help: 'Response time by route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  });
  return { registry, requests };
}

/** Observes the response time of every request and serves `GET /metrics` as Prometheus text. */
export function registerMetrics(app: App, metrics: Metrics): void {
  const observers = new Map<string, (seconds: number) => void>();
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const key = `${request.method} ${reply.statusCode} ${route}`;
    let observe = observers.get(key);
    if (!observe) {
      const child = metrics.requests.labels({ method: request.method, route, status: String(reply.statusCode) });
      observers.set(key, (observe = (seconds) => child.observe(seconds)));
    }
    observe(reply.elapsedTime / 1000);
    done();
  });
  app.route({
    method: 'GET',
    url: '/metrics',
    config: { isPublic: true },
    schema: { hide: true },
    handler: async (_request, reply) =>
      reply.header('content-type', metrics.registry.contentType).send(await metrics.registry.metrics()),
  });
}
