import { clickhouse } from './clickhouse.ts';
import type { RemoteConnector, SiemConnector } from '../connector.ts';
import { elasticsearch } from './elasticsearch.ts';
import { local } from './local.ts';
import { opensearch } from './opensearch.ts';
import { postgres } from './postgres.ts';
import { sentinel } from './sentinel.ts';
import { splunk } from './splunk.ts';

/** The remote SIEMs that connections support, by their API names. */
export const remoteConnectors = { clickhouse, elasticsearch, opensearch, postgres, sentinel, splunk } satisfies Record<
  string,
  RemoteConnector<unknown, unknown>
>;

export type RemoteSiemType = keyof typeof remoteConnectors;

export const siemConnectors = { local } satisfies Record<string, SiemConnector<never>>;
