import { sql } from 'kysely';
import { z } from 'zod';
import { acrossOrgs } from '../db/db.ts';
import { listMigrations } from '../db/migrate.ts';
import type { Deps } from '../../app/deps.ts';
import { appError } from '../lib/errors.ts';
import type { App } from './app-type.ts';

const Health = z.object({ status: z.enum(['ok', 'degraded']), reasons: z.array(z.string()).optional() });

/** `/healthz`: the process is up. `/readyz`: the database answers and has this version's tables; 503 otherwise. */
export function healthRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { open: true },
    schema: { tags: ['service'], summary: 'Whether the process is up', security: [], response: { 200: Health } },
    handler: async () => ({ status: 'ok' as const }),
  });
  app.route({
    method: 'GET',
    url: '/readyz',
    config: { open: true },
    schema: {
      tags: ['service'],
      summary: 'Whether the service can answer: database reachable and migrated',
      security: [],
      response: { 200: Health },
    },
    handler: async () => {
      await checkDatabase(deps);
      const reason = deps.clockGuard.reason();
      return reason ? { status: 'degraded' as const, reasons: [reason] } : { status: 'ok' as const };
    },
  });
}

async function checkDatabase({ db }: Deps): Promise<void> {
  const headers = { 'retry-after': '2' };
  const newest = listMigrations().at(-1);
  const applied = await acrossOrgs(
    db,
    async (tx) =>
      (await sql<{ n: string }>`select name as n from migrations order by name desc limit 1`.execute(tx)).rows[0]?.n,
  ).catch(() => {
    throw appError('unavailable', 'The database does not answer.', { headers });
  });
  if (applied !== newest) throw appError('unavailable', 'The database is not migrated to this version.', { headers });
}
