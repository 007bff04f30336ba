import type { DatasetFields } from '../connector.ts';
import { requestJson, type SiemServer } from './siem-http.ts';

type Caps = { fields?: Record<string, Record<string, { metadata_field?: boolean }>> };

/** The fields of an index pattern, as Elasticsearch and OpenSearch tell them alike (`_field_caps`). */
export async function fetchFieldCaps(
  server: SiemServer,
  index: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  fault: Parameters<typeof requestJson>[2],
): Promise<DatasetFields[]> {
  const query = { fields: '*', ignore_unavailable: 'true', allow_no_indices: 'true' };
  const path = `/${encodeURIComponent(index)}/_field_caps`;
  const { fields = {} } = await requestJson<Caps>(server, { path, query, timeoutMs, signal }, fault);
  const named = Object.entries(fields)
    .filter(([, types]) => !Object.values(types).some((type) => type.metadata_field))
    .map(([name, types]) => ({ name, type: Object.keys(types).join(' or ') }));
  return [{ dataset: index, fields: named.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }];
}
