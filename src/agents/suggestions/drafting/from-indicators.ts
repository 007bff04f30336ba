import type { TestCase } from '../../../detection/detections/test-cases/test-cases.schema.ts';
import type { FeedItem } from '../../../feed/model/item.schema.ts';
import type { Draft } from '../draft.ts';
import { columnSql, eventOf, sqlText, type Dataset } from './log-datasets.ts';
import { withSource, type Proposal } from '../proposal.ts';

/** A family of indicators, and the columns that may hold one: ECS, CloudTrail, Sysmon and plain names, the likeliest first. */
const families = [
  {
    bucket: 'domains',
    words: 'domains',
    columns: ['url.domain', 'destination.domain', 'dns.question.name', 'domain', 'QueryName', 'dest_domain'],
  },
  {
    bucket: 'ipv4',
    words: 'addresses',
    columns: [
      'destination.ip',
      'dest_ip',
      'dst_ip',
      'DestinationIp',
      'sourceIPAddress',
      'source.ip',
      'src_ip',
      'SourceIp',
    ],
  },
  { bucket: 'urls', words: 'web addresses', columns: ['url.full', 'url.original', 'url'] },
  {
    bucket: 'hashes',
    words: 'file hashes',
    columns: ['file.hash.sha256', 'process.hash.sha256', 'sha256', 'file.hash.md5', 'process.hash.md5', 'md5'],
  },
] as const;

const entityColumns = [
  'user.name',
  'user',
  'userIdentity.arn',
  'host.name',
  'Hostname',
  'Computer',
  'source.ip',
  'src_ip',
  'host',
];
const valuesMax = 200;
const confidenceMin = 0.5;

/** Queries for the indicators of an item that still count, one per family and dataset that has a column for it. */
export function fromIndicators(item: FeedItem, datasets: readonly Dataset[]): Proposal[] {
  return families.flatMap(({ bucket, words, columns }) => {
    const values = item.iocs[bucket]
      .filter(({ status, confidence }) => status === 'active' && confidence >= confidenceMin)
      .map(({ normalizedValue }) => normalizedValue.toLowerCase());
    const wanted = [...new Set(values)].toSorted().slice(0, valuesMax);
    if (wanted.length === 0) return [];
    return datasets.flatMap((dataset) => {
      const names = new Set(dataset.columns.map(({ name }) => name));
      const column = columns.find((name) => names.has(name));
      if (!column) return [];
      return [
        proposalOf(item, {
          bucket,
          words,
          wanted,
          column,
          dataset: dataset.name,
          entity: entityColumns.find((name) => names.has(name)),
        }),
      ];
    });
  });
}

type Found = {
  bucket: string;
  words: string;
  wanted: string[];
  column: string;
  dataset: string;
  entity: string | undefined;
};

function proposalOf(item: FeedItem, { bucket, words, wanted, column, dataset, entity }: Found): Proposal {
  const seen = `lower(${columnSql(column)})`;
  const list = wanted.map(sqlText).join(', ');
  const draft: Draft = {
    // Without the values: a report that names one more is the same report.
    key: `indicators:${item.canonicalKey}:${bucket}:${dataset}`,
    basis: { kind: 'indicators', id: bucket },
    technique: null,
    reads: dataset,
    body: {
      name: [...`Seen in ${dataset}: ${words} of ${item.event.title}`].slice(0, 255).join(''),
      description: `Looks in ${dataset} for ${wanted.length} ${words} that a report names.`,
      detectionCategory: 'custom',
      detectionCadence: 'hourly',
      entityField: 'entity',
      systemPrompt: `You judge contacts with ${words} that a threat report names (column indicator).
Benign: shared hosting, content delivery and scanners that many customers meet; a block by the proxy is an attempt, not a success.
Say who met which indicator, when, how often, and what to isolate or reset.`,
      detectionQuery: `SELECT ${columnSql(entity ?? column)} AS entity, ${seen} AS indicator, _id, _time\nFROM "${dataset}"\nWHERE ${seen} IN (${list})`,
      tags: ['indicators'],
    },
    tests: testsOf(column, entity, wanted[0]!),
  };
  return withSource(draft, item, `Looks for the ${wanted.length} ${words} of`);
}

function testsOf(column: string, entity: string | undefined, value: string): TestCase[] {
  const shape = { columns: { seen: [column], entity: [entity ?? column] } };
  const event = (who: string, seen: string) => eventOf(shape, { entity: who, seen });
  const other = event('quiet', 'not-in-the-report.invalid');
  const expect = [entity === undefined ? value : 'match'];
  return [
    { name: 'Finds it', events: [event('match', value), other], expect },
    { name: 'Leaves others alone', events: [other], expect: [] },
  ];
}
