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

/** Returns the field with the time of an event, as the settings of a connection or its kind of SIEM define it. */
export function readTimeField(kind: RemoteSiemType, settings: unknown): string {
  const { timeField, timeColumn } = settings as { timeField?: string; timeColumn?: string };
  return timeField ?? timeColumn?.split('.').at(-1)!.replaceAll(/["`]/g, '') ?? remoteConnectors[kind].timeField;
}

export const siemConnectors = { local } satisfies Record<string, SiemConnector<never>>;

/** Returns what all kinds of SIEM have, the embedded store included. */
export const findConnector = (kind: SiemKind): Pick<SiemConnector, 'dialect' | 'timeField' | 'sweep'> =>
  kind === 'local' ? siemConnectors.local : remoteConnectors[kind];

export const siemKinds = ['local', ...Object.keys(remoteConnectors)] as SiemKind[];
