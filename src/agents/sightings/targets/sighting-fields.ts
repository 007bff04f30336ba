import type { DatasetFields } from '../../../detection/siem/connector.ts';
import type { Bucket } from '../../../feed/model/vocabulary.ts';

/** The indicator buckets that sweeps search for, and the log fields that contain such values: ECS, CloudTrail, Sysmon, CIM, and plain names. */
export const sweepKinds = {
  address: {
    buckets: ['ipv4', 'ipv6'],
    names:
      /(?:^|[._]|source|src|dest(?:ination)?|dst|client|remote|server|caller|peer)_?(?:ip(?:v[46])?_?(?:addr(?:ess)?)?|addr)$/,
  },
  domain: {
    buckets: ['domains'],
    names:
      /(?:^|[._])(?:dest_?|destination_?|remote_?)?(?:domain|fqdn|qname|query_?name|query|sni|server_?name)$|dns\.question\.name$/,
  },
  hash: { buckets: ['hashes'], names: /(?:^|[._])(?:file_?|process_?)?(?:md5|sha_?1|sha_?256|sha_?512|imphash|hash)$/ },
  url: { buckets: ['urls'], names: /(?:^|[._])(?:request_?|full_?)?ur[il]$|url\.(?:full|original)$/ },
} as const satisfies Record<string, { buckets: readonly Bucket[]; names: RegExp }>;
export type SweepKind = keyof typeof sweepKinds;

// Names that every query language accepts without special quoting. Index patterns are included.
const plainField = /^[A-Za-z_]\w{0,99}(?:\.\w{1,100}){0,9}$/;
const plainDataset = /^[\w.*:-]{1,500}$/;
const fieldsMax = 12;

export type SweptDataset = { dataset: string; fields: { name: string; kind: SweepKind }[] };

/** Returns the fields of a dataset to search, or undefined if there are none. */
export function fieldsToSweep({ dataset, fields }: DatasetFields): SweptDataset | undefined {
  if (!plainDataset.test(dataset)) return undefined;
  const searchable = fields.flatMap(({ name }) => {
    const kind = plainField.test(name) ? findKind(name) : undefined;
    return kind ? [{ name, kind }] : [];
  });
  return searchable.length === 0 ? undefined : { dataset, fields: searchable.slice(0, fieldsMax) };
}

function findKind(fieldName: string): SweepKind | undefined {
  const name = fieldName.toLowerCase();
  return (Object.keys(sweepKinds) as SweepKind[]).find((kind) => sweepKinds[kind].names.test(name));
}
