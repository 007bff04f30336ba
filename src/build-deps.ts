import { createModels } from './agent/models.ts';
import type { Config } from './config.ts';
import type { Db } from './db/db.ts';
import type { Deps } from './deps.ts';
import { feedToolsOf } from './feed-tools.ts';
import { createExtractor } from './ingest/extract/extractor.ts';
import { createMcpTools } from './tools/mcp.ts';
import { createMetrics } from './http/metrics.ts';
import { systemClock, type Clock } from './lib/clock.ts';
import { createSecretbox } from './lib/secretbox.ts';
import { localConnection } from './logs/connection.ts';
import { createEngine } from './logs/engine/engine.ts';
import { folderOf } from './logs/log-deps.ts';
import { checkLogsQuery } from './logs/search.ts';
import { createClockGuard } from './schedule/clock-guard.ts';
import { testErrors } from './proof/run-tests.ts';
import type { Logger } from './lib/logger.ts';
import { createAuthenticate } from './orgs/authenticate.ts';

/** Builds every part once. `stop` ends what was started on the way (child processes), not the database pool. */
export function buildDeps(given: { config: Config; db: Db; log: Logger; clock?: Clock }): {
  deps: Deps;
  stop: () => Promise<void>;
} {
  const { config, db, log, clock = systemClock } = given;
  const engine = createEngine({ directoryOf: (orgId) => folderOf(config.dataDir, orgId) });
  const search = { db, clock, config, engine };
  const extractor = createExtractor(config.dataDir);
  const mcp = createMcpTools(config.mcpServers);
  const deps: Deps = {
    config,
    db,
    clock,
    log,
    auth: createAuthenticate(db),
    metrics: createMetrics(),
    secrets: createSecretbox(config),
    clockGuard: createClockGuard(clock),
    engine,
    extractor,
    connectionFor: (orgId) => localConnection(search, orgId),
    models: createModels(config.models),
    feedTools: feedToolsOf({ db, clock }),
    mcp,
    fetchAllow: config.fetchAllow,
    checkTests: (orgId, detectionId, definition) => testErrors(deps, { orgId, detectionId, definition }),
    checkQuery: (orgId, query) => checkLogsQuery(search, orgId, query),
  };
  return {
    deps,
    stop: async () => {
      await mcp.close();
      await extractor.close();
      await engine.close();
    },
  };
}
