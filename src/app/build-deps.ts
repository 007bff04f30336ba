import { checkQuery } from '../detection/connections/check-connection.ts';
import { readPortableTarget, withPortableQueries } from '../detection/portable-queries/portable-connection.ts';
import { createConnectionFor } from '../detection/connections/open-connection.ts';
import { measureModels } from '../platform/models/model-metrics.ts';
import { createModels } from '../platform/models/models.ts';
import type { Config } from '../config.ts';
import { inOrg, type Db } from '../platform/db/db.ts';
import type { Deps } from './deps.ts';
import {
  registerInstallationMetrics,
  createDataDiskGuard,
  registerDiskMetrics,
  registerReplicaMetrics,
  createMetrics,
} from './metrics.ts';
import { withFeedItems, withQueryTime, createUsageCounter } from './usage/usage-counter.ts';
import { createFeedSteps } from './feed-steps.ts';
import { createStoredServerReader } from '../platform/mcp/mcp-servers.ts';
import { createExtractor } from '../feed/ingestion/extractor.ts';
import { createEnrich } from '../platform/enrichment/enrich.ts';
import { openGeoDatabases } from '../platform/enrichment/geo-databases.ts';
import { applyInstalledReferenceData } from '../feed/reference-data/installed-data.ts';
import { createDetectionLists } from '../detection/detections/read-detections.ts';
import { createFeedPages, createSnapshotCache } from '../feed/items/snapshot/snapshot.ts';
import { createPageStarts } from '../feed/items/list-query/page-starts.ts';
import { createPullMetrics } from '../feed/sources/pull/start-pulls.ts';
import { createPullThreads } from '../feed/sources/pull/pull-threads.ts';
import { createSourceTestThreads } from '../feed/sources/test-source.ts';
import { createMcpTools } from '../platform/mcp/mcp-tools.ts';
import { createDeliveryCounter } from '../platform/notifications/deliver.ts';
import { systemClock, type Clock } from '../platform/lib/time/clock.ts';
import { createSecretbox } from '../platform/lib/secretbox.ts';
import { localConnection } from '../detection/log-query/local-connection.ts';
import { createQueryShapes } from '../detection/log-query/search/run-together.ts';
import { createCatalogCache } from '../detection/log-store/catalog/catalog.store.ts';
import { createIngestMetrics } from '../detection/log-ingest/receive-logs.ts';
import { createLogQuotaGuard } from '../detection/log-ingest/receive-logs.ts';
import { readListTables } from '../detection/value-lists/value-lists.store.ts';
import { createBodyReader } from '../detection/shippers/body-reader.ts';
import { importSigma } from '../detection/sigma/import-rules.ts';
import { createRuleConverter } from '../detection/sigma/convert/convert-request.ts';
import { createEngine } from '../detection/log-engine/process/engine.ts';
import { createCacheMetrics } from '../detection/log-store/files/segment-cache.ts';
import { createSegmentStore } from '../detection/log-store/files/create-segment-store.ts';
import { createRunMetrics } from '../detection/runs/workers/run-metrics.ts';
import { withRuleSets, createRuleSets } from '../detection/sigma/rule-sets.ts';
import { createClockGuard } from '../detection/scheduling/clock-guard.ts';
import { findTestErrors } from '../detection/testing/run-test-set.ts';
import type { OrgId } from '../platform/lib/org-id.ts';
import type { Logger } from '../platform/lib/logging/logger.ts';
import { createKeyAuthenticator } from '../platform/orgs/authenticate.ts';
import { createSessionAuthenticator } from '../platform/orgs/sessions/session-authenticator.ts';
import { listItems, type ListItemsDeps } from '../feed/items/list-items.ts';
import { lookUpIndicator, lookUpIndicators } from '../feed/indicators/look-up-indicators.ts';
import type { FeedList } from '../feed/model/item.schema.ts';
import { findTechnique, listTactics, listTechniques } from '../feed/reference-data/attack.ts';
import type { FeedTools } from '../detection/tools/tool-definition.ts';
import { getShippedNames } from '../feed/extraction/names/dictionary/name-dictionary.ts';
import { countWords, type WordCounts } from '../feed/items/search/correct-search.ts';

type BuildDepsOptions = { config: Config; db: Db; log: Logger; clock?: Clock };

/** Creates the dependencies of one process. `stop` ends their threads and child processes, but not the database pool. */
export function buildDeps({ config, db, log, clock = systemClock }: BuildDepsOptions): {
  deps: Deps;
  stop: () => Promise<void>;
} {
  const metrics = createMetrics();
  const segmentStore = createSegmentStore(config, { log, metrics: createCacheMetrics(metrics.registry) });
  const engine = createEngine({
    directoryOf: segmentStore.folderOf,
    readLists: (orgId, names) => inOrg(db, orgId as OrgId, (tx) => readListTables(tx, orgId as OrgId, names)),
  });
  const logCatalogs = createCatalogCache();
  const bodyReader = createBodyReader();
  const ruleConverter = createRuleConverter();
  const queryShapes = createQueryShapes();
  const search = { db, clock, segmentStore, engine, logCatalogs, queryShapes };
  const secrets = createSecretbox(config);
  const ruleSets = createRuleSets(search);
  const local = (orgId: OrgId) => withRuleSets(localConnection(search, orgId), ruleSets, orgId);
  const connectionFor = createConnectionFor({
    db,
    secrets,
    fetchAllow: config.fetchAllow,
    local,
    withPortableQueries: (connection, { organization, kind, settings }) =>
      withPortableQueries(connection, { engine, segmentStore, organization }, readPortableTarget(kind, settings)),
  });
  const mcp = createMcpTools(
    config.mcpServers,
    createStoredServerReader({ db, secrets, fetchAllow: config.fetchAllow }),
  );
  applyInstalledReferenceData(config.dataDir, log);
  openGeoDatabases({ dataDir: config.dataDir, paths: config.geoDatabases }, log);
  const extractor = createExtractor(config.dataDir);
  const snapshots = createSnapshotCache(db);
  const pulls = createPullThreads({ db, clock, log, config, extractor, snapshots });
  const sourceTests = createSourceTestThreads({ clock, config });
  const feedSteps = createFeedSteps({ db, clock, log, config, extractor, snapshots });
  registerInstallationMetrics(metrics.registry, db);
  if (db.replica) registerReplicaMetrics(metrics.registry, db.replica);
  const diskGuard = createDataDiskGuard(config);
  registerDiskMetrics(metrics.registry, diskGuard);
  const usage = createUsageCounter({ db, clock, log });
  const runMetrics = createRunMetrics(metrics.registry, db);
  const recordPull = createPullMetrics(metrics.registry);
  const deps: Deps = {
    config,
    db,
    clock,
    log,
    auth: createKeyAuthenticator(db),
    sessions: createSessionAuthenticator(db, { idleMs: config.sessionIdleMinutes * 60_000 }),
    metrics,
    usage,
    runMetrics: { ...runMetrics, observeRun: withQueryTime(runMetrics.observeRun, usage) },
    deliveryCounter: createDeliveryCounter(metrics.registry),
    secrets,
    clockGuard: createClockGuard(clock),
    diskGuard,
    engine,
    segmentStore,
    logCatalogs,
    queryShapes,
    bodyReader,
    logQuotas: createLogQuotaGuard(),
    ruleConverter,
    importSigma: (caller, request, report) => importSigma(deps, caller, request, report),
    extractor,
    runPull: pulls.runPull,
    runSourceTest: sourceTests.runSourceTest,
    runFeedStep: feedSteps.runFeedStep,
    recordPull: withFeedItems(recordPull, usage),
    recordReceipt: createIngestMetrics(metrics.registry),
    snapshots,
    feedPages: createFeedPages(db, snapshots),
    detectionLists: createDetectionLists(),
    pageStarts: createPageStarts(),
    countPublicWords,
    connectionFor,
    models: measureModels(createModels(config.models, db), metrics.registry),
    feedTools: (orgId) => createFeedTools(deps)(orgId),
    enrich: createEnrich({ db, clock, secrets, config }),
    mcp,
    fetchAllow: config.fetchAllow,
    checkTests: (orgId, detectionId, definition) => findTestErrors(deps, { orgId, detectionId, definition }),
    checkQuery: (orgId, selector, query) => checkQuery({ connectionFor }, orgId, { selector, query }),
  };
  return {
    deps,
    stop: async () => {
      await usage.stop();
      await mcp.close();
      await pulls.close();
      await sourceTests.close();
      await feedSteps.close();
      await extractor.close();
      await bodyReader.close();
      await ruleConverter.close();
      await engine.close();
      segmentStore.close();
    },
  };
}

const itemsMax = 3;

/** Creates the feed and ATT&CK lookups that detection tools use, so that the detection half need not import the feed. */
export function createFeedTools(deps: ListItemsDeps): (orgId: OrgId) => FeedTools {
  return (orgId) => ({
    searchFeed: async (text, limit) => {
      const page = await listItems(deps, { orgId }, { q: text, perPage: String(limit) });
      const { items, validations } = JSON.parse(String(await page.bytes('identity'))) as FeedList;
      const warnings = (validations?.warnings ?? []).map(({ message }) => message);
      return { items: items.map(summarize), ...(warnings.length > 0 && { warnings }) };
    },
    lookupIndicator: (value) => lookUpIndicator(deps, { orgId }, value),
    lookupTechnique: findTechnique,
    findKnownIndicators: async (values) => {
      const { indicators } = await lookUpIndicators(deps, { orgId }, { values });
      return indicators
        .filter(({ items }) => items.length > 0)
        .map(({ value, status, items }) => ({
          indicator: value,
          isActive: status === 'active',
          items: items.slice(0, itemsMax).map(({ itemId: id, title }) => ({ id, title })),
        }));
    },
  });
}

const summarize = ({ id, event, source, tenantOverrides: own }: FeedList['items'][number]) => ({
  id,
  title: event.title,
  severity: own?.severity ?? event.severity,
  status: own?.status ?? event.status,
  publisher: source.publisher,
  publishTime: source.publishTime,
});

let counted: WordCounts | undefined;

/** Returns the words of the shipped names of actors, malware, tools, techniques and tactics, which are read once. */
function countPublicWords(): WordCounts {
  counted ??= countWords([
    ...[...getShippedNames().values()].map(({ printed }) => printed),
    ...[...listTechniques(), ...listTactics()].map(({ name }) => name),
  ]);
  return counted;
}
