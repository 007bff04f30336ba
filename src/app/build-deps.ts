import { checkQuery } from '../detection/connections/check-connection.ts';
import { createConnectionFor } from '../detection/connections/connect.ts';
import { createModels } from '../platform/models/models.ts';
import type { Config } from '../config.ts';
import type { Db } from '../platform/db/db.ts';
import type { Deps } from './deps.ts';
import { feedToolsOf } from './feed-tools.ts';
import { storedMcpServers } from '../platform/mcp/stored-servers.ts';
import { createExtractor } from '../feed/extraction/extractor.ts';
import { useHeldKnowledge } from '../feed/reference-data/load-installed.ts';
import { createParser } from '../feed/sources/pull/parser.ts';
import { createMcpTools } from '../platform/mcp/mcp-tools.ts';
import { createMetrics } from '../platform/http/metrics.ts';
import { systemClock, type Clock } from '../platform/lib/clock.ts';
import { createSecretbox } from '../platform/lib/secretbox.ts';
import { localConnection } from '../detection/logs/query/local-connection.ts';
import { createEngine } from '../detection/logs/engine/engine.ts';
import { folderOf } from '../detection/logs/log-deps.ts';
import { createClockGuard } from '../detection/scheduling/clock-guard.ts';
import { testErrors } from '../detection/testing/run-tests.ts';
import type { OrgId } from '../platform/lib/org-id.ts';
import type { Logger } from '../platform/lib/logger.ts';
import { createAuthenticate } from '../platform/orgs/authenticate.ts';

/** Builds every part once. `stop` ends what was started on the way (child processes), not the database pool. */
export function buildDeps(given: { config: Config; db: Db; log: Logger; clock?: Clock }): {
  deps: Deps;
  stop: () => Promise<void>;
} {
  const { config, db, log, clock = systemClock } = given;
  const engine = createEngine({ directoryOf: (orgId) => folderOf(config.dataDir, orgId) });
  const search = { db, clock, config, engine };
  const secrets = createSecretbox(config);
  const local = (orgId: OrgId) => localConnection(search, orgId);
  const connectionFor = createConnectionFor({ db, secrets, fetchAllow: config.fetchAllow, local });
  const mcp = createMcpTools(config.mcpServers, storedMcpServers({ db, secrets, fetchAllow: config.fetchAllow }));
  useHeldKnowledge(config.dataDir, log);
  const extractor = createExtractor(config.dataDir);
  const parser = createParser(config.dataDir);
  const deps: Deps = {
    config,
    db,
    clock,
    log,
    auth: createAuthenticate(db),
    metrics: createMetrics(),
    secrets,
    clockGuard: createClockGuard(clock),
    engine,
    extractor,
    parser,
    connectionFor,
    models: createModels(config.models),
    feedTools: feedToolsOf({ db, clock }),
    mcp,
    fetchAllow: config.fetchAllow,
    checkTests: (orgId, detectionId, definition) => testErrors(deps, { orgId, detectionId, definition }),
    checkQuery: (orgId, ref, query) => checkQuery({ connectionFor }, orgId, { ref, query }),
  };
  return {
    deps,
    stop: async () => {
      await mcp.close();
      await extractor.close();
      await parser.close();
      await engine.close();
    },
  };
}
