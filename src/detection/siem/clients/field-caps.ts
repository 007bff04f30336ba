import type { DatasetFields } from '../connector.ts';
import { requestJson, type SiemServer } from './siem-http.ts';

type Caps = { fields?: Record<string, Record<string, { metadata_field?: boolean }>> };

/** Lists the fields of an index pattern by `_field_caps`, which Elasticsearch and OpenSearch share. */
export async function fetchFieldCaps(
  server: SiemServer,
  index: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  toError: Parameters<typeof requestJson>[2],
): Promise<DatasetFields[]> {
  const query = { fields: '*', ignore_unavailable: 'true', allow_no_indices: 'true' };
  const path = `/${encodeURIComponent(index)}/_field_caps`;
  const { fields = {} } = await requestJson<Caps>(server, { path, query, timeoutMs, signal }, toError);
  const list = Object.entries(fields)
    .filter(([, types]) => !Object.values(types).some((type) => type.metadata_field))
    .map(([name, types]) => ({ name, type: Object.keys(types).join(' or ') }));
  return [{ dataset: index, fields: list.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }];
}
