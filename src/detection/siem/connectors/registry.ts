import { clickhouse } from './clickhouse.ts';
import type { RemoteConnector, SiemConnector } from '../connector.ts';
import { elasticsearch } from './elasticsearch.ts';
import { local } from './local.ts';
import { opensearch } from './opensearch.ts';
import { postgres } from './postgres.ts';
import { sentinel } from './sentinel.ts';
import { splunk } from './splunk.ts';

const remote = { clickhouse, elasticsearch, opensearch, postgres, sentinel, splunk } satisfies Record<
  string,
  RemoteConnector<unknown, unknown>
>;

export type RemoteSiemType = keyof typeof remote;
export type SiemKind = RemoteSiemType | 'local';

/**
 * The remote SIEMs that connections support, by their API names, without the types of their settings. Pass a connector only settings and
 * credentials that its own schemas parsed.
 */
export const remoteConnectors: Record<RemoteSiemType, RemoteConnector<unknown, unknown>> = remote;

export const siemConnectors = { local } satisfies Record<string, SiemConnector<never>>;

/** Returns what all kinds of SIEM have, the embedded store included. */
export const findConnector = (kind: SiemKind): Pick<SiemConnector, 'dialect' | 'timeField' | 'sweep'> =>
  kind === 'local' ? siemConnectors.local : remoteConnectors[kind];

export const siemKinds = ['local', ...Object.keys(remoteConnectors)] as SiemKind[];
