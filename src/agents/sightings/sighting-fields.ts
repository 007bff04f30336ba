import type { DatasetFields } from '../../detection/siem/connector.ts';
import type { Bucket } from '../../feed/model/vocabulary.ts';

/** What of an item is looked for in logs, and the names of fields that hold such values: ECS, CloudTrail, Sysmon, CIM and plain ones. */
export const sought = {
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
export type Sought = keyof typeof sought;

// Names that are the same in every language without quotes of their own; an index pattern is one too.
const plainField = /^[A-Za-z_]\w{0,99}(?:\.\w{1,100}){0,9}$/;
const plainDataset = /^[\w.*:-]{1,500}$/;
const fieldsMax = 12;

export type SweptDataset = { dataset: string; fields: { name: string; kind: Sought }[] };

/** The fields of a dataset that may hold what is looked for; undefined where it has none. */
export function fieldsToSweep({ dataset, fields }: DatasetFields): SweptDataset | undefined {
  if (!plainDataset.test(dataset)) return undefined;
  const found = fields.flatMap(({ name }) => {
    const kind = plainField.test(name) ? kindOf(name) : undefined;
    return kind ? [{ name, kind }] : [];
  });
  return found.length === 0 ? undefined : { dataset, fields: found.slice(0, fieldsMax) };
}

function kindOf(name: string): Sought | undefined {
  const plain = name.toLowerCase();
  return (Object.keys(sought) as Sought[]).find((kind) => sought[kind].names.test(plain));
}
