import { z } from 'zod';
import type { App } from './app-type.ts';
import { checkReadiness, type ReadinessDeps } from './check-readiness.ts';

const Health = z.object({ status: z.enum(['ok', 'degraded']), reasons: z.array(z.string()).optional() });

type HealthRoutesDeps = ReadinessDeps & {
  /** Returns why the service is degraded, or null. */
  degradedReason: () => string | null;
};

/** `/healthz` reports that the process is up. `/readyz` responds with 503 unless the database is available and migrated. */
export function healthRoutes(app: App, deps: HealthRoutesDeps): void {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { isPublic: true },
    schema: { tags: ['service'], summary: 'Report whether the process is up', security: [], response: { 200: Health } },
    handler: async () => ({ status: 'ok' as const }),
  });
  app.route({
    method: 'GET',
    url: '/readyz',
    config: { isPublic: true },
    schema: {
      tags: ['service'],
      summary: 'Report whether the service is ready: database available and migrated',
      security: [],
      response: { 200: Health },
    },
    handler: async () => {
      await checkReadiness(deps);
      const reason = deps.degradedReason();
      return reason ? { status: 'degraded' as const, reasons: [reason] } : { status: 'ok' as const };
    },
  });
}
