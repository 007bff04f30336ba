import { z } from 'zod';
import type { App } from './app-type.ts';
import { appError } from '../lib/errors.ts';

const Health = z.object({ status: z.enum(['ok', 'degraded']), reasons: z.array(z.string()).optional() });

type HealthRoutesDeps = {
  /** Returns whether the database is migrated to this version. Rejects if it is unavailable. */
  isMigrated: () => Promise<boolean>;
  /** Returns why the service is degraded. Empty if it is not. */
  degradedReasons: () => Promise<string[]>;
};

/** Throws 503 if the database is unavailable or not migrated to this version. */
async function checkReadiness({ isMigrated }: HealthRoutesDeps): Promise<void> {
  const headers = { 'retry-after': '2' };
  const migrated = await isMigrated().catch(() => {
    throw appError('unavailable', 'The database does not respond.', { headers });
  });
  if (!migrated) throw appError('unavailable', 'The database is not migrated to this version.', { headers });
}

/** `/healthz` reports that the process is up. `/readyz` responds with 503 unless the database is available and migrated. */
export function healthRoutes(app: App, deps: HealthRoutesDeps): void {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { isPublic: true },
    schema: {
      operationId: 'getHealth',
      tags: ['service'],
      summary: 'Report whether the process is up',
      security: [],
      response: { 200: Health },
    },
    handler: async () => ({ status: 'ok' as const }),
  });
  app.route({
    method: 'GET',
    url: '/readyz',
    config: { isPublic: true, usesPrimary: true },
    schema: {
      operationId: 'getReadiness',
      tags: ['service'],
      summary: 'Report whether the service is ready: database available and migrated',
      security: [],
      response: { 200: Health },
    },
    handler: async () => {
      await checkReadiness(deps);
      const reasons = await deps.degradedReasons();
      return reasons.length > 0 ? { status: 'degraded' as const, reasons } : { status: 'ok' as const };
    },
  });
}
