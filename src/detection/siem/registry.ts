import { clickhouse } from './connectors/clickhouse.ts';
import type { RemoteConnector, SiemConnector } from './connector.ts';
import { elasticsearch } from './connectors/elasticsearch.ts';
import { local } from './connectors/local.ts';
import { opensearch } from './connectors/opensearch.ts';
import { postgres } from './connectors/postgres.ts';
import { sentinel } from './connectors/sentinel.ts';
import { splunk } from './connectors/splunk.ts';

/** The remote SIEMs that connections support, by their API names. */
export const remoteConnectors = { clickhouse, elasticsearch, opensearch, postgres, sentinel, splunk } satisfies Record<
  string,
  RemoteConnector<unknown, unknown>
>;

export type RemoteSiemType = keyof typeof remoteConnectors;

export const siemConnectors = { local } satisfies Record<string, SiemConnector<never>>;
