import type { FeedItem } from '../../../feed/model/item.schema.ts';
import { createNameReader } from '../../../feed/model/value-names.ts';
import { type LogDataset, columnSql, buildEvent, quoteSqlText } from '../log-kinds.ts';
import {
  type DetectionDraft,
  draftShippedDetection,
  listReadableDetections,
  type Proposal,
  toProposal,
} from '../draft.ts';
import { listTechniqueIds } from '../../../detection/library/load-library.ts';
import { draftTemplatesFor } from '../templates/query-templates.ts';
import type { TestCase } from '../../../detection/detections/test-cases.schema.ts';

/**
 * Proposes detections for an item's techniques whose logs exist: shipped detections for the exact technique, then for its sub-techniques, then
 * query templates for a technique without an exact shipped detection.
 */
export function proposeForTechniques(item: FeedItem, datasets: readonly LogDataset[]): Proposal[] {
  const readable = listReadableDetections(datasets);
  const proposals = item.classification.attack.flatMap((attack) => {
    const id = attack.subTechnique ?? attack.technique;
    const exact = readable.filter((one) => listTechniqueIds(one).includes(id));
    // A report about a parent technique can be about any of its sub-techniques.
    const isParent = attack.subTechnique === undefined;
    const family = isParent
      ? readable.filter((one) => listTechniqueIds(one).some((techniqueId) => techniqueId.startsWith(`${id}.`)))
      : [];
    const drafts = [
      ...exact.map((detection) => ({ rank: 0, draft: draftShippedDetection(detection, id) })),
      ...family.map((detection) => ({ rank: 1, draft: draftShippedDetection(detection, id) })),
      ...(exact.length > 0 ? [] : draftTemplatesFor(id, datasets).map((draft) => ({ rank: 2, draft }))),
    ];
    return drafts.map((one) => ({ ...one, attack, id }));
  });
  return proposals
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ draft, attack, id }) =>
      toProposal(
        draft,
        item,
        `Detects ${id} (${attack.techniqueName}) in ${draft.reads}, a technique reported in`,
        attack.evidenceRef,
      ),
    );
}

/** Groups of indicators with the columns that can contain them: ECS, CloudTrail, Sysmon, and plain names, most likely first. */
const indicatorGroups = [
  {
    bucket: 'domains',
    label: 'domains',
    columns: ['url.domain', 'destination.domain', 'dns.question.name', 'domain', 'QueryName', 'dest_domain'],
  },
  {
    bucket: 'ipv4',
    label: 'addresses',
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
  { bucket: 'urls', label: 'web addresses', columns: ['url.full', 'url.original', 'url'] },
  {
    bucket: 'hashes',
    label: 'file hashes',
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
const namesMax = 5;
const confidenceMin = 0.5;

/** Proposes queries for an item's active indicators: one per indicator group and dataset with a matching column. */
export function proposeForIndicators(item: FeedItem, datasets: readonly LogDataset[]): Proposal[] {
  const readNames = createNameReader(item);
  return indicatorGroups.flatMap(({ bucket, label, columns }) => {
    const active = item.iocs[bucket].filter(
      ({ status, confidence }) => status === 'active' && confidence >= confidenceMin,
    );
    const activeValues = active.map(({ normalizedValue }) => normalizedValue.toLowerCase());
    const values = [...new Set(activeValues)].toSorted().slice(0, valuesMax);
    const names = active.flatMap((one) => [...readNames(one, 'malware'), ...readNames(one, 'actor')]);
    if (values.length === 0) return [];
    return datasets.flatMap((dataset) => {
      const logColumns = new Set(dataset.columns.map(({ name }) => name));
      const column = columns.find((name) => logColumns.has(name));
      if (!column) return [];
      return [
        proposeQuery(item, {
          bucket,
          label,
          values,
          column,
          dataset: dataset.name,
          entity: entityColumns.find((name) => logColumns.has(name)),
          names: [...new Set(names)].slice(0, namesMax),
        }),
      ];
    });
  });
}

type IndicatorQuery = {
  bucket: string;
  label: string;
  values: string[];
  column: string;
  dataset: string;
  entity: string | undefined;
  /** The malware and actors to which the report assigns the values. For people only, like its title. */
  names: string[];
};

function proposeQuery(item: FeedItem, query: IndicatorQuery): Proposal {
  const { bucket, label, values, column, dataset, entity, names } = query;
  const indicator = `lower(${columnSql(column)})`;
  const list = values.map(quoteSqlText).join(', ');
  const date = item.source.publishTime?.slice(0, 10);
  const draft: DetectionDraft = {
    // The values are not part of the key: a report with one more indicator is still the same report.
    key: `indicators:${item.canonicalKey}:${bucket}:${dataset}`,
    basis: { kind: 'indicators', id: bucket },
    technique: null,
    reads: dataset,
    body: {
      // Without the title of the report: judges read the name, and everyone who publishes can write titles.
      name: `Seen in ${dataset}: ${label} from a threat report${date === undefined ? '' : ` of ${date}`}`,
      description: `Searches ${dataset} for ${values.length} ${label} from a threat report.`,
      detectionCategory: 'custom',
      detectionCadence: 'hourly',
      entityField: 'entity',
      systemPrompt: `You judge contacts with ${label} from a threat report (column indicator).
Benign: shared hosting, content delivery networks, and scanners that reach many organizations. A request that the proxy blocked is an attempt, not a success.
State who contacted which indicator, when, how often, and what to isolate or reset.`,
      detectionQuery: `SELECT ${columnSql(entity ?? column)} AS entity, ${indicator} AS indicator, _id, _time\nFROM "${dataset}"\nWHERE ${indicator} IN (${list})`,
      tags: ['indicators'],
    },
    tests: buildTests(column, entity, values[0]!),
  };
  const owners = names.length > 0 ? ` of ${names.join(', ')}, reported in` : ' of';
  return toProposal(draft, item, `Searches for the ${values.length} ${label}${owners}`);
}

function buildTests(column: string, entity: string | undefined, value: string): TestCase[] {
  const shape = { columns: { seen: [column], entity: [entity ?? column] } };
  const event = (who: string, seen: string) => buildEvent(shape, { entity: who, seen });
  const other = event('quiet', 'not-in-the-report.invalid');
  const expect = [entity === undefined ? value : 'match'];
  return [
    { name: 'Finds an indicator', events: [event('match', value), other], expect },
    { name: 'Ignores other values', events: [other], expect: [] },
  ];
}
